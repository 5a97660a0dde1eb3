------------------------------ MODULE Transfer ------------------------------
(***************************************************************************)
(* Transfer tasks: clients issue them, N ranks do each of them, and the    *)
(* host makes one result of what the ranks report. One public call is one  *)
(* action, because the host runs it in one critical section. The contract  *)
(* is spec/transfer.toml: same names, same shapes.                         *)
(*                                                                         *)
(* A task starts in all ranks at once, each having admitted a job for it,  *)
(* or it does not start: a pause comes between two tasks and never inside  *)
(* of one. What a task writes to is its client's again when no rank is at  *)
(* it any more, which may be later than its result: the host knows who may *)
(* be at it (busy), and the client is told.                                *)
(*                                                                         *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents, and the property that   *)
(* the contract names for it fails: MCTransfer_bug_<guard>.cfg.            *)
(***************************************************************************)
EXTENDS TransferPause

CONSTANTS Agreed, RefusalFrees, StartCounts, DoneAfterReport, WithdrawTells, KeepsStarted, FailureTold, FenceFrees,
          EndedStays, InOrder, OverdueHeld, AbandonHolds, FenceSettles, DoneAfterSettle

Guards == <<Agreed, RefusalFrees, StartCounts, DoneAfterReport, WithdrawTells, KeepsStarted, FailureTold, FenceFrees,
            EndedStays, InOrder, OverdueHeld, AbandonHolds, FenceSettles, DoneAfterSettle>>

ASSUME \A i \in DOMAIN Guards : Guards[i] \in BOOLEAN

-----------------------------------------------------------------------------
(* Life of the ranks. *)

Join(r) ==
    /\ status[r] \in {"away", "lost"}
    /\ status' = [status EXCEPT ![r] = "live"]
    /\ open' = [open EXCEPT ![r] = Inside /\ phase = "run"]
    /\ UNCHANGED <<issued, tasks, boxes, vote, pausing, spare, jobs, running>>

Leave(r) ==
    /\ status[r] = "live"
    /\ r \in Leavers
    /\ ~spare[r]
    /\ jobs[r] = {}
    /\ status' = [status EXCEPT ![r] = "away"]
    /\ Lacks(Started, r)
    /\ NotAt(r)
    /\ EndInside(r)
    /\ UNCHANGED <<issued, pausing>>

\* The process is gone, and writes nothing more. The host cannot see it yet.
Crash(r) ==
    /\ status[r] = "live"
    /\ r \in Mortal
    /\ status' = [status EXCEPT ![r] = "dead"]
    /\ running' = [running EXCEPT ![r] = {}]
    /\ UNCHANGED <<issued, tasks, boxes, vote, pausing, open, spare, jobs>>

Fence(r) ==
    /\ status[r] = "dead"
    /\ status' = [status EXCEPT ![r] = "lost"]
    /\ Lacks(IF FenceFrees THEN Queued \cup Started ELSE {}, r)
    /\ IF FenceSettles THEN NotAt(r) ELSE UNCHANGED busy
    /\ EndInside(r)
    /\ UNCHANGED <<issued, pausing>>

\* The process is gone, and had not done anything here.
Vanish(r) ==
    /\ status[r] = "away"
    /\ r \in Silent
    /\ status' = [status EXCEPT ![r] = "lost"]
    /\ Lacks(IF FenceFrees THEN Queued ELSE {}, r)
    /\ UNCHANGED <<issued, busy, vote, pausing, inside>>

\* A process acts for the rank again.
Reappear(r) ==
    /\ status[r] = "lost"
    /\ status' = [status EXCEPT ![r] = "away"]
    /\ UNCHANGED <<issued, tasks, boxes, vote, pausing, inside>>

-----------------------------------------------------------------------------
(* Clients. *)

Issue(c, k) ==
    /\ c \notin gone
    /\ Len(state) < MaxIssued
    /\ Cardinality(Queued) < Capacity
    /\ \A r \in Ranks : status[r] # "lost"
    /\ owner' = Append(owner, c)
    /\ kind' = Append(kind, k)
    /\ state' = Append(state, "queued")
    /\ reports' = Append(reports, {})
    /\ without' = Append(without, {})
    /\ busy' = Append(busy, {})
    /\ UNCHANGED <<boxes, status, vote, pausing, inside>>

Cancel(set) ==
    /\ set # {}
    /\ state' = [n \in Numbers |-> IF n \in set THEN "cancelled" ELSE state[n]]
    /\ IF WithdrawTells THEN Post(set) ELSE UNCHANGED results
    /\ UNCHANGED <<issued, reports, without, busy, hand, handled, held, gone, status, vote, pausing, inside>>

Withdraw(c) ==
    /\ c \notin gone
    /\ Cancel({n \in Queued \cup (IF KeepsStarted THEN {} ELSE Started) : owner[n] = c})

Clear == Cancel(Queued) /\ TRUE

\* Ranks may be at it still.
Abandon(n) ==
    /\ n \in Started
    /\ owner[n] \in Impatient \ gone
    /\ without' = [without EXCEPT ![n] = Ranks \ Reported(n)]
    /\ state' = [state EXCEPT ![n] = "failed"]
    /\ busy' = [busy EXCEPT ![n] = IF AbandonHolds THEN @ ELSE {}]
    /\ Post({n})
    /\ UNCHANGED <<issued, reports, hand, handled, held, gone, status, vote, pausing, inside>>

Handled(c) == handled' = handled \cup ({hand[c]} \ {0})

\* What the client took before was handled, because it asks for the next. The result says whether ranks may be at it.
HandOut(c) ==
    /\ results[c] # <<>>
    /\ Handled(c)
    /\ hand' = [hand EXCEPT ![c] = Head(results[c])]
    /\ results' = [results EXCEPT ![c] = Tail(@)]
    /\ held' = [held EXCEPT ![c] = IF busy[hand'[c]] # {} THEN @ \cup {hand'[c]} ELSE @]
    /\ UNCHANGED <<issued, tasks, gone, status, vote, pausing, inside>>

