--------------------------- MODULE TraceRearrange ---------------------------
(***************************************************************************)
(* Is a recorded run a behaviour of Rearrange? The host numbers its events *)
(* inside the critical section, so a run is one sequence, and each event   *)
(* must be one action, with the result and the state that were recorded.   *)
(*                                                                         *)
(* TraceData is generated for each run of TLC:                             *)
(*   Traces   sequence of runs; an event is a tuple <<action, party, rank, *)
(*            peer or number of addresses, result, phase, request, outcome *)
(*            addresses that are not reached, load, worker>>; load and     *)
(*            worker are sequences over the ranks                          *)
(*                                                                         *)
(* A run is accepted if its last event is explained. <<"AT", k, i>> says   *)
(* that run k is explained up to event i - 1.                              *)
(***************************************************************************)
EXTENDS MCRearrange, TraceData, TLC

VARIABLES
    k,      \* which run
    at      \* its next event

traceVars == <<k, at, vars>>

TraceInit == Init /\ k \in DOMAIN Traces /\ at = 1

Event == Traces[k][at]
Name == Event[1]
Who == Event[2]
Found == Event[3]

LastOutcome(o) == IF o = <<>> THEN "" ELSE o[Len(o)]

\* The variables that the host recorded after the action.
Post ==
    /\ phase' = Event[4]
    /\ Running' = Event[5]
    /\ LastOutcome(outcome') = Event[6]
    /\ (IF phase' \in {"FREE", "DONE"} THEN {} ELSE Peers \ reached') = Event[7]
    /\ \A r \in Ranks : load'[r] = Event[8][r + 1] /\ worker'[r] = Event[9][r + 1]

\* A request names the first few of 1 .. A; the others count as reached from the beginning.
Ask(named) ==
    /\ named <= A
    /\ Begin((named + 1) .. A)

Numbered == Found = <<Running'>>

\* Nobody has seen what a loader does with its job: TakeLoad does not ask whether it has reported the last one.
Observed ==
    \/ Name = "Join" /\ Join(Who)
    \/ Name = "Leave" /\ Leave(Who)
    \/ Name = "Fence" /\ Fence(Who)
    \/ Name = "Request" /\ Ask(Who) /\ Numbered
    \/ Name = "Take" /\ Take /\ Numbered
    \/ Name = "BeginLoad" /\ BeginLoad
    \/ Name = "PeerReady" /\ PeerReady(Who)
    \/ Name = "PeerFailed" /\ PeerFailed(Who)
    \/ Name = "DeclareLoaded" /\ DeclareLoaded
    \/ Name = "CallOff" /\ CallOff
    \/ Name = "TakeLoad" /\ Starts(Who) /\ Numbered
    \/ Name = "ReportOk" /\ ReportOk(Who)
    \/ Name = "ReportFailed" /\ ReportFailed(Who)
    \/ Name = "Update" /\ Update
    \/ Name = "Arrive" /\ Arrive(Who) /\ Found = <<\E r \in Ranks : swap'[r] # 0>>
    \/ Name = "Withdraw" /\ Withdraw(Who)
    \/ Name = "Updated" /\ Updated(Who)
    \/ Name = "Free" /\ Free
    \/ Name = "EndTimeout" /\ EndTimeout

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
