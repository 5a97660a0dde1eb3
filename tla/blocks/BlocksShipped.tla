--------------------------- MODULE BlocksShipped ---------------------------
(***************************************************************************)
(* The published prefix cache's side of swaps: who issues a swap waits for *)
(* an event, a receiver thread pops results and handles them, and a reset  *)
(* clears the events and rebuilds the free list. Task t brings host block  *)
(* t back to the device, so handling its result puts block t on the free   *)
(* list. The ranks are one.                                                *)
(*                                                                         *)
(* Forms of the reset:                                                     *)
(*   clearing  waits until nothing runs, then until no result is queued    *)
(*   queued    an earlier version: waits until nothing is queued either    *)
(*   updating  waits for nothing                                           *)
(*   control   waits for nothing, and the status word stays "normal"       *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS
    Tasks,      \* number of tasks
    Form,       \* of the reset; "none": nobody resets
    Bad,        \* tasks whose result makes the receiver raise
    Full,       \* the queue of the ranks never has room
    Pauses,     \* the ranks may pause; they do before a reset with status "clearing"
    Quiet       \* the guarded environment: a reset comes when no task is under way, and none comes during it

Numbers == 1 .. Tasks
ASSUME Bad \subseteq Numbers /\ {Full, Pauses, Quiet} \subseteq BOOLEAN

VARIABLES
    status,     \* of the prefix tree
    listed,     \* how often each block is on the free list
    caller,     \* who issued each task
    event,      \* of each task: "none", "unset" or "set"
    task,       \* where each task is
    receiver,   \* "up" or "dead"
    paused,     \* the ranks take no task
    reset,      \* where the reset is
    lock        \* the lock of scheduling is held for this task; 0: free

vars == <<status, listed, caller, event, task, receiver, paused, reset, lock>>

Init ==
    /\ status = "normal"
    /\ listed = [t \in Numbers |-> 0]
    /\ caller = [t \in Numbers |-> "idle"]
    /\ event = [t \in Numbers |-> "none"]
    /\ task = [t \in Numbers |-> "none"]
    /\ receiver = "up"
    /\ paused = FALSE
    /\ reset = "no"
    /\ lock = 0

Set(f, t, v) == [f EXCEPT ![t] = v]
Idle == \A t \in Numbers : caller[t] \in {"idle", "returned"} /\ task[t] \in {"none", "handled"}

\* Under the lock of scheduling.
Begin(t) ==
    /\ caller[t] = "idle"
    /\ lock = 0
    /\ status = "normal"
    /\ Quiet => reset = "no" /\ ~paused
    /\ listed[t] = 0
    /\ lock' = t
    /\ caller' = Set(caller, t, "putting")
    /\ event' = Set(event, t, "unset")
    /\ UNCHANGED <<status, listed, task, receiver, paused, reset>>

Put(t) ==
    /\ caller[t] = "putting"
    /\ ~Full
    /\ caller' = Set(caller, t, "waiting")
    /\ task' = Set(task, t, "queued")
    /\ lock' = 0
    /\ UNCHANGED <<status, listed, event, receiver, paused, reset>>

Pull(t) ==
    /\ task[t] = "queued"
    /\ ~paused
    /\ task' = Set(task, t, "running")
    /\ UNCHANGED <<status, listed, caller, event, receiver, paused, reset, lock>>

Finish(t) ==
    /\ task[t] = "running"
    /\ task' = Set(task, t, "posted")
    /\ UNCHANGED <<status, listed, caller, event, receiver, paused, reset, lock>>

Pop(t) ==
    /\ receiver = "up"
    /\ task[t] = "posted"
    /\ \A u \in Numbers : task[u] # "popped"
    /\ task' = Set(task, t, "popped")
    /\ UNCHANGED <<status, listed, caller, event, receiver, paused, reset, lock>>

\* What raises ends the receiver, unless the status says that something is being reset.
Handle(t) ==
    /\ receiver = "up"
    /\ task[t] = "popped"
    /\ task' = Set(task, t, "handled")
    /\ listed' = IF t \in Bad THEN listed ELSE Set(listed, t, listed[t] + 1)
    /\ event' = IF t \in Bad \/ event[t] = "none" THEN event ELSE Set(event, t, "set")
    /\ receiver' = IF (t \in Bad \/ event[t] = "none") /\ status = "normal" THEN "dead" ELSE "up"
    /\ UNCHANGED <<status, caller, paused, reset, lock>>

Return(t) ==
    /\ caller[t] = "waiting"
    /\ event[t] = "set"
    /\ caller' = Set(caller, t, "returned")
    /\ event' = Set(event, t, "none")
    /\ UNCHANGED <<status, listed, task, receiver, paused, reset, lock>>

\* The wait looks every 0.1 s, and gives up when the status is not normal.
Leave(t) ==
    /\ caller[t] = "waiting"
    /\ event[t] = "unset"
    /\ status # "normal"
    /\ caller' = Set(caller, t, "left")
    /\ event' = Set(event, t, "none")
    /\ UNCHANGED <<status, listed, task, receiver, paused, reset, lock>>

Crash(t) ==
    /\ caller[t] = "waiting"
    /\ event[t] = "none"
    /\ caller' = Set(caller, t, "crashed")
    /\ UNCHANGED <<status, listed, event, task, receiver, paused, reset, lock>>

Pause ==
    /\ Pauses
    /\ ~paused
    /\ Quiet => Idle
    /\ \A t \in Numbers : task[t] # "running"
    /\ paused' = TRUE
    /\ UNCHANGED <<status, listed, caller, event, task, receiver, reset, lock>>

Resume ==
    /\ paused
    /\ reset = "done"
    /\ paused' = FALSE
    /\ UNCHANGED <<status, listed, caller, event, task, receiver, reset, lock>>

BeginReset ==
    /\ Form # "none"
    /\ reset = "no"
    /\ Quiet => Idle
    /\ Pauses => paused
    /\ reset' = "began"
    /\ status' = IF Form = "control" THEN status ELSE "resetting"
    /\ UNCHANGED <<listed, caller, event, task, receiver, paused, lock>>

Waits == Form \in {"clearing", "queued"}

SeeQuiet ==
    /\ reset = "began"
    /\ Waits => \A t \in Numbers : task[t] # "running"
    /\ Form = "queued" => \A t \in Numbers : task[t] # "queued"
    /\ reset' = "quiet"
    /\ UNCHANGED <<status, listed, caller, event, task, receiver, paused, lock>>

SeeEmpty ==
    /\ reset = "quiet"
    /\ Waits => \A t \in Numbers : task[t] # "posted"
    /\ reset' = "empty"
    /\ UNCHANGED <<status, listed, caller, event, task, receiver, paused, lock>>

ClearEvents ==
    /\ reset = "empty"
    /\ reset' = "cleared"
    /\ event' = [t \in Numbers |-> "none"]
    /\ UNCHANGED <<status, listed, caller, task, receiver, paused, lock>>

Rebuild ==
    /\ reset = "cleared"
    /\ reset' = "done"
    /\ listed' = [t \in Numbers |-> 1]
    /\ status' = "normal"
    /\ UNCHANGED <<caller, event, task, receiver, paused, lock>>

Next ==
    \/ \E t \in Numbers :
        Begin(t) \/ Put(t) \/ Pull(t) \/ Finish(t) \/ Pop(t) \/ Handle(t) \/ Return(t) \/ Leave(t) \/ Crash(t)
    \/ Pause \/ Resume \/ BeginReset \/ SeeQuiet \/ SeeEmpty \/ ClearEvents \/ Rebuild

Spec == Init /\ [][Next]_vars

FairSpec ==
    /\ Spec
    /\ \A t \in Numbers : WF_vars(Put(t)) /\ WF_vars(Pull(t)) /\ WF_vars(Finish(t)) /\ WF_vars(Pop(t))
                       /\ WF_vars(Handle(t)) /\ WF_vars(Return(t)) /\ WF_vars(Leave(t)) /\ WF_vars(Crash(t))
    /\ WF_vars(SeeQuiet) /\ WF_vars(SeeEmpty) /\ WF_vars(ClearEvents) /\ WF_vars(Rebuild)

-----------------------------------------------------------------------------
\* No block is on the free list twice.
NoDuplicate == \A t \in Numbers : listed[t] <= 1

\* Nobody's wait ends in a KeyError.
NoKeyError == \A t \in Numbers : caller[t] # "crashed"

\* No task runs on a block that is free.
NoStray == \A t \in Numbers : task[t] = "running" => listed[t] = 0

\* Who waits is told.
WaitsEnd == \A t \in Numbers : caller[t] = "waiting" ~> caller[t] # "waiting"

\* Scheduling goes on.
LockIsFreed == lock # 0 ~> lock = 0

\* A reset ends.
ResetEnds == reset = "began" ~> reset = "done"
=============================================================================
