---------------------------- MODULE PauseShipped ----------------------------
(***************************************************************************)
(* Pausing a cache process's transfer loops as FastDeploy's pull request   *)
(* 6202 does it. Each rank has a loop that meets the others three times a  *)
(* round, a pool whose threads run the tasks, a counter of its unfinished  *)
(* tasks, and a slot in shared memory that says whether it is active. Rank *)
(* 0 publishes once a round whether there is a pause; the other control    *)
(* threads wait until all slots are 0.                                     *)
(*                                                                         *)
(* With every constant TRUE, nobody clearing the queue and nobody dying,   *)
(* it works: MCPauseShipped_guarded.cfg. As shipped the first five are     *)
(* FALSE; the others are FALSE in its predecessors. Each                   *)
(* MCPauseShipped_bug_*.cfg takes one of them away.                        *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
    N,              \* ranks
    MaxTasks,       \* tasks in the queue at the start
    Clears,         \* somebody may clear the queue
    Mortal          \* ranks that may be killed

CONSTANTS
    Atomic,         \* a change of the counter is one step, not a load and a store
    OneBranch,      \* rank 0 publishes the next decision when all have read this one
    CountsAfter,    \* a task is counted when it has been taken, not before
    StartsActive,   \* slots start as active
    Answers,        \* the slot of a rank that was killed becomes inactive
    ReadsSlots,     \* a pause looks at the slots, not at the counters
    Agrees,         \* the ranks take one decision together, not each its own
    CountsQueued    \* a task counts from its submission, not from its start

Ranks == 0 .. N - 1
NotLoaded == -1

ASSUME /\ N \in Nat \ {0}
       /\ MaxTasks \in Nat
       /\ Mortal \subseteq Ranks
       /\ {Clears, Atomic, OneBranch, CountsAfter, StartsActive, Answers, ReadsSlots, Agrees, CountsQueued} \subseteq BOOLEAN

VARIABLES
    pc,         \* what each loop does next
    sig,        \* the published decision: is there a pause?
    flag,       \* is_paused of each process
    slot,       \* each rank's word: active?
    counter,      \* each rank's counter
    mine,       \* what its loop has loaded of it
    pooled,     \* what its pool has loaded of it
    queued,     \* tasks that wait in the pool, where they are not counted
    jobs,       \* tasks that were submitted and have not ended
    queue,      \* tasks in the queue
    read,       \* ranks that have taken the first one
    more,       \* rank 0's broadcast: is there a task?
    control     \* what the control threads do

vars == <<pc, sig, flag, slot, counter, mine, pooled, queued, jobs, queue, read, more, control>>
tasks == <<queue, read, more>>
pool == <<pooled, queued, jobs>>

Init ==
    /\ pc = [r \in Ranks |-> "top"]
    /\ sig = FALSE
    /\ flag = [r \in Ranks |-> FALSE]
    /\ slot = [r \in Ranks |-> StartsActive]
    /\ counter = [r \in Ranks |-> 0]
    /\ mine = [r \in Ranks |-> NotLoaded]
    /\ pooled = [r \in Ranks |-> NotLoaded]
    /\ queued = [r \in Ranks |-> 0]
    /\ jobs = [r \in Ranks |-> 0]
    /\ queue = MaxTasks
    /\ read = {}
    /\ more = FALSE
    /\ control = "run"

At(r, label) == pc[r] = label
Go(r, label) == pc' = [pc EXCEPT ![r] = label]
AllGo(label) == pc' = [r \in Ranks |-> label]
Takes == IF CountsAfter THEN "get" ELSE "count"
Ends == IF Agrees THEN "meet 3" ELSE "top"

-----------------------------------------------------------------------------
(* The loop of a rank. *)

Top(r) ==
    /\ At(r, "top")
    /\ r = 0 /\ OneBranch => \A q \in Ranks : ~At(q, "look")
    /\ sig' = IF r = 0 THEN flag[0] ELSE sig
    /\ Go(r, IF Agrees THEN "meet 0" ELSE "look")
    /\ UNCHANGED <<flag, slot, counter, mine, pool, tasks, control>>

Meet0 ==
    /\ \A r \in Ranks : At(r, "meet 0")
    /\ AllGo("look")
    /\ UNCHANGED <<sig, flag, slot, counter, mine, pool, tasks, control>>

Look(r) ==
    /\ At(r, "look")
    /\ IF (IF Agrees THEN sig ELSE flag[r])
       THEN Go(r, "drain") /\ UNCHANGED <<slot, more>>
       ELSE /\ slot' = [slot EXCEPT ![r] = TRUE]
            /\ more' = IF r = 0 THEN queue > 0 ELSE more
            /\ Go(r, IF Agrees THEN "meet 1" ELSE IF queue > 0 /\ r \notin read THEN Takes ELSE "top")
    /\ UNCHANGED <<sig, flag, counter, mine, pool, queue, read, control>>

\* The text of the pull request waits here for its own tasks, and begins the next round.
Drain(r) ==
    /\ At(r, "drain")
    /\ counter[r] = 0
    /\ slot' = [slot EXCEPT ![r] = FALSE]
    /\ Go(r, "top")
    /\ UNCHANGED <<sig, flag, counter, mine, pool, tasks, control>>

Meet1 ==
    /\ \A r \in Ranks : At(r, "meet 1")
    /\ AllGo(IF more THEN Takes ELSE "top")
    /\ UNCHANGED <<sig, flag, slot, counter, mine, pool, tasks, control>>

\* The loop adds 1 to its counter.
CountLoad(r) ==
    /\ ~Atomic
    /\ At(r, "count")
    /\ mine[r] = NotLoaded
    /\ mine' = [mine EXCEPT ![r] = counter[r]]
    /\ UNCHANGED <<pc, sig, flag, slot, counter, pool, tasks, control>>

Submits(r) ==
    IF CountsQueued
    THEN jobs' = [jobs EXCEPT ![r] = @ + 1] /\ UNCHANGED queued
    ELSE queued' = [queued EXCEPT ![r] = @ + 1] /\ UNCHANGED jobs

CountStore(r) ==
    /\ At(r, "count")
    /\ Atomic \/ mine[r] # NotLoaded
    /\ counter' = [counter EXCEPT ![r] = (IF Atomic THEN @ ELSE mine[r]) + (IF CountsQueued THEN 1 ELSE 0)]
    /\ mine' = [mine EXCEPT ![r] = NotLoaded]
    /\ IF CountsAfter THEN Submits(r) /\ Go(r, Ends) ELSE Go(r, "get") /\ UNCHANGED <<queued, jobs>>
    /\ UNCHANGED <<sig, flag, slot, pooled, tasks, control>>

\* There may be nothing, after a clear: an exception, and the loop begins anew.
Get(r) ==
    /\ At(r, "get")
    /\ IF queue > 0 /\ r \notin read
       THEN LET last == read \cup {r} = Ranks
            IN /\ read' = IF last THEN {} ELSE read \cup {r}
               /\ queue' = IF last THEN queue - 1 ELSE queue
               /\ more' = IF last THEN FALSE ELSE more
               /\ IF CountsAfter
                  THEN Go(r, "count") /\ UNCHANGED <<queued, jobs>>
                  ELSE Submits(r) /\ Go(r, Ends)
       ELSE Go(r, "top") /\ UNCHANGED <<tasks, queued, jobs>>
    /\ UNCHANGED <<sig, flag, slot, counter, mine, pooled, control>>

Meet3 ==
    /\ \A r \in Ranks : At(r, "meet 3")
    /\ AllGo("top")
    /\ UNCHANGED <<sig, flag, slot, counter, mine, pool, tasks, control>>

Kill(r) ==
    /\ r \in Mortal
    /\ ~At(r, "dead")
    /\ Go(r, "dead")
    /\ jobs' = [jobs EXCEPT ![r] = 0]
    /\ queued' = [queued EXCEPT ![r] = 0]
    /\ slot' = IF Answers THEN [slot EXCEPT ![r] = FALSE] ELSE slot
    /\ UNCHANGED <<sig, flag, counter, mine, pooled, tasks, control>>

-----------------------------------------------------------------------------
(* The pool of a rank. *)

Start(r) ==
    /\ queued[r] > 0
    /\ queued' = [queued EXCEPT ![r] = @ - 1]
    /\ jobs' = [jobs EXCEPT ![r] = @ + 1]
    /\ counter' = [counter EXCEPT ![r] = @ + 1]
    /\ UNCHANGED <<pc, sig, flag, slot, mine, pooled, tasks, control>>

\* A task has ended, and its thread takes 1 from the counter.
EndLoad(r) ==
    /\ ~Atomic
    /\ jobs[r] > 0
    /\ pooled[r] = NotLoaded
    /\ pooled' = [pooled EXCEPT ![r] = counter[r]]
    /\ UNCHANGED <<pc, sig, flag, slot, counter, mine, queued, jobs, tasks, control>>

EndStore(r) ==
    /\ jobs[r] > 0
    /\ Atomic \/ pooled[r] # NotLoaded
    /\ counter' = [counter EXCEPT ![r] = (IF Atomic THEN @ ELSE pooled[r]) - 1]
    /\ jobs' = [jobs EXCEPT ![r] = @ - 1]
    /\ pooled' = [pooled EXCEPT ![r] = NotLoaded]
    /\ UNCHANGED <<pc, sig, flag, slot, mine, queued, tasks, control>>

-----------------------------------------------------------------------------
(* The control threads, one in each rank: they have met before. *)

CallPause ==
    /\ control = "run"
    /\ control' = "pausing"
    /\ UNCHANGED <<pc, sig, flag, slot, counter, mine, pool, tasks>>

SetFlag(r) ==
    /\ control = "pausing"
    /\ ~flag[r]
    /\ flag' = [flag EXCEPT ![r] = TRUE]
    /\ UNCHANGED <<pc, sig, slot, counter, mine, pool, tasks, control>>

PauseReturns ==
    /\ control = "pausing"
    /\ \A r \in Ranks : flag[r] /\ (IF ReadsSlots THEN ~slot[r] ELSE counter[r] = 0)
    /\ control' = "paused"
    /\ UNCHANGED <<pc, sig, flag, slot, counter, mine, pool, tasks>>

CallResume ==
    /\ control = "paused"
    /\ control' = "resuming"
    /\ flag' = [r \in Ranks |-> FALSE]
    /\ UNCHANGED <<pc, sig, slot, counter, mine, pool, tasks>>

ResumeReturns ==
    /\ control = "resuming"
    /\ \A r \in Ranks : slot[r]
    /\ control' = "done"
    /\ UNCHANGED <<pc, sig, flag, slot, counter, mine, pool, tasks>>

Clear ==
    /\ Clears
    /\ queue > 0
    /\ queue' = 0
    /\ read' = {}
    /\ UNCHANGED <<pc, sig, flag, slot, counter, mine, pool, more, control>>

-----------------------------------------------------------------------------
Loop(r) == Top(r) \/ Look(r) \/ Drain(r) \/ CountLoad(r) \/ CountStore(r) \/ Get(r)
Pool(r) == Start(r) \/ EndLoad(r) \/ EndStore(r)
Control == CallPause \/ (\E r \in Ranks : SetFlag(r)) \/ PauseReturns \/ CallResume \/ ResumeReturns

Next ==
    \/ \E r \in Ranks : Loop(r) \/ Pool(r) \/ Kill(r)
    \/ Meet0 \/ Meet1 \/ Meet3
    \/ Control
    \/ Clear

Spec == Init /\ [][Next]_vars
=============================================================================
