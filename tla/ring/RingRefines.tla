----------------------------- MODULE RingRefines -----------------------------
(***************************************************************************)
(* The ring is a broadcast, seen by who puts and gets: a message is sent   *)
(* when its put returns, and received when its get does. Here no rank is   *)
(* given up and nothing is taken back: a rank that is lost does not hold   *)
(* the ring up, and a clear is no single step; for both, MCRing has the    *)
(* invariants. Every rank has entered at the start.                        *)
(***************************************************************************)
EXTENDS MCRing

AllIn == [r \in Ranks |-> "in"]

Abstract == INSTANCE Broadcast WITH
    Readers <- Ranks,
    Messages <- 1 .. Puts,
    Depth <- N,
    Epochs <- {0},
    sent <- [i \in 1 .. sent |-> i],
    skipped <- [r \in Ranks |-> {}],
    epoch <- 0,
    reader <- AllIn,
    writer <- TRUE

RefinesBroadcast ==
    /\ sent = 0 /\ \A r \in Ranks : got[r] = <<>>
    /\ [][Abstract!BroadcastNext]_(Abstract!broadcastVars)
=============================================================================
