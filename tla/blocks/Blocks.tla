------------------------------- MODULE Blocks -------------------------------
(***************************************************************************)
(* The free lists of a cache's blocks, and the client that gives the       *)
(* transfers of blocks to the ranks. Whatever the client does to its lists *)
(* and tasks is one critical section, and one action; what the ranks and   *)
(* the queue between do are actions of the environment. The contract is    *)
(* spec/blocks.toml: same names, same shapes.                              *)
(*                                                                         *)
(* A task moves what its source has into its target. While it is in flight *)
(* its blocks belong to it. Then, if it is done, the source is free and    *)
(* the target its issuer's; if not, the target is free and the source its  *)
(* issuer's; and if nobody waits for it any more, both are free. A task    *)
(* without a target leaves the source to its issuer.                       *)
(*                                                                         *)
(* The result of a failure may come while ranks are at the task. What they *)
(* may write to, its target, or the source of one without a target, stays  *)
(* the task's until they have ended, and is free then. The task is late    *)
(* meanwhile, and has failed for its issuer.                               *)
(*                                                                         *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents, and the property that   *)
(* the contract names for it fails: MCBlocks_bug_<guard>.cfg.              *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    Device,         \* number of device blocks: 0 .. Device - 1
    Host,           \* number of host blocks, which are numbered after them
    Sizes,          \* how many blocks are allocated at once
    InPlace,        \* tasks may have no target
    MaxTasks,       \* bound: tasks
    MaxGen,         \* bound: resets
    Bad,            \* tasks whose result cannot be understood
    Refuses,        \* the port may refuse a task
    Cancels,        \* who waits may give up
    Mortal,         \* the port may be lost
    Closes,         \* the client may be closed
    Overruns        \* a result may come while ranks are at its task

CONSTANTS
    AwaitsHandled, AwaitsResults, CountsIssuing, LeasesEnd, KeepsUntilResult, TellsWaiters, Withdraws, SurvivesBad,
    KeepsUnknown, EndTells, HoldsLate, AwaitsLate, SettlesOnce

Blocks == 0 .. Device + Host - 1
OfKind(k) == IF k = 0 THEN 0 .. Device - 1 ELSE Device .. Device + Host - 1
Guards == <<AwaitsHandled, AwaitsResults, CountsIssuing, LeasesEnd, KeepsUntilResult, TellsWaiters, Withdraws,
            SurvivesBad, KeepsUnknown, EndTells, HoldsLate, AwaitsLate, SettlesOnce>>

ASSUME /\ {Device, Host, MaxTasks, MaxGen} \subseteq Nat
       /\ Sizes \subseteq Nat \ {0}
       /\ Bad \subseteq 1 .. MaxTasks
       /\ {InPlace, Refuses, Cancels, Mortal, Closes, Overruns} \subseteq BOOLEAN
       /\ \A i \in DOMAIN Guards : Guards[i] \in BOOLEAN

VARIABLES
    gen,            \* number of resets so far
    phase,          \* "open", "resetting", "lost" or "closed"
    free,           \* blocks in the free lists
    leases,         \* blocks that were given to somebody, with the generation in which
    tasks,          \* what was issued
    hand,           \* the task whose result the receiver has taken and not handled; 0 is none
    alive           \* the receiver

vars == <<gen, phase, free, leases, tasks, hand, alive>>

Init ==
    /\ gen = 0
    /\ phase = "open"
    /\ free = Blocks
    /\ leases = {}
    /\ tasks = <<>>
    /\ hand = 0
    /\ alive = TRUE

Numbers == 1 .. Len(tasks)
Over == {"done", "refused"}
InFlight(t) == tasks[t].stage \notin Over
Waits(t) == tasks[t].told = ""
Serving == phase \in {"open", "resetting"}

\* What the ranks may write to, and what a task has.
Written(t) == IF tasks[t].target = {} THEN tasks[t].source ELSE tasks[t].target
Held(t) == IF tasks[t].stage = "late" THEN Written(t) ELSE tasks[t].source \cup tasks[t].target

\* A lease is known by its first block, and by its generation.
First(ids) == CHOOSE b \in ids : \A c \in ids : b <= c
Lease(ids, g) == IF ids = {} THEN {} ELSE {[ids |-> ids, gen |-> g]}
Of(b, g) == {l \in leases : l.gen = g /\ First(l.ids) = b}
Ids(some) == UNION {l.ids : l \in some}

RECURSIVE Lowest(_, _)
Lowest(ids, n) == IF n = 0 THEN {} ELSE {First(ids)} \cup Lowest(ids \ {First(ids)}, n - 1)

-----------------------------------------------------------------------------
(* The lists. *)

Allocate(k, n) ==
    /\ phase = "open"
    /\ n \in Sizes
    /\ LET here == free \cap OfKind(k)
       IN /\ Cardinality(here) >= n
          /\ free' = free \ Lowest(here, n)
          /\ leases' = leases \cup {[ids |-> Lowest(here, n), gen |-> gen]}
    /\ UNCHANGED <<gen, phase, tasks, hand, alive>>

Free(b) ==
    /\ Of(b, gen) # {}
    /\ free' = free \cup Ids(Of(b, gen))
    /\ leases' = leases \ Of(b, gen)
    /\ UNCHANGED <<gen, phase, tasks, hand, alive>>

\* Refused: the blocks were taken back by a reset, and may be somebody else's now.
FreeStale(b, g) ==
    /\ g < gen
    /\ Of(b, g) # {}
    /\ free' = IF LeasesEnd THEN free ELSE free \cup Ids(Of(b, g))
    /\ leases' = leases \ Of(b, g)
    /\ UNCHANGED <<gen, phase, tasks, hand, alive>>

-----------------------------------------------------------------------------
(* Issuing, which is two critical sections with the port's call between them. *)

Reserve(s, d) ==
    /\ phase = "open"
    /\ Len(tasks) < MaxTasks
    /\ s # d
    /\ Of(s, gen) # {}
    /\ IF d = -1 THEN InPlace ELSE Of(d, gen) # {}
    /\ LET target == IF d = -1 THEN {} ELSE Of(d, gen)
       IN /\ leases' = leases \ (Of(s, gen) \cup target)
          /\ tasks' = Append(tasks, [source |-> Ids(Of(s, gen)), target |-> Ids(target), stage |-> "issuing",
                                     out |-> "", told |-> "", known |-> FALSE, at |-> FALSE,
                                     late |-> FALSE])
    /\ UNCHANGED <<gen, phase, free, hand, alive>>

\* A step of a task that changes nothing else.
Step(t, from, stage, out) ==
    /\ t \in Numbers
    /\ tasks[t].stage = from
    /\ tasks' = [tasks EXCEPT ![t].stage = stage, ![t].out = out]
    /\ UNCHANGED <<gen, phase, free, leases, alive>>

\* The port has the task; its call has not returned.
Accept(t) == Step(t, "issuing", "queued", "") /\ UNCHANGED hand

Register(t) ==
    /\ t \in Numbers
    /\ tasks[t].stage \notin {"issuing", "refused"}
    /\ ~tasks[t].known
    /\ tasks' = [tasks EXCEPT ![t].known = TRUE]
    /\ UNCHANGED <<gen, phase, free, leases, hand, alive>>

\* The port's call has raised, and the ranks will not see the task.
Refuse(t) ==
    /\ Refuses
    /\ t \in Numbers
    /\ tasks[t].stage = "issuing"
    /\ tasks' = [tasks EXCEPT ![t].stage = "refused", ![t].told = IF Waits(t) THEN "refused" ELSE @]
    /\ leases' = IF Waits(t) THEN leases \cup Lease(tasks[t].source, gen) \cup Lease(tasks[t].target, gen) ELSE leases
    /\ free' = IF Waits(t) THEN free ELSE free \cup Held(t)
    /\ UNCHANGED <<gen, phase, hand, alive>>

-----------------------------------------------------------------------------
(* The port and the ranks. *)

Withdraw(t) == Withdraws /\ Step(t, "queued", "posted", "cancelled") /\ UNCHANGED hand

Pull(t) ==
    /\ t \in Numbers
    /\ tasks[t].stage = "queued"
    /\ tasks' = [tasks EXCEPT ![t].stage = "taken", ![t].at = TRUE]
    /\ UNCHANGED <<gen, phase, free, leases, hand, alive>>

\* A result: ranks are at the task no more, or some of them still.
Posted(t, out, at) == [tasks EXCEPT ![t].stage = "posted", ![t].out = out, ![t].at = at]
Taken(t) == t \in Numbers /\ tasks[t].stage = "taken" /\ UNCHANGED <<gen, phase, free, leases, hand, alive>>

Succeed(t) == Taken(t) /\ tasks' = Posted(t, "ok", FALSE)
Fail(t) == Taken(t) /\ tasks' = Posted(t, "failed", FALSE)

\* A handler ran over its limit, or was not waited for: the task has failed, and ranks are at it.
Overrun(t) == Overruns /\ Taken(t) /\ tasks' = Posted(t, "failed", TRUE)

\* The last of these ranks has ended.
Quiet(t) ==
    /\ t \in Numbers
    /\ tasks[t].stage # "taken"
    /\ tasks[t].at
    /\ tasks' = [tasks EXCEPT ![t].at = FALSE]
    /\ UNCHANGED <<gen, phase, free, leases, hand, alive>>

-----------------------------------------------------------------------------
(* The receiver. *)

\* The result says whether ranks are at the task when it is handed out.
Receive(t) ==
    /\ alive
    /\ Serving
    /\ hand = 0
    /\ t \in Numbers
    /\ tasks[t].stage = "posted"
    /\ tasks' = [tasks EXCEPT ![t].stage = "hand", ![t].late = tasks[t].at]
    /\ hand' = t
    /\ UNCHANGED <<gen, phase, free, leases, alive>>

Moves(t) == tasks[t].out = "ok"
Keeps(t) == HoldsLate /\ tasks[t].late

Give(t) ==
    LET x == tasks[t]
        kept == IF Keeps(t) THEN Written(t) ELSE {}
        mine == (IF x.target = {} THEN x.source ELSE IF Moves(t) THEN x.target ELSE x.source) \ kept
    IN IF Waits(t)
       THEN leases' = leases \cup Lease(mine, gen) /\ free' = free \cup (Held(t) \ (mine \cup kept))
       ELSE leases' = leases /\ free' = free \cup (Held(t) \ kept)

\* Without the guards the receiver ends, or drops a result whose task has no number yet.
Handle(t) ==
    /\ alive
    /\ Serving
    /\ hand = t
    /\ t \in Numbers
    /\ IF ~SurvivesBad /\ t \in Bad
       THEN alive' = FALSE /\ UNCHANGED <<free, leases, tasks, hand>>
       ELSE IF ~tasks[t].known
       THEN ~KeepsUnknown /\ hand' = 0 /\ UNCHANGED <<free, leases, tasks, alive>>
       ELSE /\ tasks' = [tasks EXCEPT ![t].stage = IF Keeps(t) THEN "late" ELSE "done",
                                       ![t].told = IF Waits(t) THEN tasks[t].out ELSE @]
            /\ Give(t)
            /\ hand' = 0
            /\ UNCHANGED alive
    /\ UNCHANGED <<gen, phase>>

\* The receiver is told that no rank is at the task any more. Without the guard it believes that more than once.
Settle(t) ==
    /\ alive
    /\ Serving
    /\ hand = 0
    /\ t \in Numbers
    /\ tasks[t].late
    /\ ~tasks[t].at
    /\ tasks[t].stage = "late" \/ (~SettlesOnce /\ tasks[t].stage = "done")
    /\ tasks' = [tasks EXCEPT ![t].stage = "done"]
    /\ free' = free \cup Written(t)
    /\ UNCHANGED <<gen, phase, leases, hand, alive>>

-----------------------------------------------------------------------------
(* Who waits, and the ends. *)

Cancel(t) ==
    /\ Cancels
    /\ t \in Numbers
    /\ InFlight(t)
    /\ Waits(t)
    /\ tasks' = [tasks EXCEPT ![t].told = "cancelled"]
    /\ free' = IF KeepsUntilResult THEN free ELSE free \cup Held(t)
    /\ UNCHANGED <<gen, phase, leases, hand, alive>>

Tell(word) == [t \in Numbers |-> IF Waits(t) THEN [tasks[t] EXCEPT !.told = word] ELSE tasks[t]]

BeginReset ==
    /\ phase = "open"
    /\ gen < MaxGen
    /\ phase' = "resetting"
    /\ tasks' = IF TellsWaiters THEN Tell("cancelled") ELSE tasks
    /\ UNCHANGED <<gen, free, leases, hand, alive>>

\* Tasks that a reset has to wait for.
Counts(t) ==
    /\ AwaitsResults
    /\ InFlight(t)
    /\ AwaitsHandled \/ tasks[t].stage # "hand"
    /\ CountsIssuing \/ tasks[t].stage # "issuing"
    /\ AwaitsLate \/ tasks[t].stage # "late"

\* A set and not \A, which TLC would take apart within itself: a recorded run has many tasks.
Rebuild ==
    /\ phase = "resetting"
    /\ {t \in Numbers : Counts(t)} = {}
    /\ phase' = "open"
    /\ gen' = gen + 1
    /\ free' = Blocks
    /\ UNCHANGED <<leases, tasks, hand, alive>>

End(word) ==
    /\ Serving
    /\ phase' = word
    /\ tasks' = IF EndTells THEN Tell(word) ELSE tasks
    /\ UNCHANGED <<gen, free, leases, hand, alive>>

Lose == Mortal /\ End("lost")
Close == Closes /\ End("closed")

-----------------------------------------------------------------------------
Next ==
    \/ \E k \in {0, 1}, n \in Sizes : Allocate(k, n)
    \/ \E b \in Blocks : Free(b)
    \/ \E b \in Blocks, g \in 0 .. MaxGen : FreeStale(b, g)
    \/ \E s \in Blocks, d \in Blocks \cup {-1} : Reserve(s, d)
    \/ \E t \in 1 .. MaxTasks : Accept(t)
    \/ \E t \in 1 .. MaxTasks : Register(t)
    \/ \E t \in 1 .. MaxTasks : Refuse(t)
    \/ \E t \in 1 .. MaxTasks : Withdraw(t)
    \/ \E t \in 1 .. MaxTasks : Pull(t)
    \/ \E t \in 1 .. MaxTasks : Succeed(t)
    \/ \E t \in 1 .. MaxTasks : Fail(t)
    \/ \E t \in 1 .. MaxTasks : Overrun(t)
    \/ \E t \in 1 .. MaxTasks : Quiet(t)
    \/ \E t \in 1 .. MaxTasks : Receive(t)
    \/ \E t \in 1 .. MaxTasks : Handle(t)
    \/ \E t \in 1 .. MaxTasks : Settle(t)
    \/ \E t \in 1 .. MaxTasks : Cancel(t)
    \/ BeginReset
    \/ Rebuild
    \/ Lose
    \/ Close

Spec == Init /\ [][Next]_vars
=============================================================================
