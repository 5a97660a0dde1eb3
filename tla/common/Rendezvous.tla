----------------------------- MODULE Rendezvous -----------------------------
(***************************************************************************)
(* What it means to meet, whatever it is made of: members enter places,    *)
(* and when the last one enters a place all have met there, and go on.     *)
(* Who waits may give up. The loss of a member ends all waits, and none    *)
(* begins until it is back. At no time does everybody wait.                *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
    Members,
    Places,
    Most            \* bound: meetings at one place

VARIABLES
    at,             \* where each member waits, or Nowhere
    met,            \* meetings of each member at each place
    member          \* "out", "in", "dying" (gone, and nobody knows), "lost" (known to be gone)

rendezvousVars == <<at, met, member>>

Nowhere == -1
Waiting == {m \in Members : at[m] # Nowhere}
Release(S) == [m \in Members |-> IF m \in S THEN Nowhere ELSE at[m]]

RendezvousInit ==
    /\ at = [m \in Members |-> Nowhere]
    /\ met = [m \in Members |-> [p \in Places |-> 0]]
    /\ member = [m \in Members |-> "out"]

MayEnter(m, p) ==
    /\ at[m] = Nowhere
    /\ member[m] \in {"in", "dying"}
    /\ \A q \in Members : member[q] # "lost"
    /\ met[m][p] < Most

Enter(m, p) ==
    /\ MayEnter(m, p)
    /\ Waiting # Members \ {m}
    /\ at' = [at EXCEPT ![m] = p]
    /\ UNCHANGED <<met, member>>

Meet(m, p) ==
    /\ MayEnter(m, p)
    /\ \A q \in Members \ {m} : at[q] = p
    /\ at' = [q \in Members |-> Nowhere]
    /\ met' = [q \in Members |-> [met[q] EXCEPT ![p] = @ + 1]]
    /\ UNCHANGED member

GiveUp(S) == S # {} /\ S \subseteq Waiting /\ at' = Release(S) /\ UNCHANGED <<met, member>>

Become(m, from, to) == member[m] \in from /\ member' = [member EXCEPT ![m] = to]

Come(m) == Become(m, {"out", "lost"}, "in") /\ UNCHANGED <<at, met>>
Go(m) == Become(m, {"in"}, "out") /\ at' = Release({m}) /\ UNCHANGED met
Die(m) == Become(m, {"in"}, "dying") /\ UNCHANGED <<at, met>>
Lose(m) == Become(m, {"dying"}, "lost") /\ at' = Release(Members) /\ UNCHANGED met

RendezvousNext ==
    \/ \E m \in Members : Come(m) \/ Go(m) \/ Die(m) \/ Lose(m)
    \/ \E m \in Members, p \in Places : Enter(m, p) \/ Meet(m, p)
    \/ \E S \in SUBSET Members : GiveUp(S)

RendezvousSpec == RendezvousInit /\ [][RendezvousNext]_rendezvousVars

\* Who is gone is missed in the end.
RendezvousFairness == \A m \in Members : WF_rendezvousVars(Lose(m))

RendezvousFairSpec == RendezvousSpec /\ RendezvousFairness

-----------------------------------------------------------------------------
TypeOK ==
    /\ at \in [Members -> {Nowhere} \cup Places]
    /\ met \in [Members -> [Places -> 0 .. Most]]
    /\ member \in [Members -> {"out", "in", "dying", "lost"}]

Together == \A m, n \in Members : met[m] = met[n]

NotAllWait == Waiting # Members

NoGhost == \A m \in Waiting : member[m] \in {"in", "dying"}

LossEndsWaits == (\E m \in Members : member[m] = "lost") => Waiting = {}

Free(m) == at[m] = Nowhere /\ member[m] \in {"in", "out"}
WaitEnds == \A m \in Members : at[m] # Nowhere ~> (at[m] = Nowhere \/ \E n \in Members : Free(n))
=============================================================================