Acknowledge(c) ==
    /\ hand[c] # 0
    /\ Handled(c)
    /\ hand' = [hand EXCEPT ![c] = 0]
    /\ UNCHANGED <<issued, tasks, results, held, gone, status, vote, pausing, inside>>

\* The client is told that no rank is at a task any more.
Settled(c, n) ==
    /\ n \in held[c]
    /\ busy[n] = {}
    /\ held' = [held EXCEPT ![c] = @ \ {n}]
    /\ UNCHANGED <<issued, tasks, results, hand, handled, gone, status, vote, pausing, inside>>

Gone(c) ==
    /\ c \in Frail \ gone
    /\ gone' = gone \cup {c}
    /\ state' = [n \in Numbers |-> IF n \in Queued /\ owner[n] = c THEN "cancelled" ELSE state[n]]
    /\ results' = [results EXCEPT ![c] = <<>>]
    /\ hand' = [hand EXCEPT ![c] = 0]
    /\ held' = [held EXCEPT ![c] = {}]
    /\ UNCHANGED <<issued, reports, without, busy, handled, status, vote, pausing, inside>>

-----------------------------------------------------------------------------
(* From queued to started. *)

\* A job is admitted before the rank has a task for it: what is started was counted before.
Admit(r) ==
    /\ Inside
    /\ status[r] = "live"
    /\ open[r]
    /\ ~spare[r]
    /\ spare' = [spare EXCEPT ![r] = TRUE]
    /\ UNCHANGED <<issued, tasks, boxes, status, vote, pausing, open, jobs, running>>

Ready(r) == status[r] = "live" /\ (Inside => spare[r])
Vote(r, what) ==
    /\ vote' = [vote EXCEPT ![r] = what]
    /\ UNCHANGED <<issued, tasks, boxes, status, pausing, inside>>

