------------------------ MODULE FlagChannelShipped ------------------------
(***************************************************************************)
(* Cache infos and connect tasks as FastDeploy ships them: a list, a read  *)
(* flag of each rank, and a lock. A put waits until all flags are 1. One   *)
(* step is one round trip, or several that only the holder of the lock     *)
(* could tell apart.                                                       *)
(*                                                                         *)
(* Processes are numbers: ranks 0 .. N-1, then the producer N.             *)
(* In a guarded environment (FlagsStart = 1, Barrier or OwnFlag, no empty  *)
(* put) it works.                                                          *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    N,
    MaxCalls,       \* bound: puts in all
    MaxIdle,        \* bound: gets of each rank that find nothing
    OwnFlag,        \* a get of a rank whose own flag is 1 takes nothing (cache infos); FALSE: no such guard (connect tasks)
    Barrier,        \* a rank waits at a barrier after it took something, until every rank took it
    FlagsStart,     \* what the flags are at first: 0 as shipped
    EmptyPuts       \* numbers of the puts that bring an empty list

Ranks == 0 .. N - 1
Producer == N
Nobody == -1

ASSUME N \in Nat \ {0} /\ {MaxCalls, MaxIdle} \subseteq Nat /\ {OwnFlag, Barrier} \subseteq BOOLEAN
       /\ FlagsStart \in {0, 1} /\ EmptyPuts \subseteq 1 .. MaxCalls

VARIABLES
    lock, pc, calls,
    tasks,      \* the shared list: numbers of puts
    flags,      \* read flags
    puts,       \* history: puts that took effect
    got,        \* history: what each rank was given
    idle        \* gets of each rank that found nothing

vars == <<lock, pc, calls, tasks, flags, puts, got, idle>>

AllRead == \A r \in Ranks : flags[r] = 1
Range(s) == {s[i] : i \in DOMAIN s}
Go(x, label) == pc' = [pc EXCEPT ![x] = label]

Init ==
    /\ lock = Nobody /\ tasks = <<>> /\ calls = 0 /\ puts = <<>>
    /\ flags = [r \in Ranks |-> FlagsStart]
    /\ pc = [x \in 0 .. N |-> "idle"]
    /\ got = [r \in Ranks |-> <<>>]
    /\ idle = [r \in Ranks |-> 0]

-----------------------------------------------------------------------------
PutAcquire ==
    /\ pc[Producer] = "put again" \/ (pc[Producer] = "idle" /\ calls < MaxCalls)
    /\ lock = Nobody /\ lock' = Producer
    /\ calls' = IF pc[Producer] = "idle" THEN calls + 1 ELSE calls
    /\ Go(Producer, "put: scan")
    /\ UNCHANGED <<tasks, flags, puts, got, idle>>

PutScan ==
    /\ pc[Producer] = "put: scan"
    /\ Go(Producer, IF AllRead THEN "put: empty" ELSE "put: wait")
    /\ UNCHANGED <<lock, calls, tasks, flags, puts, got, idle>>

PutWait ==
    /\ pc[Producer] = "put: wait"
    /\ lock' = Nobody
    /\ Go(Producer, "put again")
    /\ UNCHANGED <<calls, tasks, flags, puts, got, idle>>

PutEmpty ==
    /\ pc[Producer] = "put: empty"
    /\ tasks' = <<>> /\ flags' = [r \in Ranks |-> 0]
    /\ Go(Producer, "put: add")
    /\ UNCHANGED <<lock, calls, puts, got, idle>>

PutAdd ==
    /\ pc[Producer] = "put: add"
    /\ tasks' = IF calls \in EmptyPuts THEN tasks ELSE Append(tasks, calls)
    /\ puts' = Append(puts, calls)
    /\ Go(Producer, "release")
    /\ UNCHANGED <<lock, calls, flags, got, idle>>

Release(x) ==
    /\ pc[x] = "release"
    /\ lock' = Nobody
    /\ Go(x, "idle")
    /\ UNCHANGED <<calls, tasks, flags, puts, got, idle>>

-----------------------------------------------------------------------------
\* The barrier lets a rank ask again when nobody is behind it.
Level(r) == \A q \in Ranks : Len(got[r]) <= Len(got[q])

GetAcquire(r) ==
    /\ pc[r] = "idle"
    /\ Barrier => Level(r)
    /\ lock = Nobody /\ lock' = r
    /\ Go(r, "get: copy")
    /\ UNCHANGED <<calls, tasks, flags, puts, got, idle>>

GetCopy(r) ==
    /\ pc[r] = "get: copy"
    /\ IF (OwnFlag /\ flags[r] = 1) \/ tasks = <<>>
       THEN /\ idle[r] < MaxIdle
            /\ idle' = [idle EXCEPT ![r] = @ + 1]
            /\ UNCHANGED got
       ELSE got' = [got EXCEPT ![r] = @ \o tasks] /\ UNCHANGED idle
    /\ Go(r, IF OwnFlag /\ flags[r] = 1 THEN "release" ELSE "get: flag")
    /\ UNCHANGED <<lock, calls, tasks, flags, puts>>

\* The flag is raised also when there was nothing to copy.
GetFlag(r) ==
    /\ pc[r] = "get: flag"
    /\ flags' = [flags EXCEPT ![r] = 1]
    /\ Go(r, IF \A q \in Ranks \ {r} : flags[q] = 1 THEN "get: empty" ELSE "release")
    /\ UNCHANGED <<lock, calls, tasks, puts, got, idle>>

GetEmpty(r) ==
    /\ pc[r] = "get: empty"
    /\ tasks' = <<>>
    /\ Go(r, "release")
    /\ UNCHANGED <<lock, calls, flags, puts, got, idle>>

Next ==
    \/ PutAcquire \/ PutScan \/ PutWait \/ PutEmpty \/ PutAdd
    \/ \E r \in Ranks : GetAcquire(r) \/ GetCopy(r) \/ GetFlag(r) \/ GetEmpty(r)
    \/ \E x \in 0 .. N : Release(x)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
TypeOK ==
    /\ lock \in -1 .. N
    /\ Range(tasks) \cup Range(puts) \subseteq 1 .. calls
    /\ flags \in [Ranks -> {0, 1}]
    /\ idle \in [Ranks -> 0 .. MaxIdle]

Increasing(s) == \A i \in 1 .. Len(s) - 1 : s[i] < s[i + 1]

\* P10.2
ExactlyOnceInOrder == \A r \in Ranks : Increasing(got[r])

\* P9.1, P10.1, C05
FirstPutNeedsNobody == pc[Producer] = "put: wait" => puts # <<>>

\* P9.2: while a put that took effect holds the next one back, there is something to read.
RoundsCarryItems == lock = Nobody /\ puts # <<>> /\ ~AllRead => tasks # <<>>

\* A put that took effect reaches every rank, or can still be read.
NothingLost == lock = Nobody => \A r \in Ranks : Range(puts) \ EmptyPuts \subseteq Range(got[r]) \cup Range(tasks)
=============================================================================
