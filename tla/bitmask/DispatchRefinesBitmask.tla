----------------------- MODULE DispatchRefinesBitmask -----------------------
(* Dispatch is Bitmask, with the bits of the ranks that have taken. With BitmaskRefines.tla: they are the same. *)
EXTENDS Dispatch

RECURSIVE Sum(_)
Sum(S) == IF S = {} THEN 0 ELSE LET r == CHOOSE x \in S : TRUE IN 2 ^ r + Sum(S \ {r})

AsBitmask == INSTANCE Bitmask WITH
    queue <- [i \in DOMAIN log |-> [id |-> log[i].id, epoch |-> log[i].epoch, mask |-> Sum(log[i].taken)]],
    PutKeepsMask <- TRUE, ClearKeepsStarted <- TRUE, FenceFrees <- TRUE

RefinesBitmask == AsBitmask!Spec
=============================================================================
