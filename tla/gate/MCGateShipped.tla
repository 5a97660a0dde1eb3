--------------------------- MODULE MCGateShipped ---------------------------
(* What should hold of the shipped gate, and does in a guarded environment only. *)
EXTENDS GateShipped

TypeOK ==
    /\ lock \in Processes \cup {Nobody}
    /\ Range(list) \subseteq [rank : Ranks, request : Requests]
    /\ flags \in [Ranks -> {0, 1}]
    /\ canPut \in {0, 1}
    /\ next \in [Ranks -> 1 .. M + 1]
    /\ alive \in [Processes -> BOOLEAN]

\* One answer of each rank, all to one request.
NoMixing ==
    \A i \in DOMAIN taken :
        /\ Len(taken[i]) = N
        /\ {a.rank : a \in Range(taken[i])} = Ranks
        /\ Cardinality({a.request : a \in Range(taken[i])}) = 1

OncePerRound == \A i, j \in DOMAIN list : list[i].rank = list[j].rank => i = j

\* A poll that finds nothing complete returns.
NeverWaits == pc[Engine] # "get: wait"

\* Whoever holds the lock will give it back.
NoLeakedLock == lock = Engine => pc[Engine] # "raised"

-----------------------------------------------------------------------------
(***************************************************************************)
(* Fairness: ranks that live go on, and so does a polling engine; a        *)
(* process that asks for the lock again and again gets it.                 *)
(***************************************************************************)
Fairness ==
    /\ \A r \in Ranks : WF_vars(CallPut(r)) /\ SF_vars(PutStep(r))
    /\ WF_vars(CallGet) /\ SF_vars(GetStep)

FairSpec == Spec /\ Fairness

GetReturns == pc[Engine] = "get" ~> pc[Engine] = "idle"
PutReturns == \A r \in Ranks : pc[r] = "put" ~> (pc[r] = "idle" \/ ~alive[r])
=============================================================================
