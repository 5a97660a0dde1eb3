-------------------------- MODULE TransferShipped --------------------------
(***************************************************************************)
(* The transfer loop as FastDeploy has it. Every rank goes through rounds: *)
(* a barrier; a look whether rank 0 has published a pause; a barrier after *)
(* rank 0 has set a flag if there are tasks; the read of a task, or not;   *)
(* a barrier. What was read is done in a thread, between two barriers of   *)
(* its own, after which rank 0 posts the result. One step is one call on a *)
(* shared object, or one load or store of a shared word.                   *)
(*                                                                         *)
(* The constants choose the text and what the environment does. With the   *)
(* defaults the loop works: MCTransferShipped_guarded.cfg. Each            *)
(* MCTransferShipped_bug_*.cfg allows one thing and breaks a property.     *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    N,              \* number of ranks
    MaxTasks,       \* bound: tasks
    MaxPauses,      \* bound: pauses
    GoesOn,         \* the later text: a round goes on while it is paused, and drops the task that it reads
    Local,          \* the first text: each rank looks at its own pause, when it reads
    Early,          \* a pause may come before the first round
    Slow,           \* a rank may be slower than the sleep of the others
    Clears,         \* the queue may be cleared
    Resets,         \* the prefix cache may be reset while paused
    Raisers,        \* ranks whose transfer may raise, once
    Faulty          \* ranks that may meet an error between two barriers, once

Ranks == 0 .. N - 1

ASSUME /\ N \in Nat \ {0}
       /\ {MaxTasks, MaxPauses} \subseteq Nat
       /\ {GoesOn, Local, Early, Slow, Clears, Resets} \subseteq BOOLEAN
       /\ Raisers \cup Faulty \subseteq Ranks

VARIABLES
    queue,          \* tasks, oldest first
    mask,           \* ranks that have read the oldest
    flag,           \* rank 0 says that there are tasks
    signal,         \* the pause that rank 0 has published
    told,           \* of each rank: its process was told to pause
    active,         \* of each rank: the word that a pause waits for
    inflight,       \* of each rank: its own counter
    pc,             \* of each rank's loop
    pool,           \* of each rank's thread: "idle", "first", "run", "second", "dead"
    backlog,        \* of each rank: what its thread has to do, and does
    issued,         \* tasks so far
    done,           \* tasks whose result was posted
    dropped,        \* history: tasks that were read and given up
    pausing,        \* who pauses: "idle", "wait", "paused"
    pauses,         \* pauses so far
    reset,          \* the prefix cache waits for its tasks
    erred           \* history: ranks that have raised, or met an error

vars == <<queue, mask, flag, signal, told, active, inflight, pc, pool, backlog, issued, done, dropped, pausing, pauses,
          reset, erred>>
shared == <<queue, mask, flag>>
words == <<signal, told, active>>
threads == <<pool, backlog, done>>
others == <<issued, pausing, pauses, reset>>

Init ==
    /\ queue = <<>>
    /\ mask = {}
    /\ flag = FALSE
    /\ signal = FALSE
    /\ told = [r \in Ranks |-> FALSE]
    /\ active = [r \in Ranks |-> FALSE]
    /\ inflight = [r \in Ranks |-> 0]
    /\ pc = [r \in Ranks |-> "top"]
    /\ pool = [r \in Ranks |-> "idle"]
    /\ backlog = [r \in Ranks |-> <<>>]
    /\ issued = 0
    /\ done = {}
    /\ dropped = {}
    /\ pausing = "idle"
    /\ pauses = 0
    /\ reset = FALSE
    /\ erred = {}

Go(r, label) == pc' = [pc EXCEPT ![r] = label]
All(label) == \A r \in Ranks : pc[r] = label
Meet(label, next) == All(label) /\ pc' = [r \in Ranks |-> next]

-----------------------------------------------------------------------------
(* The loop. *)

\* Rank 0 publishes what its own process was told.
Top(r) ==
    /\ pc[r] = "top"
    /\ Go(r, "barrier0")
    /\ signal' = IF r = 0 /\ ~Local THEN told[0] ELSE signal
    /\ UNCHANGED <<shared, told, active, inflight, threads, dropped, others, erred>>

Meet0 == Meet("barrier0", "look") /\ UNCHANGED <<shared, words, inflight, threads, dropped, others, erred>>

Look(r) ==
    /\ pc[r] = "look"
    /\ IF signal
       THEN Go(r, "drain") /\ UNCHANGED active
       ELSE Go(r, IF r = 0 THEN "peek" ELSE "barrier1") /\ active' = [active EXCEPT ![r] = TRUE]
    /\ UNCHANGED <<shared, signal, told, inflight, threads, dropped, others, erred>>

Drain(r) ==
    /\ pc[r] = "drain"
    /\ inflight[r] = 0
    /\ active' = [active EXCEPT ![r] = FALSE]
    /\ Go(r, IF ~GoesOn THEN "sleep" ELSE IF r = 0 THEN "peek" ELSE "barrier1")
    /\ UNCHANGED <<shared, signal, told, inflight, threads, dropped, others, erred>>

Wake(r) ==
    /\ pc[r] = "sleep"
    /\ Slow \/ \A o \in Ranks : pc[o] # "look"
    /\ Go(r, "top")
    /\ UNCHANGED <<shared, words, inflight, threads, dropped, others, erred>>

Peek(r) ==
    /\ pc[r] = "peek"
    /\ flag' = (flag \/ queue # <<>>)
    /\ Go(r, "barrier1")
    /\ UNCHANGED <<queue, mask, words, inflight, threads, dropped, others, erred>>

Meet1 == Meet("barrier1", "read") /\ UNCHANGED <<shared, words, inflight, threads, dropped, others, erred>>

\* The first and second text count before they have a task.
Read(r) ==
    /\ pc[r] = "read"
    /\ Go(r, IF flag THEN "get" ELSE "barrier2")
    /\ inflight' = IF flag /\ ~GoesOn THEN [inflight EXCEPT ![r] = @ + 1] ELSE inflight
    /\ UNCHANGED <<shared, words, threads, dropped, others, erred>>

\* An error that only this rank meets; its loop begins a new round.
Fault(r) ==
    /\ r \in Faulty \ erred
    /\ pc[r] = "read"
    /\ erred' = erred \cup {r}
    /\ Go(r, "top")
    /\ UNCHANGED <<shared, words, inflight, threads, dropped, others>>

\* In the first text a rank that was told to pause does not read.
Held(r) == Local /\ told[r]

Get(r) ==
    /\ pc[r] = "get"
    /\ ~Held(r)
    /\ queue # <<>>
    /\ r \notin mask
    /\ LET task == Head(queue)
           last == mask \cup {r} = Ranks
           drops == GoesOn /\ signal
       IN /\ mask' = IF last THEN {} ELSE mask \cup {r}
          /\ queue' = IF last THEN Tail(queue) ELSE queue
          /\ flag' = (flag /\ ~last)
          /\ IF drops
             THEN /\ dropped' = dropped \cup {task}
                  /\ Go(r, "top")
                  /\ UNCHANGED <<backlog, inflight>>
             ELSE /\ backlog' = [backlog EXCEPT ![r] = Append(@, task)]
                  /\ inflight' = IF GoesOn THEN [inflight EXCEPT ![r] = @ + 1] ELSE inflight
                  /\ Go(r, "barrier3")
                  /\ UNCHANGED dropped
    /\ UNCHANGED <<words, pool, done, others, erred>>

\* There is none for this rank: the error is caught, and a new round begins.
GetFails(r) ==
    /\ pc[r] = "get"
    /\ ~Held(r)
    /\ queue = <<>> \/ r \in mask
    /\ Go(r, "top")
    /\ UNCHANGED <<shared, words, inflight, threads, dropped, others, erred>>

Meet2 == Meet("barrier2", "top") /\ UNCHANGED <<shared, words, inflight, threads, dropped, others, erred>>
Meet3 == Meet("barrier3", "top") /\ UNCHANGED <<shared, words, inflight, threads, dropped, others, erred>>

-----------------------------------------------------------------------------
(* The threads that do the tasks. *)

Begin(r) ==
    /\ pool[r] = "idle"
    /\ backlog[r] # <<>>
    /\ pool' = [pool EXCEPT ![r] = "first"]
    /\ UNCHANGED <<shared, words, inflight, pc, backlog, done, dropped, others, erred>>

MeetFirst ==
    /\ \A r \in Ranks : pool[r] = "first"
    /\ pool' = [r \in Ranks |-> "run"]
    /\ UNCHANGED <<shared, words, inflight, pc, backlog, done, dropped, others, erred>>

Run(r) ==
    /\ pool[r] = "run"
    /\ pool' = [pool EXCEPT ![r] = "second"]
    /\ UNCHANGED <<shared, words, inflight, pc, backlog, done, dropped, others, erred>>

\* The error ends the thread between the barriers.
Raise(r) ==
    /\ r \in Raisers \ erred
    /\ pool[r] = "run"
    /\ erred' = erred \cup {r}
    /\ pool' = [pool EXCEPT ![r] = "dead"]
    /\ UNCHANGED <<shared, words, inflight, pc, backlog, done, dropped, others>>

MeetSecond ==
    /\ \A r \in Ranks : pool[r] = "second"
    /\ pool' = [r \in Ranks |-> "idle"]
    /\ done' = done \cup {Head(backlog[0])}
    /\ backlog' = [r \in Ranks |-> Tail(backlog[r])]
    /\ inflight' = [r \in Ranks |-> inflight[r] - 1]
    /\ UNCHANGED <<shared, words, pc, dropped, others, erred>>

-----------------------------------------------------------------------------
(* The prefix cache, and who pauses. *)

Issue ==
    /\ issued < MaxTasks
    /\ mask = {}
    /\ issued' = issued + 1
    /\ queue' = Append(queue, issued + 1)
    /\ UNCHANGED <<mask, flag, words, inflight, pc, threads, dropped, pausing, pauses, reset, erred>>

Clear ==
    /\ Clears
    /\ mask = {}
    /\ queue # <<>>
    /\ queue' = <<>>
    /\ UNCHANGED <<mask, flag, words, inflight, pc, threads, dropped, others, erred>>

\* The process of each rank is told by itself.
Tell(r) ==
    /\ ~told[r]
    /\ pausing = "idle"
    /\ pauses < MaxPauses
    /\ Early \/ \A o \in Ranks : active[o]
    /\ told' = [told EXCEPT ![r] = TRUE]
    /\ UNCHANGED <<shared, signal, active, inflight, pc, threads, dropped, others, erred>>

Wait ==
    /\ pausing = "idle"
    /\ pauses < MaxPauses
    /\ \A r \in Ranks : told[r]
    /\ pausing' = "wait"
    /\ pauses' = pauses + 1
    /\ UNCHANGED <<shared, words, inflight, pc, threads, dropped, issued, reset, erred>>

Paused ==
    /\ pausing = "wait"
    /\ \A r \in Ranks : ~active[r]
    /\ pausing' = "paused"
    /\ UNCHANGED <<shared, words, inflight, pc, threads, dropped, issued, pauses, reset, erred>>

Reset ==
    /\ Resets
    /\ pausing = "paused"
    /\ ~reset
    /\ reset' = TRUE
    /\ UNCHANGED <<shared, words, inflight, pc, threads, dropped, issued, pausing, pauses, erred>>

ResetEnds ==
    /\ reset
    /\ done = 1 .. issued
    /\ reset' = FALSE
    /\ UNCHANGED <<shared, words, inflight, pc, threads, dropped, issued, pausing, pauses, erred>>

Resume ==
    /\ pausing = "paused"
    /\ ~reset
    /\ pausing' = "idle"
    /\ told' = [r \in Ranks |-> FALSE]
    /\ UNCHANGED <<shared, signal, active, inflight, pc, threads, dropped, issued, pauses, reset, erred>>

-----------------------------------------------------------------------------
Next ==
    \/ \E r \in Ranks : Top(r)
    \/ Meet0
    \/ \E r \in Ranks : Look(r)
    \/ \E r \in Ranks : Drain(r)
    \/ \E r \in Ranks : Wake(r)
    \/ \E r \in Ranks : Peek(r)
    \/ Meet1
    \/ \E r \in Ranks : Read(r)
    \/ \E r \in Ranks : Fault(r)
    \/ \E r \in Ranks : Get(r)
    \/ \E r \in Ranks : GetFails(r)
    \/ Meet2
    \/ Meet3
    \/ \E r \in Ranks : Begin(r)
    \/ MeetFirst
    \/ \E r \in Ranks : Run(r)
    \/ \E r \in Ranks : Raise(r)
    \/ MeetSecond
    \/ Issue
    \/ Clear
    \/ \E r \in Ranks : Tell(r)
    \/ Wait
    \/ Paused
    \/ Reset
    \/ ResetEnds
    \/ Resume

Spec == Init /\ [][Next]_vars
=============================================================================
