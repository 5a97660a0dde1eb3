------------------------------- MODULE MCGate -------------------------------
(* What is claimed of Gate. The configurations beside this file choose the bounds. *)
EXTENDS Gate

TypeOK ==
    /\ Len(issued) <= MaxIssues
    /\ Range(issued) \subseteq Keys
    /\ DOMAIN todo = Ranks /\ \A r \in Ranks : todo[r] \subseteq DOMAIN issued
    /\ status \in [Ranks -> {"away", "live", "dead", "lost"} \cup IF OpenFences THEN {} ELSE {"heir"}]
    /\ \A i \in DOMAIN rounds :
          /\ DOMAIN rounds[i] = {"key", "answers", "without"}
          /\ rounds[i].key \in Keys
          /\ rounds[i].answers \subseteq [rank : Ranks, issue : DOMAIN issued]
          /\ rounds[i].answers # {}
          /\ rounds[i].without \subseteq Ranks
    /\ DOMAIN late = Ranks /\ \A r \in Ranks : Range(late[r]) \subseteq Keys
    /\ collected \cup ended \subseteq DOMAIN issued

OncePerRound ==
    \A i \in DOMAIN rounds :
        /\ Cardinality(Answered(rounds[i])) = Cardinality(rounds[i].answers)
        /\ Answered(rounds[i]) \cap rounds[i].without = {}

DifferentKeys == \A i, j \in DOMAIN rounds : i # j => rounds[i].key # rounds[j].key

\* What is collected together belongs together.
NoMixing ==
    \A i \in DOMAIN rounds :
        /\ Cardinality(Issues(rounds[i])) = 1
        /\ \A n \in Issues(rounds[i]) : issued[n] = rounds[i].key

\* A request that is over does not come back.
OneFate ==
    /\ collected \cap ended = {}
    /\ \A i \in DOMAIN rounds : Issues(rounds[i]) \cap (collected \cup ended) = {}

Bounded == Len(rounds) <= Capacity /\ \A r \in Ranks : Len(late[r]) <= MaxLate

-----------------------------------------------------------------------------
Held == UNION {rounds[i].answers : i \in DOMAIN rounds}
Gone == Held \ UNION {rounds'[i].answers : i \in DOMAIN rounds'}

WholeRounds ==
    [][Gone = {} \/ \E i \in DOMAIN rounds :
          /\ Gone = rounds[i].answers
          /\ \/ Answered(rounds[i]) = Ranks /\ Issues(rounds[i]) \subseteq collected'
             \/ Issues(rounds[i]) \subseteq ended']_vars

LostOwesNothing == [][\A r \in Ranks : (status[r] # "lost" /\ status'[r] = "lost") => late'[r] = <<>>]_vars

ReturnAwaited == [][\A r \in Ranks : status[r] = "heir" => status'[r] # "lost"]_vars

VanishedIsLost == [][\A r \in Ranks : Vanish(r) => status'[r] = "lost" /\ late'[r] = <<>>]_vars

RefusesOnlyLate ==
    [][\A r \in Ranks \ (Skippers \cup Mortal \cup Silent), i \in DOMAIN issued : RefuseLate(r, i) => i \in ended]_vars

-----------------------------------------------------------------------------
(***************************************************************************)
(* Fairness. The host notices a closed connection, and the engine goes on  *)
(* collecting. Nobody has to answer, to come, to crash or to come back.    *)
(* TimedSpec adds that a time limit passes in the end.                     *)
(***************************************************************************)
Fairness == WF_vars(Collect \/ EndLost) /\ \A r \in Ranks : WF_vars(Fence(r))

FairSpec == Spec /\ Fairness
TimedSpec == FairSpec /\ WF_vars(EndTimeout)

IsOpen(i) == \E j \in DOMAIN rounds : i \in Issues(rounds[j])

RoundsEnd == \A i \in 1 .. MaxIssues : IsOpen(i) ~> ~IsOpen(i)

Lacks(r, i) == status[r] = "lost" /\ \E j \in DOMAIN rounds : i \in Issues(rounds[j]) /\ r \notin Answered(rounds[j])

LostEnds == \A r \in Ranks, i \in 1 .. MaxIssues : Lacks(r, i) ~> ~Lacks(r, i)

Waits(i) == \E j \in DOMAIN rounds : i \in Issues(rounds[j]) /\ Complete(rounds[j])

CompleteCollected == \A i \in 1 .. MaxIssues : Waits(i) ~> i \in collected
=============================================================================
