-------------------------- MODULE LayerwiseRefines --------------------------
(* Layer-wise sending is a stream of layers: every step is a step of LayerStream, or changes nothing there. *)
EXTENDS MCLayerwise

SentOf(r, t) ==
    LET records == {[task |-> x.task, sent |-> x.sent] : x \in Range(tasks[r]) \cup Range(done[r])}
        mine == {x \in records : x.task = t}
    IN  IF mine = {} THEN 0 ELSE (CHOOSE x \in mine : TRUE).sent

Stream == INSTANCE LayerStream WITH
    Senders <- Ranks,
    Number <- Infos,
    Layers <- L,
    out <- [r \in Ranks |-> [i \in 1 .. Infos |-> SentOf(r, InfoNumber(i))]],
    closed <- [r \in Ranks |-> Len(done[r])]

RefinesStream == Stream!StreamSpec
=============================================================================