Accept(r) == Vote(r, "yes") /\ Ready(r) /\ vote[r] # "yes" /\ Queued # {}

\* The rank's gate is shut: the others are not to wait for it.
Refuse(r) == Vote(r, "no") /\ status[r] = "live" /\ vote[r] = "none" /\ ~spare[r] /\ ~open[r]

\* The rank would be ready again, and no task waits.
Return(r) == Vote(r, "none") /\ Ready(r) /\ vote[r] = "no" /\ Queued = {}

CanStart ==
    /\ Queued # {}
    /\ IF Agreed THEN \A r \in Ranks : vote[r] = "yes" ELSE \E r \in Ranks : vote[r] = "yes"

\* The rank stops waiting for the others.
BackOff(r) ==
    /\ Vote(r, "none")
    /\ vote[r] = "yes"
    /\ ~CanStart
    /\ \/ Hasty
       \/ Queued = {}
       \/ RefusalFrees /\ \E o \in Ranks : vote[o] = "no"
       \/ \E o \in Ranks : status[o] \notin {"live", "dead"}

\* The job that was admitted for nothing ends.
Release(r) ==
    /\ status[r] = "live"
    /\ spare[r]
    /\ vote[r] # "yes"
    /\ spare' = [spare EXCEPT ![r] = FALSE]
    /\ UNCHANGED <<issued, tasks, boxes, status, vote, pausing, open, jobs, running>>

First(set) == CHOOSE n \in set : \A m \in set : n <= m

\* In all ranks, at one point of the order.
Start ==
    /\ CanStart
    /\ LET n == First(Queued)
           begin == {r \in Ranks : vote[r] = "yes"}
       IN /\ state' = [state EXCEPT ![n] = "started"]
          /\ vote' = [r \in Ranks |-> IF r \in begin THEN "none" ELSE vote[r]]
          /\ spare' = [r \in Ranks |-> IF r \in begin THEN FALSE ELSE spare[r]]
          /\ jobs' = [r \in Ranks |-> IF Inside /\ StartCounts /\ r \in begin THEN jobs[r] \cup {n} ELSE jobs[r]]
          /\ busy' = [busy EXCEPT ![n] = Ranks]
          /\ running' = [r \in Ranks |->
                IF Inside /\ r \in begin /\ status[r] = "live" THEN running[r] \cup {n} ELSE running[r]]
    /\ UNCHANGED <<issued, reports, without, boxes, status, pausing, open>>

-----------------------------------------------------------------------------
(* From started to ended. *)

\* A handler has returned, or will not be called: it writes nothing more.
Finish(r, n) ==
    /\ status[r] = "live"
    /\ n \in running[r]
    /\ running' = [running EXCEPT ![r] = @ \ {n}]
    /\ UNCHANGED <<issued, tasks, boxes, status, vote, pausing, open, spare, jobs>>

\* A rank speaks of a task that it has. What has ended stays as it is.
MayReport(r, n) ==
    /\ n \in Numbers
    /\ status[r] = "live"
    /\ state[n] = "started" \/ (~EndedStays /\ state[n] = "failed")
    /\ Inside /\ StartCounts /\ DoneAfterReport /\ EndedStays => n \in jobs[r]
    /\ r \notin Reported(n)
    /\ EndedStays => r \notin without[n]

Report(r, n, ok, stays) ==
    /\ MayReport(r, n)
    /\ LET said == reports[n] \cup {[rank |-> r, ok |-> ok]}
           how == IF state[n] = "started" THEN Outcome(said, without[n]) ELSE "failed"
       IN /\ reports' = [reports EXCEPT ![n] = said]
          /\ state' = [state EXCEPT ![n] = how]
          /\ IF how = "started" THEN UNCHANGED results ELSE Post({n})
    /\ busy' = [busy EXCEPT ![n] = IF stays THEN @ ELSE @ \ {r}]
    /\ UNCHANGED <<issued, without, hand, handled, held, gone, status, vote, pausing, inside>>

