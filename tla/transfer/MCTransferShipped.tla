------------------------- MODULE MCTransferShipped -------------------------
(* What should hold of TransferShipped, and does in a guarded environment only. *)
EXTENDS TransferShipped

TypeOK ==
    /\ \A i \in DOMAIN queue : queue[i] \in 1 .. issued
    /\ mask \subseteq Ranks
    /\ {flag, signal, reset} \subseteq BOOLEAN
    /\ told \in [Ranks -> BOOLEAN]
    /\ active \in [Ranks -> BOOLEAN]
    /\ inflight \in [Ranks -> Nat]
    /\ pool \in [Ranks -> {"idle", "first", "run", "second", "dead"}]
    /\ \A r \in Ranks : \A i \in DOMAIN backlog[r] : backlog[r][i] \in 1 .. issued
    /\ issued \in 0 .. MaxTasks
    /\ done \cup dropped \subseteq 1 .. issued
    /\ pausing \in {"idle", "wait", "paused"}
    /\ pauses \in 0 .. MaxPauses
    /\ erred \subseteq Raisers \cup Faulty

Barriers == {"barrier0", "barrier1", "barrier2", "barrier3"}

\* P5.1, P5.2, P5.7: the loops do not all wait, at different barriers.
InStep == (\A r \in Ranks : pc[r] \in Barriers) => \E b \in Barriers : All(b)

\* P5.3: what is counted has been submitted and has not ended, when no read is under way.
CountsTasks == \A r \in Ranks : pc[r] \in {"top", "barrier0"} => inflight[r] = Len(backlog[r])

\* P4.1: nobody waits at the second barrier for a thread that has ended.
SwapTogether == ~\E r, o \in Ranks : pool[r] = "second" /\ pool[o] = "dead"

\* P5.5: what was read is done.
NothingDropped == dropped = {}

\* P5.9: when a pause has returned, nobody does a task.
PausedIsQuiet == pausing = "paused" => \A r \in Ranks : backlog[r] = <<>>

\* B10: no rank is held by its pause before a task that another has read.
NoHalfHead == ~\E r \in Ranks : pc[r] = "get" /\ Held(r) /\ mask # {} /\ r \notin mask

\* B08: a reset does not wait for tasks that nobody will read before it has ended.
ResetCanEnd == ~(reset /\ pausing = "paused" /\ queue # <<>> /\ \A r \in Ranks : ~active[r])
=============================================================================
