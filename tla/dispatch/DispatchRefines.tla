-------------------------- MODULE DispatchRefines --------------------------
(***************************************************************************)
(* Dispatch is a broadcast channel: every step is a step of Broadcast, or  *)
(* changes nothing there. Three history variables keep what Dispatch       *)
(* forgets; they are derived from each step by what it did to the log, and *)
(* restrict nothing.                                                       *)
(***************************************************************************)
EXTENDS MCDispatch

VARIABLES sent, dropped, skipped

refVars == <<vars, sent, dropped, skipped>>

NewIds == SelectSeq([i \in DOMAIN log' |-> log'[i].id], LAMBDA id : id \notin Ids(log))

\* Batches that a rank gave up by coming back after a loss.
MissedNow(r) ==
    IF status[r] = "lost" /\ status'[r] = "live"
    THEN {log[i].id : i \in {j \in DOMAIN log :
            /\ r \notin log[j].taken
            /\ \A n \in DOMAIN log' : log'[n].id = log[j].id => r \in log'[n].taken}}
    ELSE {}

\* Batches that left the log though a rank has neither got nor missed them.
DroppedNow == {log[i].id : i \in {j \in Dropped :
                  \E r \in Ranks : log[j].id \notin Range(got'[r]) \cup skipped[r] \cup MissedNow(r)}}

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

\* What is retained is what is under way.
LogIsPending == Ids(log) = Abstract!Pending
=============================================================================
