--------------------------- MODULE TransferState ---------------------------
(* The constants and variables of Transfer, and what several of its actions do: a task ends, a rank goes. *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    N,              \* number of ranks
    C,              \* number of clients
    Kinds,          \* number of kinds of tasks
    MaxIssued,      \* bound: tasks
    Capacity,       \* most tasks that wait to start
    MaxPauses,      \* bound: pauses
    Leavers,        \* ranks that may leave
    Mortal,         \* ranks that may crash
    Silent,         \* ranks whose process may end before it has done anything here
    Failing,        \* ranks that may fail at a task
    Slow,           \* ranks whose handlers may run over their limit
    Frail,          \* clients that may be gone
    Impatient,      \* clients that may stop waiting for a task that has started
    Hasty,          \* the wait for the other ranks may end by its time limit
    Inside          \* what happens inside the ranks is seen

Ranks == 0 .. N - 1
Clients == 1 .. C

ASSUME /\ {N, C, Kinds, Capacity} \subseteq Nat \ {0}
       /\ {MaxIssued, MaxPauses} \subseteq Nat
       /\ Leavers \cup Mortal \cup Silent \cup Failing \cup Slow \subseteq Ranks
       /\ Frail \cup Impatient \subseteq Clients
       /\ {Hasty, Inside} \subseteq BOOLEAN

VARIABLES
    owner,          \* of each task: the client that issued it
    kind,           \* of each task
    state,          \* of each task
    reports,        \* of each task: what ranks reported
    without,        \* of each task: ranks that will not report
    busy,           \* of each task: ranks that may be at it, as far as the host knows
    results,        \* of each client: tasks whose result was posted and not taken
    hand,           \* of each client: the result that it took last and is handling; 0 is none
    handled,        \* history: tasks whose result was handled
    held,           \* of each client: tasks whose result said that ranks may be at it, until it is told that none is
    gone,           \* clients that are gone
    status,         \* life of each rank
    vote,           \* of each rank, about the oldest task that waits
    phase,          \* of the pause: "run", "stop" (ordered), "still" (reached)
    pauses,         \* number of pauses so far
    open,           \* of each rank: may a job be admitted?
    spare,          \* of each rank: it has admitted a job for a task that it does not have yet
    jobs,           \* of each rank: tasks whose job was admitted and has not ended
    running         \* of each rank: tasks whose handler may write, now or later. The truth, which no host sees

vars == <<owner, kind, state, reports, without, busy, results, hand, handled, held, gone, status, vote, phase, pauses,
          open, spare, jobs, running>>
issued == <<owner, kind>>
tasks == <<state, reports, without, busy>>
boxes == <<results, hand, handled, held, gone>>
inside == <<open, spare, jobs, running>>
pausing == <<phase, pauses>>

Init ==
    /\ owner = <<>>
    /\ kind = <<>>
    /\ state = <<>>
    /\ reports = <<>>
    /\ without = <<>>
    /\ busy = <<>>
    /\ results = [c \in Clients |-> <<>>]
    /\ hand = [c \in Clients |-> 0]
    /\ handled = {}
    /\ held = [c \in Clients |-> {}]
    /\ gone = {}
    /\ status = [r \in Ranks |-> "away"]
    /\ vote = [r \in Ranks |-> "none"]
    /\ phase = "run"
    /\ pauses = 0
    /\ open = [r \in Ranks |-> FALSE]
    /\ spare = [r \in Ranks |-> FALSE]
    /\ jobs = [r \in Ranks |-> {}]
    /\ running = [r \in Ranks |-> {}]

Numbers == DOMAIN state
Queued == {n \in Numbers : state[n] = "queued"}
Started == {n \in Numbers : state[n] = "started"}
Ended(n) == state[n] \in {"ok", "failed", "cancelled"}
Reported(n) == {a.rank : a \in reports[n]}

-----------------------------------------------------------------------------
(* The end of tasks. Several may end in one step: their results are posted in the order of their numbers. *)

RECURSIVE InOrderOf(_)
InOrderOf(set) ==
    IF set = {} THEN <<>>
    ELSE LET first == CHOOSE n \in set : \A m \in set : n <= m IN <<first>> \o InOrderOf(set \ {first})

\* The results of these tasks go to their owners, unless those are gone.
Post(set) == results' = [c \in Clients |->
    IF c \in gone THEN results[c] ELSE results[c] \o InOrderOf({n \in set : owner[n] = c})]

\* How a task ends with these reports and these ranks missing; "started" if it has to wait.
Outcome(said, lacking) ==
    IF {a.rank : a \in said} \cup lacking # Ranks THEN "started"
    ELSE IF lacking = {} /\ \A a \in said : a.ok THEN "ok" ELSE "failed"

\* Rank r will report nothing of the tasks in set.
Lacks(set, r) ==
    LET lacking == {n \in set : r \notin Reported(n)}
        missing == [n \in Numbers |-> IF n \in lacking THEN without[n] \cup {r} ELSE without[n]]
        after == [n \in Numbers |->
            IF n \notin lacking THEN state[n]
            ELSE IF state[n] = "queued" THEN "failed" ELSE Outcome(reports[n], missing[n])]
    IN /\ without' = missing
       /\ state' = after
       /\ Post({n \in lacking : after[n] # "started"})
       /\ UNCHANGED <<reports, hand, handled, held, gone>>

\* The rank is at no task any more.
NotAt(r) == busy' = [n \in Numbers |-> busy[n] \ {r}]

\* Nobody acts for the rank any more.
EndInside(r) ==
    /\ vote' = [vote EXCEPT ![r] = "none"]
    /\ open' = [open EXCEPT ![r] = FALSE]
    /\ spare' = [spare EXCEPT ![r] = FALSE]
    /\ jobs' = [jobs EXCEPT ![r] = {}]
    /\ running' = [running EXCEPT ![r] = {}]
=============================================================================
