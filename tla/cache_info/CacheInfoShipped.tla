-------------------------- MODULE CacheInfoShipped --------------------------
(* put_cache_info and get_cache_info as shipped: a get looks at the rank's own flag. *)
EXTENDS FlagChannelShipped
ASSUME OwnFlag
=============================================================================
