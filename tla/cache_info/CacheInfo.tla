----------------------------- MODULE CacheInfo ------------------------------
(* Lists of cache infos, each to every rank, as ItemChannel. The contract is spec/cache_info.toml. *)
EXTENDS ItemChannel
=============================================================================
