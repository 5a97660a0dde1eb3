----------------------------- MODULE TraceLink -----------------------------
(***************************************************************************)
(* Is a recorded run a behaviour of the host's part of Link? The host      *)
(* numbers the events of a link inside its critical section, so a run is   *)
(* one sequence, and each event must be one action, with the state that    *)
(* was recorded. What the handle and the network do is not recorded:       *)
(* requests may come at any time, and as they like.                        *)
(*                                                                         *)
(* TraceData is generated for each run of TLC:                             *)
(*   Traces   sequence of runs; an event is a tuple <<action, number, open *)
(*            calls, top, session, top, calls that are known with their    *)
(*            states>>: the last three are what was recorded after it      *)
(*                                                                         *)
(* A run is accepted if its last event is explained. <<"AT", k, i>> says   *)
(* that run k is explained up to event i - 1.                              *)
(***************************************************************************)
EXTENDS MCLink, Sequences, TraceData, TLC

VARIABLES
    k,      \* which run
    at      \* its next event

traceVars == <<k, at, vars>>

TraceInit == Init /\ k \in DOMAIN Traces /\ at = 1

Event == Traces[k][at]
Name == Event[1]
Came == [number |-> Event[2], open |-> Event[3], top |-> Event[4]]

Observed ==
    \/ Name = "Begin" /\ BeginOf(Came)
    \/ Name = "Repeat" /\ RepeatOf(Came)
    \/ Name = "Stale" /\ StaleOf(Came)
    \/ Name = "Refuse" /\ RefuseOf(Came)
    \/ Name = "Depart" /\ session = "open" /\ DepartOf(Came)
    \/ Name = "Finish" /\ Finish(Event[2])
    \/ Name = "Fence" /\ Fence

\* The variables that the host recorded after the action.
Post ==
    /\ session' = Event[5]
    /\ top' = Event[6]
    /\ {<<n, known'[n]>> : n \in {m \in All : known'[m] # "none"}} = Event[7]

More == at <= Len(Traces[k])

TraceNext ==
    /\ More
    /\ UNCHANGED k
    /\ Observed
    /\ Post
    /\ at' = at + 1

TraceSpec == TraceInit /\ [][TraceNext]_traceVars

\* Never false: it only tells how far each run is explained.
Progress == PrintT(<<"AT", k, at>>)
=============================================================================
