------------------------------ MODULE TraceFmq ------------------------------
(***************************************************************************)
(* Is a recorded run a behaviour of Fmq? The handles of a queue record     *)
(* what they do in one sequence, and each event must be one action, with   *)
(* the numbers that were recorded.                                         *)
(*                                                                         *)
(* TraceData is generated for each run of TLC:                             *)
(*   Traces   sequence of runs; an event is a tuple <<action, producer,    *)
(*            c or k, number, base, again>>; what an action has not is 0   *)
(*                                                                         *)
(* A run is accepted if its last event is explained. <<"AT", k, i>> says   *)
(* that run k is explained up to event i - 1.                              *)
(***************************************************************************)
EXTENDS MCFmq, TraceData, TLC

VARIABLES
    run,    \* which run
    at      \* its next event

traceVars == <<run, at, vars>>

TraceInit == Init /\ run \in DOMAIN Traces /\ at = 1

Event == Traces[run][at]
Name == Event[1]
Who == Event[2]
Which == Event[3]
Number == Event[4]
Base == Event[5]

\* What is read is the message that was recorded.
Recorded == Readable(Who, Which) /\ First(Who, Which) = [n |-> Number, base |-> Base]

Observed ==
    \/ Name = "Put" /\ Put(Who) /\ sent'[Who] = Number /\ base[Who] = Base
    \/ Name = "Connect" /\ Connect(Who) /\ base'[Who] = Base /\ Len(flow'[Who][Len(flow'[Who])]) = Event[6]
    \/ Name = "Cut" /\ Cut(Who, Which)
    \/ Name = "End" /\ End(Who, Which)
    \/ Name = "HearAck" /\ HearAck(Who) /\ Head(ack[Who]) = Number
    \/ Name = "StartConsumer" /\ StartConsumer
    \/ Name = "EndConsumer" /\ EndConsumer
    \/ Name = "Take" /\ Recorded /\ Take(Who, Which)
    \/ Name = "Skip" /\ Recorded /\ Skip(Who, Which)
    \/ Name = "Drop" /\ Recorded /\ Drop(Who, Which)
    \/ Name = "Finish" /\ Finish(Who) /\ done'[Who] = Number
    \/ Name = "Acknowledge" /\ Acknowledge(Who) /\ told'[Who] = Number
    \/ Name = "Reclaim" /\ Reclaim(Who) /\ last[Who] = Number
    \/ Name = "Sweep" /\ Sweep

\* A payload is written in the call that puts its message.
Unseen == Name = "Put" /\ Number \in Large /\ Write(Who)

More == at <= Len(Traces[run])

TraceNext ==
    /\ More
    /\ UNCHANGED run
    /\ \/ Observed /\ at' = at + 1
       \/ Unseen /\ UNCHANGED at

TraceSpec == TraceInit /\ [][TraceNext]_traceVars

\* Never false: it only tells how far each run is explained.
Progress == PrintT(<<"AT", run, at>>)
=============================================================================
