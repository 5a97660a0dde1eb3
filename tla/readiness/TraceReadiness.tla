--------------------------- MODULE TraceReadiness --------------------------
(***************************************************************************)
(* Is a recorded run a behaviour of Readiness? The host numbers its events *)
(* inside the critical section, so a run is one sequence, and each event   *)
(* must be one action, with the state that was recorded.                   *)
(*                                                                         *)
(* TraceData is generated for each run of TLC:                             *)
(*   Traces   sequence of runs. The first event, Declare, changes          *)
(*            nothing. An event is a tuple <<action, first, mask, patient, *)
(*            answer, status, inc, said, stuck, open>>. First is the part, *)
(*            the number of the wait, or who waits; the answer is that of  *)
(*            Join and Wait. Status, inc, said and stuck are sequences     *)
(*            over all parts, those left out included.                     *)
(*                                                                         *)
(* A run is accepted if its last event is explained. <<"AT", k, i>> says   *)
(* that run k is explained up to event i - 1.                              *)
(***************************************************************************)
EXTENDS MCReadiness, TraceData, TLC

VARIABLES
    k,      \* which run
    at      \* its next event

traceVars == <<k, at, vars>>

TraceInit == Init /\ k \in DOMAIN Traces /\ at = 1

Event == Traces[k][at]
Name == Event[1]
Who == Event[2]     \* of Declare none of these is looked at

\* The host cannot tell a dead process from a live one.
Seen(s) == IF s = "dead" THEN "live" ELSE s

\* The variables that the host recorded after the action.
Post ==
    /\ \A p \in Parts : /\ Seen(status'[p]) = Event[6][p + 1]
                        /\ inc'[p] = Event[7][p + 1]
                        /\ said'[p] = Event[8][p + 1]
                        /\ stuck'[p] = Event[9][p + 1]
    /\ {w \in DOMAIN waits' : waits'[w].outcome = "open"} = Event[10]

Observed ==
    \/ Name = "Declare" /\ UNCHANGED vars
    \/ Name = "Join" /\ Join(Who) /\ inc'[Who] = Event[5]
    \/ Name = "Fence" /\ Fence(Who)
    \/ Name = "Leave" /\ Leave(Who)
    \/ Name = "Ready" /\ Ready(Who)
    \/ Name = "Fail" /\ Fail(Who)
    \/ Name = "Withdraw" /\ Withdraw(Who)
    \/ Name = "Stall" /\ Stall(Who)
    \/ Name = "Recover" /\ Recover(Who)
    \/ Name = "Wait" /\ Wait(Who, Event[3], Event[4]) /\ Len(waits') = Event[5]
    \/ Name = "Complete" /\ Complete(Who)
    \/ Name = "GiveUp" /\ GiveUp(Who)
    \/ Name = "Expire" /\ Expire(Who)

\* A host cannot see a process die or a loop stand still or go on, only what comes of it: it is allowed directly before.
Unseen ==
    \/ Name = "Fence" /\ Crash(Who)
    \/ Name = "Stall" /\ Age(Who)
    \/ Name = "Recover" /\ Beat(Who)

More == at <= Len(Traces[k])

TraceNext ==
    /\ More
    /\ UNCHANGED k
    /\ \/ Observed /\ (Name # "Declare" => Post) /\ at' = at + 1
       \/ Unseen /\ UNCHANGED at

TraceSpec == TraceInit /\ [][TraceNext]_traceVars

\* Never false: it only tells how far each run is explained.
Progress == PrintT(<<"AT", k, at>>)
=============================================================================
