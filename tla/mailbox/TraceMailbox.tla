---------------------------- MODULE TraceMailbox ----------------------------
(***************************************************************************)
(* Is a recorded run a behaviour of Mailbox? The server numbers its events *)
(* inside the critical section, so a run is one sequence, and each event   *)
(* must be one action, with the state that was recorded.                   *)
(*                                                                         *)
(* TraceData is generated for each run of TLC:                             *)
(*   Traces   sequence of runs; an event is a tuple <<action, request,     *)
(*            client or last, stage, cached, flying, kept>>: the last four *)
(*            are what was recorded after it, of that request and of all   *)
(*                                                                         *)
(* What ZeroMQ knows of clients is not recorded, and what one thread was   *)
(* told of a client, and another one before, reach the critical section in *)
(* any order: so here the loss of a batch may come at any time.            *)
(*                                                                         *)
(* A run is accepted if its last event is explained. <<"AT", k, i>> says   *)
(* that run k is explained up to event i - 1.                              *)
(***************************************************************************)
EXTENDS MCMailbox, TraceData, TLC

VARIABLES
    k,      \* which run
    at      \* its next event

traceVars == <<k, at, vars>>

TraceInit == Init /\ k \in DOMAIN Traces /\ at = 1

Event == Traces[k][at]
Name == Event[1]
R == Event[2]
X == Event[3]

TraceLost(r) == Len(flights[r]) = 1 /\ End(r, "lost", Len(flights[r][1]))

Observed ==
    \/ Name = "Handle" /\ Handle(R, X)
    \/ Name = "Put" /\ Put(R, X)
    \/ Name = "Sent" /\ Sent(R, 1)
    \/ Name = "Lost" /\ TraceLost(R)
    \/ Name = "Late" /\ Late(R)
    \/ Name = "Expire" /\ Expire(R)
    \/ Name = "Close" /\ Close

\* The variables that the server recorded after the action.
Post ==
    /\ Name # "Close" =>
        /\ stage'[R] = Event[4]
        /\ Len(cached'[R]) = Event[5]
        /\ Flying(flights'[R]) = Event[6]
    /\ Kept(cached', Requests) = Event[7]

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
