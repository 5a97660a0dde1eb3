----------------------------- MODULE Handshake -----------------------------
(***************************************************************************)
(* What a reader of the status word may see of rearrangements: 0 free,     *)
(* 1 doing, 2 loaded, 3 done. One request at a time; a request that fails  *)
(* goes back to free, from wherever it was, but not once it is done.       *)
(***************************************************************************)
EXTENDS Naturals

VARIABLES
    word,       \* the status word
    asked       \* how many requests there have been

handshake == <<word, asked>>

HandshakeInit == word = 0 /\ asked = 0

Start == word = 0 /\ word' = 1 /\ asked' = asked + 1
Loads == word = 1 /\ word' = 2 /\ UNCHANGED asked
Finish == word = 2 /\ word' = 3 /\ UNCHANGED asked
Fail == word \in {1, 2} /\ word' = 0 /\ UNCHANGED asked
Release == word = 3 /\ word' = 0 /\ UNCHANGED asked

HandshakeNext == Start \/ Loads \/ Finish \/ Fail \/ Release

HandshakeSpec == HandshakeInit /\ [][HandshakeNext]_handshake
=============================================================================
