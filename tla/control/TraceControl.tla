---------------------------- MODULE TraceControl ----------------------------
(***************************************************************************)
(* Is a recorded run a behaviour of Control? The host numbers its events   *)
(* inside the critical section, so a run is one sequence, and each event   *)
(* must be one action, with the state that was recorded.                   *)
(*                                                                         *)
(* TraceData is generated for each run of TLC:                             *)
(*   Traces   sequence of runs; an event is a tuple <<action, rank,        *)
(*            number, asked, open requests, served, doing, lost ranks>>;   *)
(*            an open request is <<number, ranks that answered, without>>; *)
(*            served and doing are sequences over the ranks                *)
(*                                                                         *)
(* A run is accepted if its last event is explained. <<"AT", k, i>> says   *)
(* that run k is explained up to event i - 1.                              *)
(***************************************************************************)
EXTENDS MCControl, TraceData, TLC

VARIABLES
    k,      \* which run
    at      \* its next event

traceVars == <<k, at, vars>>

TraceInit == Init /\ k \in DOMAIN Traces /\ at = 1

Event == Traces[k][at]
Name == Event[1]
Who == Event[2]
Number == Event[3]

OpenNow == {n \in 1 .. asked' : state'[n] = "open"}
Shown(n) == <<n, {a.rank : a \in answers'[n]}, without'[n]>>

\* The variables that the host recorded after the action.
Post ==
    /\ asked' = Event[4]
    /\ {Shown(n) : n \in OpenNow} = Event[5]
    /\ \A r \in Ranks : served'[r] = Event[6][r + 1] /\ doing'[r] = Event[7][r + 1]
    /\ {r \in Ranks : status'[r] = "lost"} = Event[8]

Observed ==
    \/ Name = "Join" /\ Join(Who)
    \/ Name = "Leave" /\ Leave(Who)
    \/ Name = "Fence" /\ Fence(Who)
    \/ Name = "Vanish" /\ Vanish(Who)
    \/ Name = "Reappear" /\ Reappear(Who)
    \/ Name = "Ask" /\ Ask /\ asked' = Number
    \/ Name = "Take" /\ Take(Who) /\ doing'[Who] = Number
    \/ Name = "Answer" /\ Answer(Who) /\ doing[Who] = Number
    \/ Name = "RefuseLate" /\ RefuseLate(Who) /\ doing[Who] = Number
    \/ Name = "Collect" /\ Collect(Number)
    \/ Name = "EndLost" /\ EndLost(Number)
    \/ Name = "EndTimeout" /\ EndTimeout(Number)
    \/ Name = "Withdraw" /\ Withdraw(Number)

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