Older(r, n) == {m \in jobs[r] : m < n /\ kind[m] = kind[n]}

ReportOk(r, n) ==
    /\ n \notin running[r]
    /\ Report(r, n, TRUE, FALSE)
    /\ InOrder => Older(r, n) = {}

ReportFailed(r, n) ==
    /\ r \in Failing
    /\ n \notin running[r]
    /\ IF FailureTold
       THEN Report(r, n, FALSE, FALSE)
       ELSE /\ MayReport(r, n)
            /\ n \in jobs[r]
            /\ jobs' = [jobs EXCEPT ![r] = @ \ {n}]
            /\ UNCHANGED <<issued, tasks, boxes, status, vote, pausing, open, spare, running>>

\* The limit is over and the handler runs on: the task has failed, and the rank is at it.
Overdue(r, n) ==
    /\ r \in Slow
    /\ Inside => n \in running[r]
    /\ Report(r, n, FALSE, OverdueHeld)

\* The handler of a rank has ended that is at the task after its own report, or after the task's end.
Settle(r, n) ==
    /\ n \in Numbers
    /\ status[r] = "live"
    /\ r \in busy[n]
    /\ r \in Reported(n) \/ state[n] # "started"
    /\ n \notin running[r]
    /\ busy' = [busy EXCEPT ![n] = @ \ {r}]
    /\ UNCHANGED <<issued, state, reports, without, boxes, status, vote, pausing, inside>>

\* The job ends after all that the rank has to say: what has been told of a pause finds every result, and nobody at it.
JobDone(r, n) ==
    /\ status[r] = "live"
    /\ n \in jobs[r]
    /\ n \notin running[r]
    /\ DoneAfterReport => /\ r \in Reported(n) \/ state[n] # "started"
                          /\ DoneAfterSettle => r \notin busy[n]
    /\ jobs' = [jobs EXCEPT ![r] = @ \ {n}]
    /\ UNCHANGED <<issued, tasks, boxes, status, vote, pausing, open, spare, running>>

-----------------------------------------------------------------------------
Next ==
    \/ \E r \in Ranks : Join(r)
    \/ \E r \in Ranks : Leave(r)
    \/ \E r \in Ranks : Crash(r)
    \/ \E r \in Ranks : Fence(r)
    \/ \E r \in Ranks : Vanish(r)
    \/ \E r \in Ranks : Reappear(r)
    \/ \E c \in Clients : \E k \in 1 .. Kinds : Issue(c, k)
    \/ \E c \in Clients : Withdraw(c)
    \/ Clear
    \/ \E n \in 1 .. MaxIssued : Abandon(n)
    \/ \E c \in Clients : HandOut(c)
    \/ \E c \in Clients : Acknowledge(c)
    \/ \E c \in Clients : \E n \in 1 .. MaxIssued : Settled(c, n)
    \/ \E c \in Clients : Gone(c)
    \/ \E r \in Ranks : Admit(r)
    \/ \E r \in Ranks : Accept(r)
    \/ \E r \in Ranks : Refuse(r)
    \/ \E r \in Ranks : Return(r)
    \/ \E r \in Ranks : BackOff(r)
    \/ \E r \in Ranks : Release(r)
    \/ Start
    \/ \E r \in Ranks : \E n \in 1 .. MaxIssued : Finish(r, n)
    \/ \E r \in Ranks : \E n \in 1 .. MaxIssued : ReportOk(r, n)
    \/ \E r \in Ranks : \E n \in 1 .. MaxIssued : ReportFailed(r, n)
    \/ \E r \in Ranks : \E n \in 1 .. MaxIssued : Overdue(r, n)
    \/ \E r \in Ranks : \E n \in 1 .. MaxIssued : Settle(r, n)
    \/ \E r \in Ranks : \E n \in 1 .. MaxIssued : JobDone(r, n)
    \/ Stop
    \/ \E r \in Ranks : Order(r)
    \/ Still
    \/ Resume

Spec == Init /\ [][Next]_vars
=============================================================================
