---------------------------- MODULE TraceMeeting ----------------------------
(***************************************************************************)
(* Is a recorded run of processes at a meeting a behaviour of Meeting?     *)
(* Accesses are recorded in their order, each with a system call, so every *)
(* store is followed by its Flush.                                         *)
(*                                                                         *)
(* TraceData is generated for each run of TLC:                             *)
(*   Traces   sequence of runs; an event is a tuple <<action, who, value>> *)
(*            where who is the process, and value is what was loaded or    *)
(*            stored, where that is checked, or of Begin the label         *)
(*                                                                         *)
(* A run is accepted if its last event is explained. <<"AT", k, i>> says   *)
(* that run k is explained up to event i - 1.                              *)
(***************************************************************************)
EXTENDS Meeting, TraceData, TLC

VARIABLES
    k,      \* which run
    event   \* its next event

traceVars == <<k, event, vars>>

TraceInit == Init /\ k \in DOMAIN Traces /\ event = 1

Name == Traces[k][event][1]
Who == Traces[k][event][2]
Value == Traces[k][event][3]

Outcomes == <<"passed", "refused", "timeout", "mismatch", "lost", "broken">>
Outcome == Outcomes[Value + 1]

Observed ==
    \/ Name = "Begin" /\ Value \in 0 .. L * P - 1 /\ Begin(Who, Value)
    \/ Name = "SeeLife" /\ SeeLife(Who) /\ Load(Who, "life", RankOf(Who)) = Value
    \/ Name = "StoreLabel" /\ StoreLabel(Who)
    \/ Name = "StoreWord" /\ StoreWord(Who) /\ stamp[Who] = Value
    \/ Name = "Scan" /\ Scan(Who)
    \/ Name = "SeeTurn" /\ SeeTurn(Who) /\ Load(Who, "turn", 0) = Value
    \/ Name = "SeeStanding" /\ SeeStanding(Who) /\ Load(Who, "life", RankOf(Who)) = Value
    \* Value 6: the ending was about another barrier.
    \/ Name = "SeeWhy" /\ SeeWhy(Who) /\ IF Value = 6 THEN UNCHANGED told ELSE <<stamp[Who], Outcome>> \in told'[Who]
    \/ Name = "SeeNext" /\ SeeNext(Who) /\ Load(Who, "turn", 0) = Value
    \/ Name = "Timeout" /\ Timeout(Who)
    \/ Name = "RaiseFlag" /\ RaiseFlag(Who)
    \/ Name = "BarrierReaches" /\ BarrierReaches(Who)
    \/ Name = "SeeDue" /\ SeeDue(Who)
    \/ Name = "Rescan" /\ Rescan(Who)
    \/ Name = "Sleep" /\ Sleep(Who)
    \/ Name = "Rouse" /\ Rouse(Who)
    \/ Name = "SeeAgain" /\ SeeAgain(Who)
    \/ Name = "SeeDead" /\ SeeDead(Who)
    \/ Name = "LowerFlag" /\ LowerFlag(Who)
    \/ Name = "AskAbort" /\ Who = Owner /\ AskAbort
    \/ Name = "AskPart" /\ Who = Owner /\ AskPart
    \/ Name = "AskFence" /\ Who = Owner /\ AskFence
    \/ Name = "AskReset" /\ Who = Owner /\ AskReset
    \/ Name = "Come" /\ Who = Next0 /\ Come
    \/ Name = "TakeLock" /\ TakeLock(Who)
    \/ Name = "SeeTurnLocked" /\ SeeTurnLocked(Who)
    \/ Name = "LookLocked" /\ LookLocked(Who)
    \/ Name = "StoreWithdrawn" /\ StoreWithdrawn(Who)
    \/ Name = "StoreLife" /\ StoreLife(Who)
    \/ Name = "StoreCount" /\ StoreCount(Who) /\ buf'[Who][Len(buf'[Who])][3] = Value
    \/ Name = "StoreWhy" /\ StoreWhy(Who)
    \/ Name = "StoreTurn" /\ StoreTurn(Who) /\ buf'[Who][Len(buf'[Who])][3] = Value
    \/ Name = "LoadFlags" /\ LoadFlags(Who)
    \/ Name = "Wake" /\ Wake(Who)
    \/ Name = "GiveLock" /\ GiveLock(Who)
    \/ Name = "Flush" /\ Flush(Who)
    \/ Name = "Kill" /\ Kill(Who)
    \* What a wait has said. Of one that was refused nobody keeps the turn.
    \/ Name = "Told" /\ UNCHANGED vars
       /\ \E end \in told[Who] : end[2] = Outcome /\ (end[1] = stamp[Who] \/ Outcome = "refused")

TraceNext ==
    /\ event <= Len(Traces[k])
    /\ Observed
    /\ event' = event + 1
    /\ UNCHANGED k

TraceSpec == TraceInit /\ [][TraceNext]_traceVars

\* Never false: it only tells how far each run is explained.
Progress == PrintT(<<"AT", k, event>>)
=============================================================================
