--------------------------- MODULE TraceLayerwise ---------------------------
(***************************************************************************)
(* Is a recorded run of one rank a behaviour of Layerwise? The table       *)
(* numbers its events inside the critical section, so a run is one         *)
(* sequence, and each event must be one action, with the result that was   *)
(* recorded.                                                               *)
(*                                                                         *)
(* Tasks have no numbers in a run: they are the pairs (slot, step) that it *)
(* mentions. Slots are numbered 0, 1, ... as they are mentioned, and the   *)
(* j-th step of slot s, in the order of serial numbers, is task            *)
(* (j - 1) * S + s + 1: Slot, and the order of Step within a slot, are     *)
(* those of the run. The infos of different slots may come in any order:   *)
(* what one rank has recorded does not say how they were given out.        *)
(*                                                                         *)
(* TraceData is generated for each run of TLC:                             *)
(*   Traces   sequence of runs; an event is a tuple <<action, task, slot,  *)
(*            layer or capacity of the run's table, result>>               *)
(*                                                                         *)
(* A run is accepted if its last event is explained. <<"AT", k, i>> says   *)
(* that run k is explained up to event i - 1.                              *)
(***************************************************************************)
EXTENDS MCLayerwise, TraceData, TLC

VARIABLES
    k,      \* which run
    at      \* its next event

traceVars == <<k, at, vars>>

TraceInit == Init /\ k \in DOMAIN Traces /\ at = 1

Event == Traces[k][at]
Name == Event[1]
Task == Event[2]
InSlot == Event[3]
Number == Event[4]
Found == Event[5]

Rank == 0
Table == tasks[Rank]
Last(s) == s[Len(s)]

\* Infos of one slot come in the order of their steps, each once.
IsDue(t) == seen[Rank][Slot(t)] = -1 \/ Later(Step(t), seen[Rank][Slot(t)])

Info ==
    /\ IsDue(Task)
    /\ Len(Table) < Number
    /\ TakeInfo(Rank, Task)
    /\ Found = <<Last(tasks'[Rank]).ready, Last(tasks'[Rank]).failed>>

Sends ==
    /\ NextReady(Rank)
    /\ LET x == Table[Least(Sendable(Rank))] IN Found = <<x.task, x.sent, x.ready - 1>>

Finishes ==
    /\ NextDone(Rank)
    /\ LET x == Last(done'[Rank]) IN Found = <<x.task, x.sent, x.failed>>

\* A task that was ended before is over: nothing happens.
Ends ==
    \/ OnEnd(Rank, Task) /\ Found = <<tasks' # tasks \/ gone' # gone>>
    \/ Task \in ended[Rank] /\ Found = <<FALSE>> /\ UNCHANGED vars

Expires ==
    /\ early[Rank][InSlot] # <<>>
    /\ Found = <<TaskOf(early[Rank][InSlot][1])>>
    /\ ExpireEarly(Rank, InSlot)

Observed ==
    \/ Name = "OnProgress" /\ OnProgress(Rank, Task, Number)
    \/ Name = "OnCacheInfo" /\ Info
    \/ Name = "NextReady" /\ Sends
    \/ Name = "OnEnd" /\ Ends
    \/ Name = "ExpireTask" /\ ExpireTask(Rank, Task)
    \/ Name = "ExpireEarly" /\ Expires
    \/ Name = "NextDone" /\ Finishes

More == at <= Len(Traces[k])

TraceNext ==
    /\ More
    /\ UNCHANGED k
    /\ Observed
    /\ at' = at + 1

TraceSpec == TraceInit /\ [][TraceNext]_traceVars

\* What was finished, then what is in the table, are tasks that were not there before: each info is one task.
EachOnce ==
    LET taken == Finished(Rank) \o InTable(Rank)
    IN  /\ Len(taken) = given[Rank]
        /\ Cardinality(Range(taken)) = Len(taken)

\* Never false: it only tells how far each run is explained.
Progress == PrintT(<<"AT", k, at>>)
=============================================================================
