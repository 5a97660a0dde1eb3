---------------------------- MODULE TraceBarrier ----------------------------
(***************************************************************************)
(* Is a recorded run a behaviour of Barrier? The host numbers its events   *)
(* inside the critical section, so a run is one sequence, and each event   *)
(* must be one action, with the state that was recorded.                   *)
(*                                                                         *)
(* TraceData is generated for each run of TLC:                             *)
(*   Traces   sequence of runs; an event is a tuple <<action, rank,        *)
(*            barrier, label, round or abort, generations, ranks that have *)
(*            arrived, broken, aborts, lost ranks>>; the four before the   *)
(*            last are sequences over the barriers                         *)
(*                                                                         *)
(* A run is accepted if its last event is explained. <<"AT", k, i>> says   *)
(* that run k is explained up to event i - 1.                              *)
(***************************************************************************)
EXTENDS MCBarrier, TraceData, TLC

VARIABLES
    k,      \* which run
    at      \* its next event

traceVars == <<k, at, vars>>

TraceInit == Init /\ k \in DOMAIN Traces /\ at = 1

Event == Traces[k][at]
Name == Event[1]
Who == Event[2]
Where == Event[3]
Label == Event[4]
Number == Event[5]

RanksOf(s) == [i \in DOMAIN s |-> s[i].rank]

\* The variables that the host recorded after the action.
Post ==
    /\ \A b \in Barriers :
           /\ generation'[b] = Event[6][b + 1]
           /\ RanksOf(arrived'[b]) = Event[7][b + 1]
           /\ broken'[b] = Event[8][b + 1]
           /\ aborts'[b] = Event[9][b + 1]
    /\ {r \in Ranks : status'[r] = "lost"} = Event[10]

Observed ==
    \/ Name = "Join" /\ Join(Who)
    \/ Name = "Leave" /\ Leave(Who)
    \/ Name = "Fence" /\ Fence(Who)
    \/ Name = "Arrive" /\ Arrive(Who, Where, Label, Number)
    \/ Name = "Pass" /\ Pass(Who, Where, Label, Number)
    \/ Name = "Mismatch" /\ Mismatch(Who, Where, Label, Number)
    \/ Name = "Refuse" /\ Refuse(Who, Where, Number)
    \/ Name = "Timeout" /\ Timeout(Who)
    \/ Name = "Abort" /\ Abort(Where)
    \/ Name = "Reset" /\ Reset(Where, Number)

\* A host cannot see a process die, only that its connection closed: the death is allowed directly before that.
Unseen == Name = "Fence" /\ Crash(Who)

More == at <= Len(Traces[k])

TraceNext ==
    /\ More
    /\ UNCHANGED k
    /\ \/ Observed /\ Post /\ at' = at + 1
       \/ Unseen /\ UNCHANGED at

TraceSpec == TraceInit /\ [][TraceNext]_traceVars

\* Never false: it only tells how far each run is explained.
Progress == PrintT(<<"AT", k, at>>)
=============================================================================
