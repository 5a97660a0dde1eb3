------------------------------ MODULE Connect -------------------------------
(* Connect tasks, each to every rank, as ItemChannel. The contract is spec/connect.toml. *)
EXTENDS ItemChannel
=============================================================================
