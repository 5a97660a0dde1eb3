---------------------------- MODULE TraceCounter ----------------------------
(***************************************************************************)
(* Is a recorded run of processes that add, or compare and set, a          *)
(* behaviour of Counter?                                                   *)
(*                                                                         *)
(* The lock gives the records an order: who has it notes what it does      *)
(* before it gives it back.                                                *)
(*                                                                         *)
(* TraceData is generated for each run of TLC:                             *)
(*   Traces   sequence of runs; an event is a tuple <<action, process,     *)
(*            value, victim>>. value is what was loaded or stored, and -1  *)
(*            of Lock and Unlock; victim is the process of the run that    *)
(*            was killed. The last event may be End: the value when all    *)
(*            had ended                                                    *)
(*                                                                         *)
(* A run is accepted if its last event is explained. <<"AT", k, i>> says   *)
(* that run k is explained up to event i - 1.                              *)
(***************************************************************************)
EXTENDS Counter, Sequences, TraceData, TLC

VARIABLES
    k,      \* which run
    at      \* its next event

traceVars == <<k, at, vars>>

TraceInit == Init /\ k \in DOMAIN Traces /\ at = 1

Event == Traces[k][at]
Name == Event[1]
Who == Event[2]
Value == Event[3]
Victim == Event[4]

Observed ==
    \/ Name = "Lock" /\ Lock(Who)
    \/ Name = "LoadOld" /\ LoadOld(Who) /\ old'[Who] = Value
    \/ Name = "StoreSum" /\ StoreSum(Who) /\ value' = Value
    \/ Name = "StoreIf" /\ StoreIf(Who) /\ value' = Value
    \/ Name = "Unlock" /\ Unlock(Who)
    \/ Name = "End" /\ value = Value /\ UNCHANGED vars

\* Nobody notes a kill: it is allowed before any event.
Unseen == Kill(Victim)

TraceNext ==
    /\ at <= Len(Traces[k])
    /\ UNCHANGED k
    /\ \/ Observed /\ at' = at + 1
       \/ Unseen /\ UNCHANGED at

TraceSpec == TraceInit /\ [][TraceNext]_traceVars

\* Never false: it only tells how far each run is explained.
Progress == PrintT(<<"AT", k, at>>)
=============================================================================
