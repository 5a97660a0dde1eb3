-------------------------- MODULE CacheInfoRefines --------------------------
(* CacheInfo is a broadcast channel. *)
EXTENDS CacheInfo, ItemChannelRefines
=============================================================================
