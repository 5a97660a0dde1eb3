--------------------------- MODULE SignalRefines ---------------------------
(***************************************************************************)
(* Step by step or at once: every step of Signal is a step of Segments, or *)
(* changes nothing there. A create takes place at its Publish, an attach   *)
(* at its Open, a clear at its Unlink.                                     *)
(***************************************************************************)
EXTENDS MCSignal

Opened(p) == {i \in {seen[p]} \ {Nothing} : pc[p] \in {"check", "attach-leave"} /\ content[i] = "whole"}

Abstract == INSTANCE Segments WITH
    Actors <- Processes,
    Things <- Files,
    Bold <- Insisters,
    current <- IF name # Nothing /\ content[name] = "foreign" THEN -1 ELSE name,
    owner <- [p \in Processes |-> owned[p] \ ({made[p]} \ {name})],
    user <- [p \in Processes |-> attached[p] \cup Opened(p)],
    told <- {i \in Files : mark[i] # 0 /\ i # name}

RefinesSegments == Abstract!SegmentsSpec
=============================================================================
