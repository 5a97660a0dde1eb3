--------------------------- MODULE BarrierShipped ---------------------------
(***************************************************************************)
(* The barriers as FastDeploy uses them: plain barrier objects of the      *)
(* standard library in a manager, without an owner, and ranks that walk    *)
(* through them for each task, some of which reset a barrier after each    *)
(* pass. One step here is one critical section of a barrier object: an     *)
(* arrival, a departure of who was released, a reset.                      *)
(*                                                                         *)
(* A barrier is filling; or draining, after the last arrival, until all    *)
(* have left; or resetting, until all who were thrown out have left.       *)
(* Nobody can enter while it drains or resets.                             *)
(*                                                                         *)
(* The constants choose what the environment does. With two barriers in    *)
(* turn and nothing else it works: MCBarrierShipped_guarded.cfg. Each      *)
(* MCBarrierShipped_bug_*.cfg changes one thing and breaks a property.     *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
    N,              \* number of ranks
    Turns,          \* barriers that a rank passes for each task: 0 .. Turns-1
    MaxTasks,       \* bound: tasks
    Resetters,      \* ranks that reset a barrier after each pass
    Mortal,         \* ranks that may be killed
    KilledWaiting,  \* ... while they wait, and only then
    Failing,        \* ranks whose work may fail once in the middle of a task; they go on with the next one
    Skippers        \* ranks that may leave out a task which the others do

Ranks == 0 .. N - 1
Barriers == 0 .. Turns - 1

ASSUME /\ {N, Turns, MaxTasks} \subseteq Nat \ {0}
       /\ Resetters \cup Mortal \cup Failing \cup Skippers \subseteq Ranks
       /\ KilledWaiting \in BOOLEAN

VARIABLES
    state,          \* of each barrier: "filling", "draining", "resetting"
    inside,         \* who is counted by each barrier
    pc,             \* what each rank does: "work", "wait", "reset", "error"; "gone" once a dead rank's wait has ended
    turn,           \* the barrier that each rank comes to next
    task,           \* the task of each rank
    alive,
    slipped,        \* history: ranks that have failed or skipped
    ghost,          \* history: the arrival of a dead rank has released others
    mixed           \* history: ranks were released together from different tasks

vars == <<state, inside, pc, turn, task, alive, slipped, ghost, mixed>>

Init ==
    /\ state = [b \in Barriers |-> "filling"]
    /\ inside = [b \in Barriers |-> {}]
    /\ pc = [r \in Ranks |-> "work"]
    /\ turn = [r \in Ranks |-> 0]
    /\ task = [r \in Ranks |-> 1]
    /\ alive = [r \in Ranks |-> TRUE]
    /\ slipped = {}
    /\ ghost = FALSE
    /\ mixed = FALSE

Go(r, label) == pc' = [pc EXCEPT ![r] = label]

\* The rank has passed the barrier of its turn, and its reset, if it makes one, is done.
Onward(r) ==
    IF turn[r] + 1 < Turns
    THEN turn' = [turn EXCEPT ![r] = @ + 1] /\ UNCHANGED task
    ELSE turn' = [turn EXCEPT ![r] = 0] /\ task' = [task EXCEPT ![r] = @ + 1]

Abandon(r) == turn' = [turn EXCEPT ![r] = 0] /\ task' = [task EXCEPT ![r] = @ + 1]

AfterPass(r) ==
    IF r \in Resetters
    THEN Go(r, "reset") /\ UNCHANGED <<turn, task>>
    ELSE Go(r, "work") /\ Onward(r)

MayArrive(r) == alive[r] /\ pc[r] = "work" /\ task[r] <= MaxTasks /\ state[turn[r]] = "filling"

\* Not the last: it waits.
Arrive(r) ==
    /\ MayArrive(r)
    /\ Cardinality(inside[turn[r]]) < N - 1
    /\ inside' = [inside EXCEPT ![turn[r]] = @ \cup {r}]
    /\ Go(r, "wait")
    /\ UNCHANGED <<state, turn, task, alive, slipped, ghost, mixed>>

\* The last: it goes on at once, and the others may leave.
Release(r) ==
    /\ MayArrive(r)
    /\ Cardinality(inside[turn[r]]) = N - 1
    /\ state' = [state EXCEPT ![turn[r]] = IF N = 1 THEN "filling" ELSE "draining"]
    /\ ghost' = (ghost \/ \E q \in inside[turn[r]] : ~alive[q])
    /\ mixed' = (mixed \/ \E q \in inside[turn[r]] : task[q] # task[r])
    /\ AfterPass(r)
    /\ UNCHANGED <<inside, alive, slipped>>

\* Who was released, or thrown out, leaves the barrier. The manager's thread of a dead rank does so too.
Leave(r) ==
    LET b == turn[r] IN
    /\ pc[r] = "wait"
    /\ state[b] # "filling"
    /\ inside' = [inside EXCEPT ![b] = @ \ {r}]
    /\ state' = [state EXCEPT ![b] = IF inside[b] = {r} THEN "filling" ELSE @]
    /\ IF ~alive[r] THEN Go(r, "gone") /\ UNCHANGED <<turn, task>>
       ELSE IF state[b] = "draining" THEN AfterPass(r)
       ELSE Go(r, "error") /\ UNCHANGED <<turn, task>>
    /\ UNCHANGED <<alive, slipped, ghost, mixed>>

\* Throws out who waits. While the barrier drains it does nothing.
Reset(r) ==
    LET b == turn[r] IN
    /\ alive[r]
    /\ pc[r] = "reset"
    /\ state' = [state EXCEPT ![b] = IF inside[b] # {} /\ @ = "filling" THEN "resetting" ELSE @]
    /\ Go(r, "work")
    /\ Onward(r)
    /\ UNCHANGED <<inside, alive, slipped, ghost, mixed>>

\* A rank that was thrown out gives up its task.
Recover(r) ==
    /\ alive[r]
    /\ pc[r] = "error"
    /\ Go(r, "work")
    /\ Abandon(r)
    /\ UNCHANGED <<state, inside, alive, slipped, ghost, mixed>>

Fail(r) ==
    /\ alive[r]
    /\ r \in Failing \ slipped
    /\ pc[r] = "work"
    /\ turn[r] > 0
    /\ slipped' = slipped \cup {r}
    /\ Abandon(r)
    /\ UNCHANGED <<state, inside, pc, alive, ghost, mixed>>

Skip(r) ==
    /\ alive[r]
    /\ r \in Skippers \ slipped
    /\ pc[r] = "work"
    /\ turn[r] = 0
    /\ task[r] < MaxTasks
    /\ slipped' = slipped \cup {r}
    /\ Abandon(r)
    /\ UNCHANGED <<state, inside, pc, alive, ghost, mixed>>

\* A barrier of the manager does not know whose arrivals it counts: the death of a process changes nothing.
Kill(r) ==
    /\ r \in Mortal
    /\ alive[r]
    /\ KilledWaiting <=> pc[r] = "wait"
    /\ alive' = [alive EXCEPT ![r] = FALSE]
    /\ UNCHANGED <<state, inside, pc, turn, task, slipped, ghost, mixed>>

Next ==
    \E r \in Ranks : Arrive(r) \/ Release(r) \/ Leave(r) \/ Reset(r) \/ Recover(r) \/ Fail(r) \/ Skip(r) \/ Kill(r)

Spec == Init /\ [][Next]_vars
=============================================================================
