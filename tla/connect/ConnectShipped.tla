--------------------------- MODULE ConnectShipped ---------------------------
(* put_connect_rdma_task and get_connect_rdma_task as shipped: a get does not look at the rank's own flag. *)
EXTENDS FlagChannelShipped
ASSUME ~OwnFlag
=============================================================================
