--------------------------- MODULE BitmaskRefines ---------------------------
(***************************************************************************)
(* Bitmask is Dispatch, with taken = the ranks whose bit is set; and it is *)
(* a broadcast channel. The other direction: DispatchRefinesBitmask.tla.   *)
(* History variables as in DispatchRefines.                                *)
(***************************************************************************)
EXTENDS MCBitmask

VARIABLES sent, dropped, skipped

refVars == <<vars, sent, dropped, skipped>>

Taken(mask) == {r \in Ranks : HasBit(mask, r)}

AsDispatch == INSTANCE Dispatch WITH
    log <- [i \in DOMAIN queue |-> [id |-> queue[i].id, epoch |-> queue[i].epoch, taken |-> Taken(queue[i].mask)]],
    GuardOwnRead <- TRUE, IdleGetKeepsExist <- TRUE, ClearLowersExist <- TRUE, ClearKeepsStarted <- TRUE,
    ClearOncePerEpoch <- TRUE, FenceFrees <- TRUE, PutsInOrder <- TRUE, LowerInside <- TRUE, FenceWithdraws <- TRUE,
    FencedCannotRead <- TRUE, JoinSkips <- TRUE

RefinesDispatch == AsDispatch!Spec

-----------------------------------------------------------------------------
NewIds == SelectSeq([i \in DOMAIN queue' |-> queue'[i].id], LAMBDA id : id \notin Ids(queue))

MissedNow(r) ==
    IF status[r] = "lost" /\ status'[r] = "live"
    THEN {queue[i].id : i \in {j \in DOMAIN queue :
            /\ ~HasBit(queue[j].mask, r)
            /\ \A n \in DOMAIN queue' : queue'[n].id = queue[j].id => HasBit(queue'[n].mask, r)}}
    ELSE {}

DroppedNow == {id \in Ids(queue) \ {queue'[i].id : i \in DOMAIN queue'} :
                  \E r \in Ranks : id \notin Range(got'[r]) \cup skipped[r] \cup MissedNow(r)}

RefInit == Init /\ sent = <<>> /\ dropped = {} /\ skipped = [r \in Ranks |-> {}]

RefNext ==
    /\ Next
    /\ sent' = sent \o NewIds
    /\ dropped' = dropped \cup DroppedNow
    /\ skipped' = [r \in Ranks |-> skipped[r] \cup MissedNow(r)]

RefSpec == RefInit /\ [][RefNext]_refVars
RefFairSpec == RefSpec /\ Fairness

Abstract == INSTANCE Broadcast WITH
    Readers <- Ranks,
    Messages <- 1 .. MaxCalls,
    Epochs <- 0 .. MaxEpoch,
    reader <- [r \in Ranks |-> CASE status[r] = "away" -> "out"
                                 [] status[r] = "live" -> "in"
                                 [] status[r] = "dead" -> "dying"
                                 [] status[r] = "lost" -> "lost"],
    writer <- \E p \in Producers : producer[p] # "down"

RefinesBroadcast == Abstract!BroadcastSpec
RefinesFairBroadcast == Abstract!BroadcastFairSpec
QueueIsPending == Ids(queue) = Abstract!Pending
=============================================================================
