------------------------------- MODULE Status ------------------------------
(***************************************************************************)
(* K components with N parts each are cleared and restored, in stages, by  *)
(* one request at a time. One public call is one action, because the host  *)
(* runs it in one critical section; what follows from it (Settle,          *)
(* NextStage, Finish, Fail) comes in the same section. The contract is     *)
(* spec/status.toml: same names, same shapes.                              *)
(*                                                                         *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents, and the property that   *)
(* the contract names for it fails: MCStatus_bug_<guard>.cfg.              *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    K,              \* number of components
    PerStage,       \* components of a stage
    N,              \* parts of each component
    Without,        \* parts that are left out: part p of component k is number k * N + p
    MaxAsked,       \* bound: requests
    Mortal,         \* parts that may crash
    Returns         \* a part that was lost may be started again

CONSTANTS ReportsKeyed, WaitsForAll, OneAtATime, Staged, FailureEnds, FenceFails, ExpiryFrees, JoinMarks

Components == 0 .. K - 1
Parts == 0 .. N - 1
PartsOf(k) == {p \in Parts : k * N + p \notin Without}
\* A component without parts is none: it fills up a stage.
Real == {k \in Components : PartsOf(k) # {}}
Guards == <<ReportsKeyed, WaitsForAll, OneAtATime, Staged, FailureEnds, FenceFails, ExpiryFrees, JoinMarks>>

Normal == 0
Updating == 1
Clearing == -1
Cleared == -2

ASSUME /\ {K, PerStage, N} \subseteq Nat \ {0}
       /\ MaxAsked \in Nat
       /\ Mortal \subseteq Parts
       /\ Without \subseteq 0 .. K * N - 1
       /\ Returns \in BOOLEAN
       /\ \A i \in DOMAIN Guards : Guards[i] \in BOOLEAN

VARIABLES
    asked,          \* number of requests so far
    goals,          \* what each request wants
    outcome,        \* of each request
    word,           \* what old readers see of each component
    partial,        \* the parts of the component may differ
    changing,       \* components that the open request is changing now
    reports,        \* of the parts of these
    status,         \* life of each part
    doing,          \* the request that each part has taken and not reported about; 0 is none
    holds           \* history: what is in each part's memory

vars == <<asked, goals, outcome, word, partial, changing, reports, status, doing, holds>>
parts == <<status, doing, holds>>

Everywhere(value) == [k \in Components |-> [p \in Parts |-> value]]

Init ==
    /\ asked = 0
    /\ goals = <<>>
    /\ outcome = <<>>
    /\ word = [k \in Components |-> Normal]
    /\ partial = [k \in Components |-> FALSE]
    /\ changing = {}
    /\ reports = [k \in Components |-> {}]
    /\ status = Everywhere("away")
    /\ doing = Everywhere(0)
    /\ holds = Everywhere("full")

Open == asked > 0 /\ outcome[asked] = "open"
Goal == goals[asked]
End(goal) == IF goal = "clear" THEN Cleared ELSE Normal
Way(goal) == IF goal = "clear" THEN Clearing ELSE Updating
Content(goal) == IF goal = "clear" THEN "empty" ELSE "full"

Done(k, goal) == word[k] = End(goal) /\ ~partial[k]
Todo(goal) == {k \in Real : ~Done(k, goal)}

Stage(k) == k \div PerStage
\* The first stage, in the goal's direction, of what is to do.
First(goal) ==
    LET todo == Todo(goal)
    IN {k \in todo : ~Staged \/ \A j \in todo : IF goal = "clear" THEN Stage(k) <= Stage(j) ELSE Stage(k) >= Stage(j)}

Reported(k) == {r.part : r \in reports[k]}

Set(f, k, p, value) == [f EXCEPT ![k] = [@ EXCEPT ![p] = value]]

-----------------------------------------------------------------------------
(* Life of the parts. *)

\* A new process has done nothing of what is asked, whatever the one before it has reported.
Join(k, p) ==
    /\ p \in PartsOf(k)
    /\ status[k][p] = "away" \/ (status[k][p] = "lost" /\ Returns)
    /\ status' = Set(status, k, p, "live")
    /\ holds' = Set(holds, k, p, "full")
    /\ partial' = [partial EXCEPT ![k] = @ \/ (JoinMarks /\ word[k] # Normal)]
    /\ reports' = IF JoinMarks THEN [reports EXCEPT ![k] = {r \in @ : r.part # p}] ELSE reports
    /\ UNCHANGED <<asked, goals, outcome, word, changing, doing>>

\* The process is gone. The host cannot see it yet.
Crash(k, p) ==
    /\ status[k][p] = "live"
    /\ p \in Mortal
    /\ status' = Set(status, k, p, "dead")
    /\ UNCHANGED <<asked, goals, outcome, word, partial, changing, reports, doing, holds>>

Fence(k, p) ==
    /\ status[k][p] = "dead"
    /\ status' = Set(status, k, p, "lost")
    /\ doing' = Set(doing, k, p, 0)
    /\ reports' = IF FenceFails /\ k \in changing /\ p \notin Reported(k)
                  THEN [reports EXCEPT ![k] = @ \cup {[part |-> p, ok |-> FALSE]}]
                  ELSE reports
    /\ UNCHANGED <<asked, goals, outcome, word, partial, changing, holds>>

-----------------------------------------------------------------------------
(* Requests. *)

Gone(k) == {p \in PartsOf(k) : status[k][p] = "lost"}

Begin(goal) ==
    /\ changing' = First(goal)
    /\ word' = [k \in Components |-> IF k \in First(goal) THEN Way(goal) ELSE word[k]]
    /\ partial' = [k \in Components |-> k \in First(goal) \/ partial[k]]
    /\ reports' = [k \in Components |->
           IF k \in First(goal) /\ FenceFails THEN {[part |-> p, ok |-> FALSE] : p \in Gone(k)} ELSE {}]

GoalOf(g) == IF g = 1 THEN "clear" ELSE "update"

Ask(g) ==
    /\ asked < MaxAsked
    /\ OneAtATime => ~Open
    /\ asked' = asked + 1
    /\ goals' = Append(goals, GoalOf(g))
    /\ LET earlier == [n \in 1 .. asked |-> IF outcome[n] = "open" THEN "late" ELSE outcome[n]]
       IN outcome' = Append(earlier, IF Todo(GoalOf(g)) = {} THEN "done" ELSE "open")
    /\ Begin(GoalOf(g))
    /\ UNCHANGED parts

Take(k, p) ==
    /\ status[k][p] = "live"
    /\ doing[k][p] = 0
    /\ k \in changing
    /\ p \notin Reported(k)
    /\ doing' = Set(doing, k, p, asked)
    /\ UNCHANGED <<asked, goals, outcome, word, partial, changing, reports, status, holds>>

Report(k, p, ok) ==
    /\ status[k][p] \in {"live", "dead"}
    /\ doing[k][p] > 0
    /\ doing' = Set(doing, k, p, 0)
    /\ holds' = Set(holds, k, p, IF ok = 1 THEN Content(goals[doing[k][p]]) ELSE "mixed")
    /\ LET counts == k \in changing /\ (ReportsKeyed => doing[k][p] = asked) /\ (ok = 1 \/ FailureEnds)
       IN reports' = IF counts THEN [reports EXCEPT ![k] = @ \cup {[part |-> p, ok |-> ok = 1]}] ELSE reports
    /\ UNCHANGED <<asked, goals, outcome, word, partial, changing, status>>

AllReported(k) == IF WaitsForAll THEN Reported(k) = PartsOf(k) ELSE Reported(k) # {}
AllOk(k) == \A r \in reports[k] : r.ok

Settle(k) ==
    /\ k \in changing
    /\ AllReported(k)
    /\ AllOk(k)
    /\ word' = [word EXCEPT ![k] = End(Goal)]
    /\ partial' = [partial EXCEPT ![k] = FALSE]
    /\ changing' = changing \ {k}
    /\ UNCHANGED <<asked, goals, outcome, reports, parts>>

NextStage ==
    /\ Open
    /\ changing = {}
    /\ Todo(Goal) # {}
    /\ Begin(Goal)
    /\ UNCHANGED <<asked, goals, outcome, parts>>

EndWith(how) ==
    /\ outcome' = [outcome EXCEPT ![asked] = how]
    /\ changing' = {}
    /\ UNCHANGED <<asked, goals, word, partial, reports, parts>>

Finish ==
    /\ Open
    /\ changing = {}
    /\ Todo(Goal) = {}
    /\ EndWith("done")

\* Components that have done it are settled first: the request has failed for the others only.
Fail ==
    /\ Open
    /\ changing # {}
    /\ \A k \in changing : AllReported(k) /\ ~AllOk(k)
    /\ EndWith("failed")

Expire ==
    /\ Open
    /\ ExpiryFrees
    /\ EndWith("late")

-----------------------------------------------------------------------------
Next ==
    \/ \E k \in Components, p \in Parts : Join(k, p)
    \/ \E k \in Components, p \in Parts : Crash(k, p)
    \/ \E k \in Components, p \in Parts : Fence(k, p)
    \/ \E g \in 0 .. 1 : Ask(g)
    \/ \E k \in Components, p \in Parts : Take(k, p)
    \/ \E k \in Components, p \in Parts, ok \in 0 .. 1 : Report(k, p, ok)
    \/ \E k \in Components : Settle(k)
    \/ NextStage
    \/ Finish
    \/ Fail
    \/ Expire

Spec == Init /\ [][Next]_vars
=============================================================================
