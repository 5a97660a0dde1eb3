---------------------------- MODULE GateShipped ----------------------------
(***************************************************************************)
(* The answers of all ranks as FastDeploy collects them: every client      *)
(* works on plain shared objects by itself. One step here is one round     *)
(* trip to the manager: the lock, the list of answers, the flags and the   *)
(* word that lets the next answers in are apart. A scan of all flags is    *)
(* one step, because only the holder of the lock writes them.              *)
(*                                                                         *)
(* Processes are numbers: ranks 0 .. N-1, then the engine, N. Each rank    *)
(* answers the requests 1 .. M in turn.                                    *)
(*                                                                         *)
(* The constants choose what the environment does. In a guarded one        *)
(* (Barrier, nobody fails, equal answers, an engine that goes on polling)  *)
(* it works: MCGateShipped_guarded.cfg. Each MCGateShipped_bug_*.cfg takes *)
(* one of these away and breaks a property.                                *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    N,                  \* ranks
    M,                  \* requests
    Barrier,            \* a barrier before each answer keeps the ranks in step
    Skippers,           \* ranks that may pass over a request, because of an exception
    Mortal,             \* ranks that may be killed, while they do not hold the lock
    Polling,            \* the engine goes on polling
    Conflicts           \* requests whose answers cannot be combined: unequal lists, tuples, no key "success"

Ranks == 0 .. N - 1
Engine == N
Processes == Ranks \cup {Engine}
Requests == 1 .. M
Nobody == -1

ASSUME /\ {N, M} \subseteq Nat \ {0}
       /\ {Barrier, Polling} \subseteq BOOLEAN
       /\ Skippers \cup Mortal \subseteq Ranks
       /\ Conflicts \subseteq Requests

VARIABLES
    lock,       \* who holds the lock proxy
    list,       \* the shared list of answers
    flags,      \* 1 = has answered
    canPut,     \* 0 = all have answered, and the engine has not collected
    pc,         \* what each process does next
    next,       \* the request that each rank answers next
    alive,
    taken       \* history: what each get returned

vars == <<lock, list, flags, canPut, pc, next, alive, taken>>

AllAnswered == \A r \in Ranks : flags[r] = 1
Range(s) == {s[i] : i \in DOMAIN s}
CanCombine(l) == \A i \in DOMAIN l : l[i].request \notin Conflicts

Init ==
    /\ lock = Nobody
    /\ list = <<>>
    /\ flags = [r \in Ranks |-> 0]
    /\ canPut = 1
    /\ pc = [x \in Processes |-> "idle"]
    /\ next = [r \in Ranks |-> 1]
    /\ alive = [x \in Processes |-> TRUE]
    /\ taken = <<>>

At(x, label) == alive[x] /\ pc[x] = label
Go(x, label) == pc' = [pc EXCEPT ![x] = label]
Acquire(x) == lock = Nobody /\ lock' = x
Release(x) == lock = x /\ lock' = Nobody

-----------------------------------------------------------------------------
(* A rank answers. Whether it has answered already is not looked at. *)

InTurn(r) == next[r] \in Requests /\ (Barrier => \A q \in Ranks : next[q] >= next[r])

CallPut(r) ==
    /\ At(r, "idle")
    /\ InTurn(r)
    /\ Go(r, "put")
    /\ UNCHANGED <<lock, list, flags, canPut, next, alive, taken>>

Skip(r) ==
    /\ At(r, "idle")
    /\ r \in Skippers
    /\ next[r] \in Requests
    /\ next' = [next EXCEPT ![r] = @ + 1]
    /\ UNCHANGED <<lock, list, flags, canPut, pc, alive, taken>>

PutAcquire(r) ==
    /\ At(r, "put")
    /\ Acquire(r)
    /\ Go(r, "put: look")
    /\ UNCHANGED <<list, flags, canPut, next, alive, taken>>

PutLook(r) ==
    /\ At(r, "put: look")
    /\ Go(r, IF canPut = 1 THEN "put: append" ELSE "put: wait")
    /\ UNCHANGED <<lock, list, flags, canPut, next, alive, taken>>

\* The lock is released for a moment, and taken again.
PutWait(r) ==
    /\ At(r, "put: wait")
    /\ Release(r)
    /\ Go(r, "put")
    /\ UNCHANGED <<list, flags, canPut, next, alive, taken>>

PutAppend(r) ==
    /\ At(r, "put: append")
    /\ list' = Append(list, [rank |-> r, request |-> next[r]])
    /\ Go(r, "put: flag")
    /\ UNCHANGED <<lock, flags, canPut, next, alive, taken>>

PutFlag(r) ==
    /\ At(r, "put: flag")
    /\ flags' = [flags EXCEPT ![r] = 1]
    /\ Go(r, "put: scan")
    /\ UNCHANGED <<lock, list, canPut, next, alive, taken>>

PutScan(r) ==
    /\ At(r, "put: scan")
    /\ Go(r, IF AllAnswered THEN "put: close" ELSE "put: release")
    /\ UNCHANGED <<lock, list, flags, canPut, next, alive, taken>>

PutClose(r) ==
    /\ At(r, "put: close")
    /\ canPut' = 0
    /\ Go(r, "put: release")
    /\ UNCHANGED <<lock, list, flags, next, alive, taken>>

PutRelease(r) ==
    /\ At(r, "put: release")
    /\ Release(r)
    /\ next' = [next EXCEPT ![r] = @ + 1]
    /\ Go(r, "idle")
    /\ UNCHANGED <<list, flags, canPut, alive, taken>>

Kill(r) ==
    /\ r \in Mortal
    /\ alive[r]
    /\ lock # r
    /\ alive' = [alive EXCEPT ![r] = FALSE]
    /\ UNCHANGED <<lock, list, flags, canPut, pc, next, taken>>

-----------------------------------------------------------------------------
(* The engine collects. With one answer there, it stays until all are. *)

CallGet ==
    /\ Polling
    /\ At(Engine, "idle")
    /\ Go(Engine, "get")
    /\ UNCHANGED <<lock, list, flags, canPut, next, alive, taken>>

GetAcquire ==
    /\ pc[Engine] \in {"get", "get again"}
    /\ Acquire(Engine)
    /\ Go(Engine, IF pc[Engine] = "get" THEN "get: look" ELSE "get: scan")
    /\ UNCHANGED <<list, flags, canPut, next, alive, taken>>

GetLook ==
    /\ At(Engine, "get: look")
    /\ Go(Engine, IF list = <<>> THEN "get: release" ELSE "get: scan")
    /\ UNCHANGED <<lock, list, flags, canPut, next, alive, taken>>

GetScan ==
    /\ At(Engine, "get: scan")
    /\ Go(Engine, IF AllAnswered THEN "get: combine" ELSE "get: wait")
    /\ UNCHANGED <<lock, list, flags, canPut, next, alive, taken>>

GetWait ==
    /\ At(Engine, "get: wait")
    /\ Release(Engine)
    /\ Go(Engine, "get again")
    /\ UNCHANGED <<list, flags, canPut, next, alive, taken>>

\* An exception leaves the call as it is: the lock stays locked, and the gate closed.
GetCombine ==
    /\ At(Engine, "get: combine")
    /\ IF CanCombine(list)
       THEN taken' = Append(taken, list) /\ Go(Engine, "get: empty")
       ELSE Go(Engine, "raised") /\ UNCHANGED taken
    /\ UNCHANGED <<lock, list, flags, canPut, next, alive>>

GetEmpty ==
    /\ At(Engine, "get: empty")
    /\ list' = <<>>
    /\ Go(Engine, "get: flags")
    /\ UNCHANGED <<lock, flags, canPut, next, alive, taken>>

GetFlags ==
    /\ At(Engine, "get: flags")
    /\ flags' = [r \in Ranks |-> 0]
    /\ Go(Engine, "get: open")
    /\ UNCHANGED <<lock, list, canPut, next, alive, taken>>

GetOpen ==
    /\ At(Engine, "get: open")
    /\ canPut' = 1
    /\ Go(Engine, "get: release")
    /\ UNCHANGED <<lock, list, flags, next, alive, taken>>

GetRelease ==
    /\ At(Engine, "get: release")
    /\ Release(Engine)
    /\ Go(Engine, "idle")
    /\ UNCHANGED <<list, flags, canPut, next, alive, taken>>

-----------------------------------------------------------------------------
PutStep(r) == PutAcquire(r) \/ PutLook(r) \/ PutWait(r) \/ PutAppend(r) \/ PutFlag(r) \/ PutScan(r) \/ PutClose(r)
                \/ PutRelease(r)
GetStep == GetAcquire \/ GetLook \/ GetScan \/ GetWait \/ GetCombine \/ GetEmpty \/ GetFlags \/ GetOpen \/ GetRelease

Next ==
    \/ \E r \in Ranks : CallPut(r) \/ Skip(r) \/ PutStep(r) \/ Kill(r)
    \/ CallGet \/ GetStep

Spec == Init /\ [][Next]_vars
=============================================================================
