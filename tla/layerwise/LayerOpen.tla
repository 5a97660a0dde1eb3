----------------------------- MODULE LayerOpen -----------------------------
(***************************************************************************)
(* The worker and the cache messager open the segments of the progress     *)
(* words. Whoever comes first makes them. Segments here are numbers: a     *)
(* name that is made anew gets a new number, and whoever has the old one   *)
(* talks to nobody.                                                        *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
    Parties,    \* number of processes
    Names,      \* number of segments, opened in this order: 1 is the step, 2 the layer
    Mortal      \* parties that may die at any moment; what they have made stays

CONSTANTS OwnName, Exclusive

Who == 1 .. Parties
Segments == 1 .. Names

ASSUME {OwnName, Exclusive} \subseteq BOOLEAN /\ Mortal \subseteq Who

VARIABLES
    named,      \* the segment that a name stands for, or 0
    made,       \* how many segments were made
    has,        \* the segment that each party has for each name, or 0
    at,         \* the name that a party opens next; Names + 1: all are open
    pc          \* "look", "attach", "create"; "failed", "dead"

vars == <<named, made, has, at, pc>>

Init ==
    /\ named = [n \in Segments |-> 0]
    /\ made = 0
    /\ has = [p \in Who |-> [n \in Segments |-> 0]]
    /\ at = [p \in Who |-> 1]
    /\ pc = [p \in Who |-> "look"]

IsOpening(p) == at[p] <= Names

\* Is it there? Without OwnName the answer for the first name is taken for all.
Look(p) ==
    /\ IsOpening(p) /\ pc[p] = "look"
    /\ pc' = [pc EXCEPT ![p] = IF named[IF OwnName THEN at[p] ELSE 1] = 0 THEN "create" ELSE "attach"]
    /\ UNCHANGED <<named, made, has, at>>

Opened(p, segment) ==
    /\ has' = [has EXCEPT ![p][at[p]] = segment]
    /\ at' = [at EXCEPT ![p] = @ + 1]
    /\ pc' = [pc EXCEPT ![p] = "look"]

Attach(p) ==
    /\ IsOpening(p) /\ pc[p] = "attach"
    /\ IF named[at[p]] # 0
       THEN Opened(p, named[at[p]])
       ELSE /\ pc' = [pc EXCEPT ![p] = "failed"]
            /\ UNCHANGED <<has, at>>
    /\ UNCHANGED <<named, made>>

\* Making a segment that is there is refused, and the party looks again. Without Exclusive it is unlinked and made anew.
Create(p) ==
    /\ IsOpening(p) /\ pc[p] = "create"
    /\ IF Exclusive /\ named[at[p]] # 0
       THEN /\ pc' = [pc EXCEPT ![p] = "look"]
            /\ UNCHANGED <<named, made, has, at>>
       ELSE /\ made' = made + 1
            /\ named' = [named EXCEPT ![at[p]] = made + 1]
            /\ Opened(p, made + 1)

Die(p) ==
    /\ p \in Mortal /\ pc[p] \notin {"dead", "failed"}
    /\ pc' = [pc EXCEPT ![p] = "dead"]
    /\ UNCHANGED <<named, made, has, at>>

Next == \E p \in Who : Look(p) \/ Attach(p) \/ Create(p) \/ Die(p)

Spec == Init /\ [][Next]_vars
FairSpec == Spec /\ \A p \in Who : WF_vars(Look(p) \/ Attach(p) \/ Create(p))

-----------------------------------------------------------------------------
\* Whoever has a segment has the one that the name stands for.
OneSegment == \A p \in Who, n \in Segments : has[p][n] = 0 \/ has[p][n] = named[n]

\* Nobody fails because another one opens at the same time.
NobodyFails == \A p \in Who : pc[p] # "failed"

\* Everybody gets everything.
AllOpen == \A p \in Who : <>(~IsOpening(p) \/ pc[p] = "dead")
=============================================================================
