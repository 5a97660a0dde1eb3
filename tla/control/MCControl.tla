----------------------------- MODULE MCControl -----------------------------
(* What is claimed of Control. The configurations beside this file choose the bounds. *)
EXTENDS Control

TypeOK ==
    /\ asked \in 0 .. MaxAsked
    /\ Len(state) = asked
    /\ Len(answers) = asked
    /\ Len(without) = asked
    /\ \A n \in Numbers :
           /\ state[n] \in {"open", "done", "lost", "late", "withdrawn"}
           /\ answers[n] \subseteq [rank : Ranks, meant : Numbers]
           /\ without[n] \subseteq Ranks
    /\ status \in [Ranks -> {"away", "live", "dead", "lost"}]
    /\ served \in [Ranks -> 0 .. asked]
    /\ \A r \in Ranks : doing[r] \in {0, served[r]}

NoMixing == \A n \in Numbers : \A a \in answers[n] : a.meant = n

OncePerRank == \A n \in Numbers :
    /\ Cardinality(answers[n]) = Cardinality(Answered(n))
    /\ Answered(n) \cap without[n] = {}

DoneIsWhole == \A n \in Numbers : state[n] = "done" => Answered(n) = Ranks

Bounded == Cardinality({n \in Numbers : Open(n)}) <= Capacity

-----------------------------------------------------------------------------
TakesOpenInOrder ==
    [][\A r \in Ranks : served'[r] # served[r] => served'[r] > served[r] /\ Open(served'[r])]_vars

EndedStays ==
    [][\A n \in Numbers : ~Open(n) => state'[n] = state[n] /\ answers'[n] = answers[n]]_vars

-----------------------------------------------------------------------------
(* Fairness: the host notices closed connections, and the asking call looks again and again. *)
Looks(n) == WF_vars(Collect(n)) /\ WF_vars(EndLost(n))
Fences == \A r \in Ranks : WF_vars(Fence(r))

FairSpec == Spec /\ Fences /\ \A n \in 1 .. MaxAsked : Looks(n) /\ WF_vars(EndTimeout(n))
UntimedSpec == Spec /\ Fences /\ \A n \in 1 .. MaxAsked : Looks(n)

IsOpen(n) == n \in Numbers /\ Open(n)
RequestsEnd == \A n \in 1 .. MaxAsked : IsOpen(n) ~> ~IsOpen(n)

Gone(n) == IsOpen(n) /\ \A r \in Ranks : r \in Answered(n) \cup without[n] \/ status[r] \in {"dead", "lost"}
Lives(n) == \E r \in Ranks : r \notin Answered(n) /\ status[r] = "live"
LostEnds == \A n \in 1 .. MaxAsked : Gone(n) ~> (~IsOpen(n) \/ Lives(n))
=============================================================================
