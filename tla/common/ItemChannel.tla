---------------------------- MODULE ItemChannel ----------------------------
(***************************************************************************)
(* Dispatch without clears and with one item at a time: cache infos and    *)
(* connect tasks. Everything that is claimed of Dispatch is claimed here,  *)
(* and one thing more: a put needs nobody while nothing is retained.       *)
(***************************************************************************)
EXTENDS MCDispatch

CONSTANT PutNeedsNobody     \* FALSE: a put waits until every rank has come (P9.1, P10.1, C05)

ASSUME Depth = 1 /\ MaxEpoch = 0 /\ PutNeedsNobody \in BOOLEAN

PutItem(p) == (PutNeedsNobody \/ "away" \notin Range(status)) /\ PutTasks(p)

ItemNext ==
    \/ \E r \in Ranks : Join(r) \/ Leave(r) \/ Crash(r) \/ Fence(r) \/ GetTasks(r)
    \/ \E p \in Producers : \/ Connect(p) \/ Disconnect(p) \/ CrashProducer(p) \/ FenceProducer(p)
                            \/ CallPut(p) \/ PutItem(p) \/ PutLost(p) \/ PutTimeout(p)

ItemSpec == Init /\ [][ItemNext]_vars

ItemFairness ==
    /\ SF_vars(\E p \in Producers : PutItem(p))
    /\ SF_vars(\E p \in Producers : PutLost(p))
    /\ \A r \in Ranks : WF_vars(Fence(r)) /\ SF_vars(status[r] = "live" /\ GetTasks(r))
    /\ \A p \in Producers : WF_vars(FenceProducer(p))

ItemFairSpec == ItemSpec /\ ItemFairness

-----------------------------------------------------------------------------
\* The first put, and every other one that finds the channel empty.
FirstPutNeedsNobody == waiting # <<>> /\ log = <<>> /\ Lost = {} => ENABLED PutItem(Head(waiting).producer)

\* Only a put makes a batch, and only what was put is retained: nothing is ever withdrawn.
NothingDropped == [][\A id \in Ids(log) : id \in {log'[i].id : i \in DOMAIN log'}
                                          \/ \A r \in Ranks \ Mortal : id \in Range(got'[r])]_vars
=============================================================================
