------------------------------ MODULE TraceRing ------------------------------
(***************************************************************************)
(* Is a recorded run of processes at a ring a behaviour of Ring? Accesses  *)
(* are recorded in their order, each with a system call, so every store is *)
(* followed by its Flush.                                                  *)
(*                                                                         *)
(* TraceData is generated for each run of TLC:                             *)
(*   Traces   sequence of runs; an event is a tuple <<action, who, value>> *)
(*            where who is the process, or of Fence the rank, and value is *)
(*            what was loaded or stored, where that is checked             *)
(*                                                                         *)
(* A run is accepted if its last event is explained. <<"AT", k, i>> says   *)
(* that run k is explained up to event i - 1.                              *)
(***************************************************************************)
EXTENDS MCRing, TraceData, TLC

VARIABLES
    k,      \* which run
    event   \* its next event

traceVars == <<k, event, vars>>

TraceInit == Init /\ k \in DOMAIN Traces /\ event = 1

Name == Traces[k][event][1]
Who == Traces[k][event][2]
Value == Traces[k][event][3]

Observed ==
    \/ Name = "StartPut" /\ StartPut(Who)
    \/ Name = "LoadCursor" /\ LoadCursor(Who) /\ Load(Who, "cursor", LineOf(known, at[Who])) = Value
    \/ Name = "LoadLife" /\ LoadLife(Who) /\ Load(Who, "life", at[Who]) = Value
    \/ Name = "Fill" /\ Fill(Who)
    \/ Name = "Publish" /\ Publish(Who) /\ head' = Value
    \/ Name = "TakeOver" /\ TakeOver(Who) /\ head' = Value
    \/ Name = "SeeSeq" /\ SeeSeq(Who) /\ pos[Who] + 1 = Value
    \/ Name = "SeeFence" /\ SeeFence(Who)
    \/ Name = "StoreBegun" /\ StoreBegun(Who) /\ pos[Who] + 1 = Value
    \/ Name = "SeeGate" /\ SeeGate(Who) /\ mem.gate[0] = Value
    \/ Name = "CopyData" /\ CopyData(Who) /\ (took'[Who] = Void) = (Value = Void)
    \/ Name = "SeeLife" /\ SeeLife(Who)
    \/ Name = "StoreCursor" /\ StoreCursor(Who) /\ pos'[Who] = Value
    \/ Name = "StoreLife" /\ StoreLife(Who)
    \/ Name = "StoreStart" /\ StoreStart(Who) /\ pos'[Who] = Value
    \/ Name = "BarrierReaches" /\ BarrierReaches(Who)
    \/ Name = "SeeBegun" /\ SeeBegun(Who) /\ Load(Who, "begun", at[Who]) = Value
    \/ Name = "CloseGate" /\ CloseGate(Who)
    \/ Name = "SeeHead" /\ SeeHead(Who) /\ Load(Who, "seq", at[Who]) = Value
    \/ Name = "StoreVoid" /\ StoreVoid(Who)
    \/ Name = "OpenGate" /\ OpenGate(Who)
    \/ Name = "ClearAgain" /\ ClearAgain(Who)
    \/ Name = "Flush" /\ Flush(Who)
    \/ Name = "Kill" /\ Kill(Who)
    \/ Name = "Fence" /\ Fence(Who)
    \* What a get has returned.
    \/ Name = "Got" /\ got[Who] # <<>> /\ got[Who][Len(got[Who])] = Value /\ UNCHANGED vars

TraceNext ==
    /\ event <= Len(Traces[k])
    /\ Observed
    /\ event' = event + 1
    /\ UNCHANGED k

TraceSpec == TraceInit /\ [][TraceNext]_traceVars

\* Never false: it only tells how far each run is explained.
Progress == PrintT(<<"AT", k, event>>)
=============================================================================
