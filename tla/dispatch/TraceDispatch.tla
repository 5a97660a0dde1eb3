--------------------------- MODULE TraceDispatch ---------------------------
(***************************************************************************)
(* Is a recorded run a behaviour of Dispatch? The host numbers its events  *)
(* inside the critical section, so a run is one sequence, and each event   *)
(* must be one action, with the result and the state that were recorded.   *)
(*                                                                         *)
(* TraceData is generated for each run of TLC:                             *)
(*   Traces   sequence of runs; an event is a tuple <<action, rank or      *)
(*            producer, id, result, calls, epoch, exist, ids in the log,   *)
(*            ids of the waiting calls>>; a read has only the first four   *)
(*   Fenced   for each run, the ranks that are fenced in it                *)
(*                                                                         *)
(* A run is accepted if its last event is explained. <<"AT", k, i>> says   *)
(* that run k is explained up to event i - 1.                              *)
(***************************************************************************)
EXTENDS MCDispatch, TraceData, TLC

VARIABLES
    k,      \* which run
    at      \* its next event

traceVars == <<k, at, vars>>

TraceInit == InitWith("down") /\ k \in DOMAIN Traces /\ at = 1

Event == Traces[k][at]
Name == Event[1]
Who == Event[2]
Id == Event[3]
Found == Event[4]

IdsOf(s) == [i \in DOMAIN s |-> s[i].id]

\* The variables that the host recorded after the action.
Post == /\ calls' = Event[5]
        /\ epoch' = Event[6]
        /\ exist' = Event[7]
        /\ IdsOf(log') = Event[8]
        /\ IdsOf(waiting') = Event[9]

Withdrawn == Id \in Ids(waiting) /\ Id \notin {waiting'[i].id : i \in DOMAIN waiting'}
IsDropped(e) == \A i \in DOMAIN log' : log'[i].id # e.id
TookIt == /\ got'[Who] # got[Who]
          /\ Found = <<got'[Who][Len(got'[Who])], \A i \in DOMAIN log' : log'[i].id # got'[Who][Len(got'[Who])]>>

Observed ==
    \/ Name = "Join" /\ Join(Who)
    \/ Name = "Leave" /\ Leave(Who)
    \/ Name = "Fence" /\ Fence(Who)
    \/ Name = "Connect" /\ Connect(Who)
    \/ Name = "Disconnect" /\ Disconnect(Who)
    \/ Name = "FenceProducer" /\ FenceProducer(Who)
    \/ Name = "CallPut" /\ CallPut(Who) /\ calls' = Id
    \/ Name = "PutTasks" /\ PutTasks(Who) /\ log'[Len(log')].id = Id
    \/ Name = "PutLost" /\ PutLost(Who) /\ Withdrawn
    \/ Name = "PutTimeout" /\ PutTimeout(Who) /\ Withdrawn
    \/ Name = "GetTasks" /\ GetTasks(Who) /\ TookIt
    \/ Name = "ClearRank" /\ ClearRank(Who) /\ IdsOf(SelectSeq(log, IsDropped)) = Found
    \/ Name = "ClearProducer" /\ ClearProducer(Who) /\ IdsOf(SelectSeq(log, IsDropped)) = Found

\* Reads change nothing; a host records them on request.
Ticket(r) == IF Unread(r) = {} THEN 0 ELSE log[Least(Unread(r))].id
Read ==
    /\ \/ Name = "ExistTasks" /\ Found = <<exist>>
       \/ Name = "NumTasks" /\ Found = <<Len(log)>>
       \/ Name = "TaskTicket" /\ Found = <<Ticket(Who)>>
    /\ UNCHANGED vars

\* A host cannot see a process die, only that its connection closed: the death is allowed directly before that.
Unseen ==
    \/ Name = "Fence" /\ Crash(Who)
    \/ Name = "FenceProducer" /\ CrashProducer(Who)

More == at <= Len(Traces[k])

TraceNext ==
    /\ More
    /\ UNCHANGED k
    /\ \/ Observed /\ Post /\ at' = at + 1
       \/ Read /\ at' = at + 1
       \/ Unseen /\ UNCHANGED at

TraceSpec == TraceInit /\ [][TraceNext]_traceVars

\* Never false: it only tells how far each run is explained.
Progress == PrintT(<<"AT", k, at>>)

\* InStep, for the ranks that are never fenced in this run.
TraceInStep == \A q \in Ranks, r \in Ranks \ Fenced[k] : Range(got[q]) \subseteq Range(got[r]) \cup Ids(log)
=============================================================================
