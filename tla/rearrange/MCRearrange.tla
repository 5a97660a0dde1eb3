---------------------------- MODULE MCRearrange ----------------------------
(* What is claimed of Rearrange. The configurations beside this file choose the bounds. *)
EXTENDS Rearrange

TypeOK ==
    /\ status \in [Parties -> {"away", "live", "dead"}]
    /\ phase \in {"FREE", "ASKED", "DOING", "LOAD_SUCC", "UPDATING", "DONE"}
    /\ Len(outcome) <= MaxRequests
    /\ \A i \in DOMAIN outcome : outcome[i] \in {"open", "done", "failed", "lost", "late"}
    /\ reached \subseteq Peers
    /\ load \in [Ranks -> {"none", "asked", "taken", "ok"}]
    /\ {job, table, swap} \subseteq [Ranks -> 0 .. MaxRequests]
    /\ worker \in [Ranks -> {"idle", "here", "swap", "done", "lost"}]

\* A request that is not the running one has its outcome.
OneRunning ==
    \A i \in DOMAIN outcome : outcome[i] = "open" <=> (i = Running /\ phase \notin {"FREE", "DONE"})

Loaded == phase \in {"LOAD_SUCC", "UPDATING"}

\* Until the exchange begins, every rank holds the table of the running request.
LoadedByAll == Loaded /\ ~Committed => \A r \in Ranks : load[r] = "ok" /\ table[r] = Running

PeersReached == Loaded => reached = Peers

\* Weights are exchanged for the running request only, and it is not over before.
SwapsAreRunning == \A r \in Ranks : swap[r] # 0 => (phase = "UPDATING" /\ swap[r] = Running)

\* The table that a worker puts into its weights stays until it has.
TablesKept == \A r \in Ranks : swap[r] # 0 => table[r] = swap[r]

-----------------------------------------------------------------------------
SwapsTogether == [][(\E r \in Ranks : swap[r] = 0 /\ swap'[r] # 0) => \A r \in Ranks : swap'[r] = Running]_vars

EndsOnce == [][\A i \in DOMAIN outcome : outcome[i] # "open" => outcome'[i] = outcome[i]]_vars

-----------------------------------------------------------------------------
(***************************************************************************)
(* Fairness. The host notices a closed connection, a worker that exchanges *)
(* its weights ends or dies, one that waits gives up in the end, and       *)
(* somebody looks after what is done. Nobody has to take a request, to     *)
(* load, to come, to crash or to come back. TimedSpec adds that a time     *)
(* limit passes in the end.                                                *)
(***************************************************************************)
Fairness ==
    /\ \A p \in Parties : WF_vars(Fence(p))
    /\ \A r \in Ranks : WF_vars(Updated(r)) /\ WF_vars(Withdraw(r))
    /\ WF_vars(Free)

FairSpec == Spec /\ Fairness
TimedSpec == FairSpec /\ WF_vars(EndTimeout)

RequestsEnd == \A i \in 1 .. MaxRequests : (Running = i /\ phase # "FREE") ~> (phase = "FREE" \/ Running > i)

LostEnds == \A p \in Parties : (status[p] = "dead" /\ phase = "DOING") ~> phase # "DOING"

WaitsEnd == \A r \in Ranks : worker[r] = "here" ~> worker[r] # "here"
=============================================================================
