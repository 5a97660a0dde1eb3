--------------------------- MODULE ConnectRefines ---------------------------
(* Connect is a broadcast channel. *)
EXTENDS Connect, ItemChannelRefines
=============================================================================
