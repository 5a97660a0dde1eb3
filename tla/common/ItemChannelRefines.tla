------------------------- MODULE ItemChannelRefines -------------------------
(* An item channel is a broadcast channel. History variables as in DispatchRefines. *)
EXTENDS ItemChannel, DispatchRefines

ItemRefNext ==
    /\ ItemNext
    /\ sent' = sent \o NewIds
    /\ dropped' = dropped \cup DroppedNow
    /\ skipped' = [r \in Ranks |-> skipped[r] \cup MissedNow(r)]

ItemRefSpec == RefInit /\ [][ItemRefNext]_refVars
=============================================================================
