--------------------------- MODULE TransferPause ---------------------------
(* The pause protocol, as far as it is seen from the loops of Transfer. tla/pause has all of it. *)
EXTENDS TransferState

Stop ==
    /\ phase = "run"
    /\ pauses < MaxPauses
    /\ phase' = "stop"
    /\ pauses' = pauses + 1
    /\ UNCHANGED <<issued, tasks, boxes, status, vote, inside>>

\* A rank takes the latest order.
Order(r) ==
    /\ Inside
    /\ status[r] = "live"
    /\ open[r] # (phase = "run")
    /\ open' = [open EXCEPT ![r] = ~@]
    /\ UNCHANGED <<issued, tasks, boxes, status, vote, pausing, spare, jobs, running>>

Still ==
    /\ phase = "stop"
    /\ \A r \in Ranks : status[r] \in {"away", "lost"} \/ (~open[r] /\ ~spare[r] /\ jobs[r] = {})
    /\ phase' = "still"
    /\ UNCHANGED <<issued, tasks, boxes, status, vote, pauses, inside>>

Resume ==
    /\ phase = "still"
    /\ phase' = "run"
    /\ UNCHANGED <<issued, tasks, boxes, status, vote, pauses, inside>>
=============================================================================
