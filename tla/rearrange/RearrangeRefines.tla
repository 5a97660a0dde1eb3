-------------------------- MODULE RearrangeRefines --------------------------
(* What a reader of the status word sees of Rearrange is Handshake: requests do not overlap, and do not skip states. *)
EXTENDS MCRearrange

Word ==
    CASE phase = "FREE" -> 0
      [] phase \in {"ASKED", "DOING"} -> 1
      [] phase \in {"LOAD_SUCC", "UPDATING"} -> 2
      [] phase = "DONE" -> 3

Abstract == INSTANCE Handshake WITH word <- Word, asked <- Running

RefinesHandshake == Abstract!HandshakeSpec
=============================================================================
