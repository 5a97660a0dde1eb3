--------------------------- MODULE BarrierRefines ---------------------------
(***************************************************************************)
(* The barriers of a group are places to meet: every step is a step of     *)
(* Rendezvous, or changes nothing there.                                   *)
(***************************************************************************)
EXTENDS MCBarrier

Place(r) == IF Waits(r) THEN CHOOSE b \in Barriers : r \in RanksAt(b) ELSE -1

Abstract == INSTANCE Rendezvous WITH
    Members <- Ranks,
    Places <- Barriers,
    Most <- MaxRounds,
    at <- [r \in Ranks |-> Place(r)],
    met <- passed,
    member <- [r \in Ranks |-> CASE status[r] = "away" -> "out"
                                 [] status[r] = "live" -> "in"
                                 [] status[r] = "dead" -> "dying"
                                 [] status[r] = "lost" -> "lost"]

RefinesRendezvous == Abstract!RendezvousSpec
RefinesFairRendezvous == Abstract!RendezvousFairSpec
=============================================================================
