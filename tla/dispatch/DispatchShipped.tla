-------------------------- MODULE DispatchShipped --------------------------
(***************************************************************************)
(* Task dispatch as FastDeploy ships it: every client works on plain       *)
(* shared objects by itself. One step here is one round trip to the        *)
(* manager or one access to a shared word: the lock, the list of tasks,    *)
(* the read flags and the exist word are apart. A scan of all flags is one *)
(* step, because only the holder of the lock writes them.                  *)
(*                                                                         *)
(* Processes are numbers: ranks 0 .. N-1, then producers N .. N+P-1.       *)
(*                                                                         *)
(* The constants choose what the environment does. In a guarded one        *)
(* (Barrier, no clear, no crash, one producer, one address) the protocol   *)
(* works: MCDispatchShipped_guarded.cfg. Each MCDispatchShipped_bug_*.cfg  *)
(* takes one of these away and breaks a property.                          *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    N, P,               \* ranks, producers
    MaxCalls,           \* bound: put calls in all
    MaxClears,          \* bound: clears by each process
    Barrier,            \* rank 0 looks at exist for all, and a barrier keeps the ranks' gets in step
    IdleGets,           \* a rank may call get without having seen exist
    Clearers,           \* processes that call clear_data
    Mortal,             \* processes that may be killed
    KilledHolding,      \* ... also while they hold the lock, and only then
    OneAddress,         \* engine and workers were given the same address string, so they use the same exist word
    LowerInside         \* exist is lowered before the lock is released

Ranks == 0 .. N - 1
Producers == N .. N + P - 1
Processes == Ranks \cup Producers
Nobody == -1

ASSUME /\ {N, P} \subseteq Nat \ {0} /\ {MaxCalls, MaxClears} \subseteq Nat
       /\ {Barrier, IdleGets, KilledHolding, OneAddress, LowerInside} \subseteq BOOLEAN
       /\ Clearers \cup Mortal \subseteq Processes

VARIABLES
    lock,       \* who holds the lock proxy
    tasks,      \* the shared list: ids of batches
    flags,      \* read flags, 1 = has read
    exist,      \* the exist words: in shared memory, and in the manager
    pc,         \* what each process does next
    mine,       \* id of the call that each producer is in, 0 = none
    told,       \* ranks that shall call get in this round
    calls,      \* put calls that have reached the lock
    alive,
    got,        \* history: ids handed to each rank
    puts,       \* history: batches in the order of their puts, with how many rounds of clears had begun
    clears,     \* history: clears of each process so far
    wiped       \* history: batches dropped by a clear of a round that had begun before they were put

vars == <<lock, tasks, flags, exist, pc, mine, told, calls, alive, got, puts, clears, wiped>>
history == <<got, puts, clears, wiped>>

EngineWord == "shm"
WorkerWord == IF OneAddress THEN "shm" ELSE "manager"
AllRead == \A r \in Ranks : flags[r] = 1
Range(s) == {s[i] : i \in DOMAIN s}
Largest(S) == CHOOSE x \in S : \A y \in S : x >= y
Rounds == Largest({clears[r] : r \in Ranks})

Init ==
    /\ lock = Nobody
    /\ tasks = <<>>
    /\ flags = [r \in Ranks |-> 1]
    /\ exist = [shm |-> FALSE, manager |-> FALSE]
    /\ pc = [x \in Processes |-> "idle"]
    /\ mine = [p \in Producers |-> 0]
    /\ told = {}
    /\ calls = 0
    /\ alive = [x \in Processes |-> TRUE]
    /\ got = [r \in Ranks |-> <<>>]
    /\ puts = <<>>
    /\ clears = [x \in Processes |-> 0]
    /\ wiped = {}

At(x, label) == alive[x] /\ pc[x] = label
Go(x, label) == pc' = [pc EXCEPT ![x] = label]
Acquire(x) == lock = Nobody /\ lock' = x
Release(x) == lock = x /\ lock' = Nobody

-----------------------------------------------------------------------------
(* put_tasks. A call gets its number when it first holds the lock: that is its arrival. *)

CallPut(p) ==
    /\ At(p, "idle")
    /\ calls + Cardinality({q \in Producers : pc[q] = "put"}) < MaxCalls
    /\ Go(p, "put")
    /\ UNCHANGED <<lock, tasks, flags, exist, mine, told, calls, alive, history>>

PutAcquire(p) ==
    /\ pc[p] \in {"put", "put again"} /\ alive[p]
    /\ Acquire(p)
    /\ calls' = IF pc[p] = "put" THEN calls + 1 ELSE calls
    /\ mine' = IF pc[p] = "put" THEN [mine EXCEPT ![p] = calls + 1] ELSE mine
    /\ Go(p, "put: scan")
    /\ UNCHANGED <<tasks, flags, exist, told, alive, history>>

PutScan(p) ==
    /\ At(p, "put: scan")
    /\ Go(p, IF AllRead THEN "put: empty" ELSE "put: wait")
    /\ UNCHANGED <<lock, tasks, flags, exist, mine, told, calls, alive, history>>

\* Not all have read: the lock is released for a moment, and anybody may take it.
PutWait(p) ==
    /\ At(p, "put: wait")
    /\ Release(p)
    /\ Go(p, "put again")
    /\ UNCHANGED <<tasks, flags, exist, mine, told, calls, alive, history>>

PutEmpty(p) ==
    /\ At(p, "put: empty")
    /\ tasks' = <<>>
    /\ Go(p, "put: flags")
    /\ UNCHANGED <<lock, flags, exist, mine, told, calls, alive, history>>

PutFlags(p) ==
    /\ At(p, "put: flags")
    /\ flags' = [r \in Ranks |-> 0]
    /\ Go(p, "put: append")
    /\ UNCHANGED <<lock, tasks, exist, mine, told, calls, alive, history>>

PutAppend(p) ==
    /\ At(p, "put: append")
    /\ tasks' = Append(tasks, mine[p])
    /\ puts' = Append(puts, [id |-> mine[p], rounds |-> Rounds])
    /\ Go(p, "put: raise")
    /\ UNCHANGED <<lock, flags, exist, mine, told, calls, alive, got, clears, wiped>>

PutRaise(p) ==
    /\ At(p, "put: raise")
    /\ exist' = [exist EXCEPT ![EngineWord] = TRUE]
    /\ Go(p, "put: release")
    /\ UNCHANGED <<lock, tasks, flags, mine, told, calls, alive, history>>

PutRelease(p) ==
    /\ At(p, "put: release")
    /\ Release(p)
    /\ mine' = [mine EXCEPT ![p] = 0]
    /\ Go(p, "idle")
    /\ UNCHANGED <<tasks, flags, exist, told, calls, alive, history>>

-----------------------------------------------------------------------------
(* Who calls get, and when. *)

\* Rank 0 sees exist, and at the barrier all ranks learn it. A barrier needs everybody.
Detect ==
    /\ Barrier
    /\ told = {}
    /\ \A r \in Ranks : At(r, "idle")
    /\ exist[WorkerWord]
    /\ told' = Ranks
    /\ UNCHANGED <<lock, tasks, flags, exist, pc, mine, calls, alive, history>>

CallGet(r) ==
    /\ At(r, "idle")
    /\ \/ r \in told
       \/ ~Barrier /\ exist[WorkerWord]
       \/ IdleGets
    /\ told' = told \ {r}
    /\ Go(r, "get")
    /\ UNCHANGED <<lock, tasks, flags, exist, mine, calls, alive, history>>

-----------------------------------------------------------------------------
(* get_tasks. The rank's own read flag is not looked at. *)

GetAcquire(r) ==
    /\ At(r, "get")
    /\ Acquire(r)
    /\ Go(r, "get: copy")
    /\ UNCHANGED <<tasks, flags, exist, mine, told, calls, alive, history>>

GetCopy(r) ==
    /\ At(r, "get: copy")
    /\ got' = [got EXCEPT ![r] = @ \o tasks]
    /\ Go(r, IF tasks = <<>> THEN "idle get: flag" ELSE "get: flag")
    /\ UNCHANGED <<lock, tasks, flags, exist, mine, told, calls, alive, puts, clears, wiped>>

\* An idle get (nothing was copied) goes the same way; its labels differ only so that properties can tell it.
GetFlag(r) ==
    /\ pc[r] \in {"get: flag", "idle get: flag"} /\ alive[r]
    /\ flags' = [flags EXCEPT ![r] = 1]
    /\ Go(r, IF pc[r] = "get: flag" THEN "get: scan" ELSE "idle get: scan")
    /\ UNCHANGED <<lock, tasks, exist, mine, told, calls, alive, history>>

GetScan(r) ==
    /\ pc[r] \in {"get: scan", "idle get: scan"} /\ alive[r]
    /\ Go(r, IF ~AllRead THEN "get: release" ELSE IF pc[r] = "get: scan" THEN "get: empty" ELSE "idle get: empty")
    /\ UNCHANGED <<lock, tasks, flags, exist, mine, told, calls, alive, history>>

GetEmpty(r) ==
    /\ pc[r] \in {"get: empty", "idle get: empty"} /\ alive[r]
    /\ tasks' = <<>>
    /\ Go(r, IF pc[r] = "idle get: empty" THEN "idle get: lower"
             ELSE IF LowerInside THEN "get: lower" ELSE "get: release, then lower")
    /\ UNCHANGED <<lock, flags, exist, mine, told, calls, alive, history>>

GetLower(r) ==
    /\ pc[r] \in {"get: lower", "idle get: lower", "get: lower after release"} /\ alive[r]
    /\ exist' = [exist EXCEPT ![WorkerWord] = FALSE]
    /\ Go(r, IF pc[r] = "get: lower after release" THEN "idle" ELSE "get: release")
    /\ UNCHANGED <<lock, tasks, flags, mine, told, calls, alive, history>>

GetRelease(r) ==
    /\ pc[r] \in {"get: release", "get: release, then lower"} /\ alive[r]
    /\ Release(r)
    /\ Go(r, IF pc[r] = "get: release" THEN "idle" ELSE "get: lower after release")
    /\ UNCHANGED <<tasks, flags, exist, mine, told, calls, alive, history>>

-----------------------------------------------------------------------------
(* clear_data. The exist word is left alone. *)

CallClear(x) ==
    /\ At(x, "idle")
    /\ x \in Clearers
    /\ clears[x] < MaxClears
    /\ Go(x, "clear")
    /\ UNCHANGED <<lock, tasks, flags, exist, mine, told, calls, alive, history>>

ClearAcquire(x) ==
    /\ At(x, "clear")
    /\ Acquire(x)
    /\ Go(x, "clear: empty")
    /\ UNCHANGED <<tasks, flags, exist, mine, told, calls, alive, history>>

\* The ranks' clears number k belong together: they follow one change of the weights.
Newer(x, id) == x \in Ranks /\ \E i \in DOMAIN puts : puts[i].id = id /\ puts[i].rounds > clears[x]

ClearEmpty(x) ==
    /\ At(x, "clear: empty")
    /\ tasks' = <<>>
    /\ wiped' = wiped \cup {id \in Range(tasks) : Newer(x, id)}
    /\ clears' = [clears EXCEPT ![x] = @ + 1]
    /\ Go(x, "clear: flags")
    /\ UNCHANGED <<lock, flags, exist, mine, told, calls, alive, got, puts>>

ClearFlags(x) ==
    /\ At(x, "clear: flags")
    /\ flags' = [r \in Ranks |-> 1]
    /\ Go(x, "clear: release")
    /\ UNCHANGED <<lock, tasks, exist, mine, told, calls, alive, history>>

ClearRelease(x) ==
    /\ At(x, "clear: release")
    /\ Release(x)
    /\ Go(x, "idle")
    /\ UNCHANGED <<tasks, flags, exist, mine, told, calls, alive, history>>

-----------------------------------------------------------------------------
\* A lock of the manager has no owner: the death of the process that took it changes nothing.
Kill(x) ==
    /\ x \in Mortal
    /\ alive[x]
    /\ KilledHolding <=> lock = x
    /\ alive' = [alive EXCEPT ![x] = FALSE]
    /\ UNCHANGED <<lock, tasks, flags, exist, pc, mine, told, calls, history>>

PutStep(p) == PutScan(p) \/ PutWait(p) \/ PutEmpty(p) \/ PutFlags(p) \/ PutAppend(p) \/ PutRaise(p) \/ PutRelease(p)
GetStep(r) == GetCopy(r) \/ GetFlag(r) \/ GetScan(r) \/ GetEmpty(r) \/ GetLower(r) \/ GetRelease(r)
ClearStep(x) == ClearEmpty(x) \/ ClearFlags(x) \/ ClearRelease(x)

Next ==
    \/ Detect
    \/ \E p \in Producers : CallPut(p) \/ PutAcquire(p) \/ PutStep(p)
    \/ \E r \in Ranks : CallGet(r) \/ GetAcquire(r) \/ GetStep(r)
    \/ \E x \in Processes : CallClear(x) \/ ClearAcquire(x) \/ ClearStep(x) \/ Kill(x)

Spec == Init /\ [][Next]_vars
=============================================================================
