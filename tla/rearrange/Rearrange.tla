----------------------------- MODULE Rearrange -----------------------------
(***************************************************************************)
(* The experts of a model are rearranged: somebody asks for it, the        *)
(* coordinator takes the request and tells the loader of every rank to     *)
(* load the new table, the ranks report, and when all have loaded the      *)
(* workers of all ranks exchange their weights together. One public call   *)
(* is one action, because the host runs it in one critical section. The    *)
(* contract is spec/rearrange.toml: same names and shapes.                 *)
(*                                                                         *)
(* Parties are numbers: the loader of rank r is r, its worker is N + r,    *)
(* the coordinator is 2 * N.                                               *)
(*                                                                         *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents, and the property that   *)
(* the contract names for it fails: MCRearrange_bug_<guard>.cfg.           *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
    N,                  \* number of ranks
    A,                  \* number of addresses that a request names
    MaxRequests,        \* bound: requests in all
    Movers,             \* parties that may come, leave and crash; the others are there from the start
    Failing,            \* ranks whose load may fail
    Deaf                \* addresses that may be out of reach

CONSTANTS OneAtATime, ReportsKeyed, AllPeers, FailureFrees, SwapKept, InStep, WaitsLimited, FenceEnds, TimeoutEnds

Ranks == 0 .. N - 1
Peers == 1 .. A
Coordinator == 2 * N
Parties == 0 .. Coordinator
Worker(r) == N + r
Guards == <<OneAtATime, ReportsKeyed, AllPeers, FailureFrees, SwapKept, InStep, WaitsLimited, FenceEnds, TimeoutEnds>>

ASSUME /\ N \in Nat \ {0}
       /\ {A, MaxRequests} \subseteq Nat
       /\ Movers \subseteq Parties
       /\ Failing \subseteq Ranks
       /\ Deaf \subseteq Peers
       /\ \A i \in DOMAIN Guards : Guards[i] \in BOOLEAN

VARIABLES
    status,     \* life of each party
    phase,      \* of the last request
    outcome,    \* what became of each request
    reached,    \* addresses that have done their part of the running request
    load,       \* what the host knows of each rank's load
    job,        \* the request for which each loader loads
    table,      \* the request whose table each rank holds
    worker,     \* what the host knows of each rank's worker
    swap        \* the request whose table each worker puts into its weights

vars == <<status, phase, outcome, reached, load, job, table, worker, swap>>

Running == Len(outcome)
MayCall(p) == status[p] \in {"live", "dead"}
Committed == \E r \in Ranks : worker[r] \in {"swap", "done", "lost"}

Nothing == [r \in Ranks |-> "none"]
Idle == [r \in Ranks |-> "idle"]
Zero == [r \in Ranks |-> 0]

Init ==
    /\ status = [p \in Parties |-> IF p \in Movers THEN "away" ELSE "live"]
    /\ phase = "FREE"
    /\ outcome = <<>>
    /\ reached = {}
    /\ load = Nothing
    /\ job = Zero
    /\ table = Zero
    /\ worker = Idle
    /\ swap = Zero

\* The running request is over. What the processes of the ranks are doing does not end by that.
Over(why, next) ==
    /\ phase' = next
    /\ outcome' = [outcome EXCEPT ![Running] = why]
    /\ reached' = {}
    /\ load' = Nothing
    /\ worker' = Idle

End(why) == Over(why, "FREE")

-----------------------------------------------------------------------------
(* Life of the parties. *)

Join(p) ==
    /\ status[p] = "away"
    /\ status' = [status EXCEPT ![p] = "live"]
    /\ UNCHANGED <<phase, outcome, reached, load, job, table, worker, swap>>

\* The process is gone. The host cannot see it yet.
Crash(p) ==
    /\ status[p] = "live"
    /\ p \in Movers
    /\ status' = [status EXCEPT ![p] = "dead"]
    /\ UNCHANGED <<phase, outcome, reached, load, job, table, worker, swap>>

\* A loader takes its load and its table with it, unless the worker has the table already.
Forget(p) ==
    /\ job' = IF p \in Ranks THEN [job EXCEPT ![p] = 0] ELSE job
    /\ table' = [r \in Ranks |-> IF (p = r /\ swap[r] = 0) \/ (p = Worker(r) /\ swap[r] # 0) THEN 0 ELSE table[r]]
    /\ swap' = [r \in Ranks |-> IF p = Worker(r) THEN 0 ELSE swap[r]]

\* The running request needs the party: the coordinator until all have loaded, the others until the exchange.
Needs(p) == phase = "DOING" \/ (phase \in {"LOAD_SUCC", "UPDATING"} /\ p # Coordinator /\ ~Committed)

Without(r) == [worker EXCEPT ![r] = "lost"]

Part(p) ==
    /\ Forget(p)
    /\ \/ /\ FenceEnds
          /\ Needs(p)
          /\ End("lost")
       \/ /\ FenceEnds
          /\ ~Needs(p)
          /\ \E r \in Ranks :
                /\ p = Worker(r)
                /\ worker[r] = "swap"
                /\ IF \E q \in Ranks \ {r} : worker[q] = "swap"
                   THEN worker' = Without(r) /\ UNCHANGED <<phase, outcome, reached, load>>
                   ELSE End("lost")
       \/ /\ ~FenceEnds \/ (~Needs(p) /\ \A r \in Ranks : p = Worker(r) => worker[r] # "swap")
          /\ UNCHANGED <<phase, outcome, reached, load, worker>>

Leave(p) ==
    /\ status[p] = "live"
    /\ p \in Movers
    /\ status' = [status EXCEPT ![p] = "away"]
    /\ Part(p)

\* The host sees the party's connection closed.
Fence(p) ==
    /\ status[p] = "dead"
    /\ status' = [status EXCEPT ![p] = "away"]
    /\ Part(p)

-----------------------------------------------------------------------------
(* A request, and what the coordinator does with it. *)

Request ==
    /\ Running < MaxRequests
    /\ phase = "FREE" \/ (~OneAtATime /\ phase # "DONE")
    /\ phase' = "ASKED"
    /\ outcome' = Append(outcome, "open")
    /\ reached' = {}
    /\ load' = Nothing
    /\ worker' = Idle
    /\ UNCHANGED <<status, job, table, swap>>

Take ==
    /\ MayCall(Coordinator)
    /\ phase = "ASKED"
    /\ phase' = "DOING"
    /\ UNCHANGED <<status, outcome, reached, load, job, table, worker, swap>>

BeginLoad ==
    /\ MayCall(Coordinator)
    /\ phase = "DOING"
    /\ load = Nothing
    /\ load' = [r \in Ranks |-> "asked"]
    /\ UNCHANGED <<status, phase, outcome, reached, job, table, worker, swap>>

PeerReady(a) ==
    /\ MayCall(Coordinator)
    /\ phase = "DOING"
    /\ a \notin reached
    /\ reached' = reached \cup {a}
    /\ UNCHANGED <<status, phase, outcome, load, job, table, worker, swap>>

PeerFailed(a) ==
    /\ MayCall(Coordinator)
    /\ phase = "DOING"
    /\ a \notin reached
    /\ a \in Deaf
    /\ End("failed")
    /\ UNCHANGED <<status, job, table, swap>>

DeclareLoaded ==
    /\ MayCall(Coordinator)
    /\ phase = "DOING"
    /\ \A r \in Ranks : load[r] = "ok"
    /\ reached = Peers \/ ~AllPeers
    /\ phase' = "LOAD_SUCC"
    /\ UNCHANGED <<status, outcome, reached, load, job, table, worker, swap>>

CallOff ==
    /\ MayCall(Coordinator)
    /\ phase = "DOING"
    /\ End("failed")
    /\ UNCHANGED <<status, job, table, swap>>

-----------------------------------------------------------------------------
(* The loaders. A loader has one job at a time; it is done when the loader reports. *)

TakeLoad(r) ==
    /\ MayCall(r)
    /\ load[r] = "asked"
    /\ job[r] = 0
    /\ load' = [load EXCEPT ![r] = "taken"]
    /\ job' = [job EXCEPT ![r] = Running]
    /\ UNCHANGED <<status, phase, outcome, reached, table, worker, swap>>

Reports(r) == MayCall(r) /\ job[r] # 0

\* A report is about the request for which the loader has loaded.
Counts(r) ==
    /\ phase = "DOING"
    /\ \/ load[r] = "taken" /\ job[r] = Running
       \/ load[r] \in {"asked", "taken"} /\ ~ReportsKeyed

ReportOk(r) ==
    /\ Reports(r)
    /\ Counts(r)
    /\ load' = [load EXCEPT ![r] = "ok"]
    /\ table' = [table EXCEPT ![r] = job[r]]
    /\ job' = [job EXCEPT ![r] = 0]
    /\ UNCHANGED <<status, phase, outcome, reached, worker, swap>>

ReportFailed(r) ==
    /\ Reports(r)
    /\ Counts(r)
    /\ r \in Failing
    /\ job' = [job EXCEPT ![r] = 0]
    /\ End("failed")
    /\ UNCHANGED <<status, table, swap>>

\* The loader has written its table all the same.
RefuseReport(r) ==
    /\ Reports(r)
    /\ ~Counts(r)
    /\ table' = [table EXCEPT ![r] = job[r]]
    /\ job' = [job EXCEPT ![r] = 0]
    /\ UNCHANGED <<status, phase, outcome, reached, load, worker, swap>>

-----------------------------------------------------------------------------
(* The exchange of weights: when it is allowed, the workers meet, and begin when all are there. *)

Update ==
    /\ phase = "LOAD_SUCC"
    /\ phase' = "UPDATING"
    /\ UNCHANGED <<status, outcome, reached, load, job, table, worker, swap>>

Arrive(r) ==
    /\ MayCall(Worker(r))
    /\ phase = "UPDATING"
    /\ worker[r] = "idle"
    /\ IF InStep /\ \E q \in Ranks \ {r} : worker[q] # "here"
       THEN worker' = [worker EXCEPT ![r] = "here"] /\ UNCHANGED swap
       ELSE LET begin == IF InStep THEN Ranks ELSE {r}
            IN  /\ worker' = [q \in Ranks |-> IF q \in begin THEN "swap" ELSE worker[q]]
                /\ swap' = [q \in Ranks |-> IF q \in begin THEN Running ELSE swap[q]]
    /\ UNCHANGED <<status, phase, outcome, reached, load, job, table>>

\* A worker that waits for the others goes on with its other work.
Withdraw(r) ==
    /\ WaitsLimited
    /\ worker[r] = "here"
    /\ worker' = [worker EXCEPT ![r] = "idle"]
    /\ UNCHANGED <<status, phase, outcome, reached, load, job, table, swap>>

Updated(r) ==
    /\ MayCall(Worker(r))
    /\ worker[r] = "swap"
    /\ swap[r] = Running
    /\ swap' = [swap EXCEPT ![r] = 0]
    /\ table' = [table EXCEPT ![r] = 0]
    /\ IF \E q \in Ranks \ {r} : worker[q] \notin {"done", "lost"}
       THEN worker' = [worker EXCEPT ![r] = "done"] /\ UNCHANGED <<phase, outcome, reached, load>>
       ELSE IF \E q \in Ranks : worker[q] = "lost" THEN End("lost") ELSE Over("done", "DONE")
    /\ UNCHANGED <<status, job>>

Free ==
    /\ phase = "DONE"
    /\ phase' = "FREE"
    /\ UNCHANGED <<status, outcome, reached, load, job, table, worker, swap>>

\* The request's time limit ends, but not while weights are being exchanged.
EndTimeout ==
    /\ TimeoutEnds
    /\ phase \in {"ASKED", "DOING", "LOAD_SUCC", "UPDATING"}
    /\ ~Committed \/ ~SwapKept
    /\ IF phase = "DOING" /\ ~FailureFrees
       THEN phase' = "LOAD_SUCC" /\ UNCHANGED <<outcome, reached, load, worker>>
       ELSE End("late")
    /\ UNCHANGED <<status, job, table, swap>>

-----------------------------------------------------------------------------
Next ==
    \/ \E p \in Parties : Join(p) \/ Leave(p) \/ Crash(p) \/ Fence(p)
    \/ Request \/ Take \/ BeginLoad
    \/ \E a \in Peers : PeerReady(a) \/ PeerFailed(a)
    \/ \E r \in Ranks : TakeLoad(r) \/ ReportOk(r) \/ ReportFailed(r) \/ RefuseReport(r)
    \/ DeclareLoaded \/ CallOff \/ Update
    \/ \E r \in Ranks : Arrive(r) \/ Withdraw(r) \/ Updated(r)
    \/ Free \/ EndTimeout

Spec == Init /\ [][Next]_vars
=============================================================================
