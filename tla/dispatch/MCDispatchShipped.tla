------------------------- MODULE MCDispatchShipped -------------------------
(* What should hold of DispatchShipped, and does in a guarded environment only. *)
EXTENDS DispatchShipped

Labels == {"idle", "put", "put again", "put: scan", "put: wait", "put: empty", "put: flags", "put: append", "put: raise",
    "put: release", "get", "get: copy", "get: flag", "get: scan", "get: empty", "get: lower", "get: release",
    "get: release, then lower", "get: lower after release", "idle get: flag", "idle get: scan", "idle get: empty",
    "idle get: lower", "clear", "clear: empty", "clear: flags", "clear: release"}

TypeOK ==
    /\ lock \in Processes \cup {Nobody}
    /\ Range(tasks) \subseteq 1 .. calls
    /\ flags \in [Ranks -> {0, 1}]
    /\ exist \in [shm : BOOLEAN, manager : BOOLEAN]
    /\ pc \in [Processes -> Labels]
    /\ mine \in [Producers -> 0 .. calls]
    /\ told \subseteq Ranks
    /\ calls \in 0 .. MaxCalls
    /\ alive \in [Processes -> BOOLEAN]
    /\ \A r \in Ranks : Range(got[r]) \subseteq 1 .. calls
    /\ \A i \in DOMAIN puts : puts[i] \in [id : 1 .. calls, rounds : 0 .. MaxClears]
    /\ clears \in [Processes -> 0 .. MaxClears]
    /\ wiped \subseteq 1 .. calls

Increasing(s) == \A i \in 1 .. Len(s) - 1 : s[i] < s[i + 1]

\* P1.1
ExactlyOnceInOrder == \A r \in Ranks : Increasing(got[r])

\* P1.2: only a rank that has taken a batch says that all have read it, and lowers exist.
OnlyReadersLower == \A r \in Ranks : pc[r] # "idle get: lower"

\* P1.3, B01: between critical sections, exist means that there is a batch.
ExistMeansWork == lock = Nobody /\ exist[WorkerWord] => tasks # <<>>

\* P1.8, B02: between critical sections, a batch means that exist is raised where the workers look.
NoLostWakeUp == lock = Nobody /\ tasks # <<>> => exist[WorkerWord]

\* P1.4: what one rank has taken, the others have taken or still can take.
InStep == \A q, r \in Ranks : Range(got[q]) \subseteq Range(got[r]) \cup Range(tasks)

\* P1.5: a late clear of a round does not take a batch that came after the round had begun.
ClearsOnlySeen == wiped = {}

\* P1.9: first in, first out.
PutsInOrder == Increasing([i \in DOMAIN puts |-> puts[i].id])

-----------------------------------------------------------------------------
(***************************************************************************)
(* Fairness, as kind as it can be: every living process goes on, the ranks *)
(* go on looking, and the lock is given to everybody who asks again and    *)
(* again (the real one promises less).                                     *)
(***************************************************************************)
Fairness ==
    /\ WF_vars(Detect)
    /\ \A p \in Producers : SF_vars(PutAcquire(p)) /\ WF_vars(PutStep(p))
    /\ \A r \in Ranks : WF_vars(CallGet(r)) /\ SF_vars(GetAcquire(r)) /\ WF_vars(GetStep(r))
    /\ \A x \in Processes : SF_vars(ClearAcquire(x)) /\ WF_vars(ClearStep(x))

FairSpec == Spec /\ Fairness

\* P1.7, B83
PutReturns == \A p \in Producers : (alive[p] /\ pc[p] # "idle") ~> (~alive[p] \/ pc[p] = "idle")

\* B82: whoever asks for the lock gets it.
AsksForLock(x) == alive[x] /\ pc[x] \in {"put", "put again", "get", "clear"}
AcquireReturns == \A x \in Processes : AsksForLock(x) ~> ~AsksForLock(x)

\* Every batch that was put reaches every rank.
Delivered == \A r \in Ranks, id \in 1 .. MaxCalls : id \in Range(tasks) ~> id \in Range(got[r])
=============================================================================
