-------------------------- MODULE BitmaskShipped --------------------------
(***************************************************************************)
(* The cache queue as FastDeploy ships it: a list of tasks, one number     *)
(* with the bits of the ranks that have read its first task, and a lock.   *)
(* One step is one round trip, or several that only the holder of the lock *)
(* could tell apart. A put, and a clear, that finds some bits but not all  *)
(* gives the lock back, looks at the number until it is 0 or full, takes   *)
(* the lock again, and goes on without a second look (Recheck = FALSE).    *)
(*                                                                         *)
(* Processes are numbers: ranks 0 .. N-1, then producers N .. N+P-1.       *)
(* With Recheck and nobody killed it works: MCBitmaskShipped_guarded.cfg.  *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    N, P,
    MaxCalls,   \* bound: puts in all
    MaxClears,  \* bound: clears in all
    Mortal,     \* ranks that may be killed, while they do not hold the lock
    Recheck     \* the number is looked at again under the lock

Ranks == 0 .. N - 1
Producers == N .. N + P - 1
Processes == Ranks \cup Producers
Nobody == -1
Full == 2 ^ N - 1

ASSUME {N, P} \subseteq Nat \ {0} /\ {MaxCalls, MaxClears} \subseteq Nat /\ Mortal \subseteq Ranks /\ Recheck \in BOOLEAN

VARIABLES
    lock,       \* who holds the lock proxy
    tasks,      \* the shared list: numbers of puts
    sync,       \* the shared number of bits
    pc,         \* what each process does next
    calls,      \* puts that have begun
    clears,     \* clears that have begun
    alive,
    got         \* history: tasks handed to each rank

vars == <<lock, tasks, sync, pc, calls, clears, alive, got>>

HasBit(mask, r) == (mask \div 2 ^ r) % 2 = 1
Partial == sync # 0 /\ sync # Full
At(x, label) == alive[x] /\ pc[x] = label
Go(x, label) == pc' = [pc EXCEPT ![x] = label]

Init ==
    /\ lock = Nobody /\ tasks = <<>> /\ sync = 0 /\ calls = 0 /\ clears = 0
    /\ pc = [x \in Processes |-> "idle"]
    /\ alive = [x \in Processes |-> TRUE]
    /\ got = [r \in Ranks |-> <<>>]

-----------------------------------------------------------------------------
(* put_transfer_task and clear_transfer_task begin alike. *)

CallPut(p) ==
    /\ At(p, "idle") /\ calls < MaxCalls
    /\ calls' = calls + 1
    /\ Go(p, "put")
    /\ UNCHANGED <<lock, tasks, sync, clears, alive, got>>

CallClear(p) ==
    /\ At(p, "idle") /\ clears < MaxClears
    /\ clears' = clears + 1
    /\ Go(p, "clear")
    /\ UNCHANGED <<lock, tasks, sync, calls, alive, got>>

\* What follows the lock: a first look, a second look, or none.
Acquire(p) ==
    /\ pc[p] \in {"put", "clear", "put again", "clear again"}
    /\ lock = Nobody /\ lock' = p
    /\ Go(p, CASE pc[p] = "put" \/ (pc[p] = "put again" /\ Recheck) -> "put: look"
               [] pc[p] = "clear" \/ (pc[p] = "clear again" /\ Recheck) -> "clear: look"
               [] pc[p] = "put again" /\ ~Recheck -> "put: reset"
               [] pc[p] = "clear again" /\ ~Recheck -> "clear: reset")
    /\ UNCHANGED <<tasks, sync, calls, clears, alive, got>>

Look(p) ==
    /\ pc[p] \in {"put: look", "clear: look"}
    /\ Go(p, CASE pc[p] = "put: look" -> IF Partial THEN "put: wait" ELSE "put: reset"
               [] pc[p] = "clear: look" -> IF Partial THEN "clear: wait" ELSE "clear: reset")
    /\ UNCHANGED <<lock, tasks, sync, calls, clears, alive, got>>

GiveBack(p) ==
    /\ pc[p] \in {"put: wait", "clear: wait"}
    /\ lock' = Nobody
    /\ Go(p, IF pc[p] = "put: wait" THEN "put: poll" ELSE "clear: poll")
    /\ UNCHANGED <<tasks, sync, calls, clears, alive, got>>

\* Without the lock.
Poll(p) ==
    /\ pc[p] \in {"put: poll", "clear: poll"}
    /\ ~Partial
    /\ Go(p, IF pc[p] = "put: poll" THEN "put again" ELSE "clear again")
    /\ UNCHANGED <<lock, tasks, sync, calls, clears, alive, got>>

Reset(p) ==
    /\ pc[p] \in {"put: reset", "clear: reset"}
    /\ sync' = 0
    /\ Go(p, IF pc[p] = "put: reset" THEN "put: append" ELSE "clear: empty")
    /\ UNCHANGED <<lock, tasks, calls, clears, alive, got>>

Change(p) ==
    /\ pc[p] \in {"put: append", "clear: empty"}
    /\ tasks' = IF pc[p] = "clear: empty" THEN <<>> ELSE Append(tasks, calls)
    /\ Go(p, "release")
    /\ UNCHANGED <<lock, sync, calls, clears, alive, got>>

Release(x) ==
    /\ At(x, "release")
    /\ lock' = Nobody
    /\ Go(x, "idle")
    /\ UNCHANGED <<tasks, sync, calls, clears, alive, got>>

-----------------------------------------------------------------------------
(* get_transfer_task *)

GetAcquire(r) ==
    /\ At(r, "idle")
    /\ lock = Nobody /\ lock' = r
    /\ Go(r, "get: look")
    /\ UNCHANGED <<tasks, sync, calls, clears, alive, got>>

GetLook(r) ==
    /\ At(r, "get: look")
    /\ IF HasBit(sync, r) \/ tasks = <<>>
       THEN Go(r, "release") /\ UNCHANGED got
       ELSE /\ got' = [got EXCEPT ![r] = Append(@, Head(tasks))]
            /\ Go(r, IF sync + 2 ^ r >= Full THEN "get: pop" ELSE "get: store")
    /\ UNCHANGED <<lock, tasks, sync, calls, clears, alive>>

GetPop(r) ==
    /\ At(r, "get: pop")
    /\ tasks' = Tail(tasks)
    /\ Go(r, "get: zero")
    /\ UNCHANGED <<lock, sync, calls, clears, alive, got>>

GetStore(r) ==
    /\ alive[r] /\ pc[r] \in {"get: store", "get: zero"}
    /\ sync' = IF pc[r] = "get: zero" THEN 0 ELSE sync + 2 ^ r
    /\ Go(r, "release")
    /\ UNCHANGED <<lock, tasks, calls, clears, alive, got>>

Kill(r) ==
    /\ r \in Mortal /\ alive[r] /\ lock # r
    /\ alive' = [alive EXCEPT ![r] = FALSE]
    /\ UNCHANGED <<lock, tasks, sync, pc, calls, clears, got>>

GetStep(r) == GetLook(r) \/ GetPop(r) \/ GetStore(r)
ProducerStep(p) == Look(p) \/ GiveBack(p) \/ Poll(p) \/ Reset(p) \/ Change(p)

Next ==
    \/ \E p \in Producers : CallPut(p) \/ CallClear(p) \/ Acquire(p) \/ ProducerStep(p)
    \/ \E r \in Ranks : GetAcquire(r) \/ GetStep(r) \/ Kill(r)
    \/ \E x \in Processes : Release(x)

Spec == Init /\ [][Next]_vars
=============================================================================
