----------------------------- MODULE TracePause -----------------------------
(***************************************************************************)
(* Is a recorded run a behaviour of Pause? The host numbers its events     *)
(* inside the critical section. Where ranks recorded what their jobs did,  *)
(* that is merged into the run, without a state after it.                  *)
(*                                                                         *)
(* TraceData is generated for each run of TLC:                             *)
(*   Traces   sequence of runs; an event is a tuple <<action, rank or      *)
(*            client, order, phase and mode of that order (a pause: its    *)
(*            mode), state after it or <<>>>>                              *)
(*                                                                         *)
(* The host hears late that a rank has taken an order: the rank did so     *)
(* before the next one was made.                                           *)
(*                                                                         *)
(* A run is accepted if its last event is explained. <<"AT", k, i>> says   *)
(* that run k is explained up to event i - 1.                              *)
(***************************************************************************)
EXTENDS MCPause, Sequences, TraceData, TLC

VARIABLES
    k,      \* which run
    at      \* its next event

traceVars == <<k, at, vars>>

TraceInit == Init /\ k \in DOMAIN Traces /\ at = 1

Event == Traces[k][at]
Name == Event[1]
Who == Event[2]
Number == Event[3]
Of == Event[5]

Post ==
    Event[6] # <<>> =>
        /\ order' = Event[6][1]
        /\ phase' = Event[6][2]
        /\ mode' = Event[6][3]
        /\ quiet' = Event[6][4]
        /\ {<<r, seen'[r]>> : r \in {q \in Ranks : status'[q] \in {"live", "dead"}}} = Event[6][5]
        /\ holders' = Event[6][6]

Took(r) ==
    /\ Live(r)
    /\ Number \in (seen[r] + 1) .. order
    /\ Number = order => Event[4] = phase /\ Of = mode
    /\ TakeOrder(r, Number, Event[4], Of)
    /\ UNCHANGED <<ordered, status, quiet, holders, calls, promised>>

Observed ==
    \/ Name = "Join" /\ Join(Who)
    \/ Name = "Leave" /\ Leave(Who)
    \/ Name = "Fence" /\ Fence(Who)
    \/ Name = "Take" /\ Took(Who)
    \/ Name = "Admit" /\ Admit(Who)
    \/ Name = "Done" /\ Done(Who)
    \/ Name = "Park" /\ Park(Who)
    \/ Name = "Quiet" /\ Number = order /\ Quiet(Who)
    \/ Name = "CallPause" /\ CallPause(Who, Of)
    \/ Name = "PauseReturns" /\ PauseReturns(Who)
    \/ Name = "PauseEnded" /\ PauseEnded(Who)
    \/ Name = "CallResume" /\ CallResume(Who)
    \/ Name = "CancelPause" /\ CancelPause(Who)
    \/ Name = "ResumeReturns" /\ ResumeReturns(Who)
    \/ Name = "GiveUp" /\ GiveUp(Who)
    \/ Name = "Hold" /\ Hold(Who)
    \/ Name = "LetGo" /\ LetGo(Who)

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
