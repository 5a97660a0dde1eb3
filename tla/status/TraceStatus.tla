---------------------------- MODULE TraceStatus ----------------------------
(***************************************************************************)
(* Is a recorded run a behaviour of Status? The host numbers its events    *)
(* inside the critical section, so a run is one sequence, and each event   *)
(* must be one action, with the state that was recorded.                   *)
(*                                                                         *)
(* TraceData is generated for each run of TLC:                             *)
(*   Traces   sequence of runs. The first event, Declare, changes          *)
(*            nothing. An event is a tuple <<action, component,            *)
(*            part, ok or goal, answer, requests, outcome, words, partial, *)
(*            changing, reports, lost>>. The answer is TRUE for a report   *)
(*            that counts, and for all others FALSE. Words, partial,       *)
(*            reports and lost are sequences over the components; a report *)
(*            is a pair <<part, ok>>.                                      *)
(*                                                                         *)
(* A run is accepted if its last event is explained. <<"AT", k, i>> says   *)
(* that run k is explained up to event i - 1.                              *)
(***************************************************************************)
EXTENDS MCStatus, TraceData, TLC

VARIABLES
    k,      \* which run
    at      \* its next event

traceVars == <<k, at, vars>>

TraceInit == Init /\ k \in DOMAIN Traces /\ at = 1

Event == Traces[k][at]
Name == Event[1]
C == Event[2]       \* of Declare none of these is looked at
P == Event[3]
Said == Event[4]

\* The variables that the host recorded after the action.
Post ==
    /\ asked' = Event[6]
    /\ (IF asked' = 0 THEN "" ELSE outcome'[asked']) = Event[7]
    /\ changing' = Event[10]
    /\ \A c \in Real :
           /\ word'[c] = Event[8][c + 1]
           /\ partial'[c] = Event[9][c + 1]
           /\ {<<r.part, r.ok>> : r \in reports'[c]} = Event[11][c + 1]
           /\ {p \in Parts : status'[c][p] = "lost"} = Event[12][c + 1]

Observed ==
    \/ Name = "Declare" /\ UNCHANGED vars
    \/ Name = "Join" /\ Join(C, P)
    \/ Name = "Fence" /\ Fence(C, P)
    \/ Name = "Ask" /\ Ask(Said)
    \/ Name = "Take" /\ Take(C, P)
    \/ Name = "Report" /\ Report(C, P, Said) /\ Event[5] = (reports' # reports)
    \/ Name = "Settle" /\ Settle(C)
    \/ Name = "NextStage" /\ NextStage
    \/ Name = "Finish" /\ Finish
    \/ Name = "Fail" /\ Fail
    \/ Name = "Expire" /\ Expire

\* A host cannot see a process die, only that its connection closed: the death is allowed directly before that.
Unseen == Name = "Fence" /\ Crash(C, P)

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
