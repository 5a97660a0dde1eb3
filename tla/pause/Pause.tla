------------------------------- MODULE Pause -------------------------------
(***************************************************************************)
(* Pause and resume of N ranks by C clients. The host numbers its orders;  *)
(* each rank takes the latest one, shuts or opens its own gate, and        *)
(* reports when it is quiet. Jobs pass the gate inside their rank. The     *)
(* contract is spec/pause.toml: same names, same shapes.                   *)
(*                                                                         *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents, and the property that   *)
(* the contract names for it fails: MCPause_bug_<guard>.cfg.               *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
    N,              \* number of ranks
    C,              \* number of clients
    MaxJobs,        \* bound: jobs that a rank may have at once
    MaxOrders,      \* bound: orders
    Modes,          \* modes that pauses use: 0 keep, 1 drain, 2 abort
    Leavers,        \* ranks that may leave
    Mortal,         \* ranks that may crash
    Impatient       \* clients whose calls may end by their time limit

CONSTANTS TakeShuts, AllRanks, OldOrdersDropped, FenceFrees, JoinsShut, HoldBlocks, ResumeWaits

Ranks == 0 .. N - 1
Clients == 1 .. C
Guards == <<TakeShuts, AllRanks, OldOrdersDropped, FenceFrees, JoinsShut, HoldBlocks, ResumeWaits>>
Keep == 0   \* 1: drain, 2: abort

ASSUME /\ {N, C, MaxJobs} \subseteq Nat \ {0}
       /\ MaxOrders \in Nat
       /\ Modes \subseteq 0 .. 2
       /\ Leavers \cup Mortal \subseteq Ranks
       /\ Impatient \subseteq Clients
       /\ \A i \in DOMAIN Guards : Guards[i] \in BOOLEAN

VARIABLES
    order,          \* number of the latest order
    phase,          \* what it says
    mode,           \* of the latest pause
    status,         \* life of each rank
    quiet,          \* ranks that reported for the latest order
    seen,           \* the order that each rank has taken
    gate,           \* of each rank
    told,           \* mode of the pause that each rank has taken
    running,        \* jobs of each rank that were admitted and are neither done nor parked
    parked,         \* jobs that wait at a checkpoint
    holders,        \* clients that hold the pause
    waiting,        \* the call that each client is in
    awaited,        \* the order that this call is about
    began,          \* the order that began the latest pause
    promised        \* history: a pause has returned, and no resume has been ordered since

ordered == <<order, phase, mode, began>>
inside == <<seen, gate, told, running, parked>>
calls == <<waiting, awaited>>
vars == <<order, phase, mode, status, quiet, seen, gate, told, running, parked, holders, waiting, awaited, began, promised>>

Init ==
    /\ order = 0
    /\ phase = "run"
    /\ mode = Keep
    /\ status = [r \in Ranks |-> "away"]
    /\ quiet = {}
    /\ seen = [r \in Ranks |-> 0]
    /\ gate = [r \in Ranks |-> "shut"]
    /\ told = [r \in Ranks |-> Keep]
    /\ running = [r \in Ranks |-> 0]
    /\ parked = [r \in Ranks |-> 0]
    /\ holders = {}
    /\ waiting = [c \in Clients |-> "idle"]
    /\ awaited = [c \in Clients |-> 0]
    /\ began = 0
    /\ promised = FALSE

\* As the host sees it.
Present(r) == status[r] \in {"live", "dead"}

\* Ranks that a pause waits for.
Needed ==
    LET there == {r \in Ranks : Present(r)}
        gone == {r \in Ranks : status[r] = "lost"}
        all == IF FenceFrees THEN there ELSE there \cup gone
    IN IF AllRanks THEN all ELSE all \cap {0}

Still == phase = "pause" /\ Needed \subseteq quiet

Live(r) == status[r] = "live"

-----------------------------------------------------------------------------
(* Life of the ranks. *)

Join(r) ==
    /\ status[r] \in {"away", "lost"}
    /\ status' = [status EXCEPT ![r] = "live"]
    /\ seen' = [seen EXCEPT ![r] = order]
    /\ told' = [told EXCEPT ![r] = mode]
    /\ running' = [running EXCEPT ![r] = 0]
    /\ parked' = [parked EXCEPT ![r] = 0]
    /\ gate' = [gate EXCEPT ![r] = IF phase = "pause" /\ JoinsShut THEN "shut" ELSE "open"]
    /\ quiet' = IF phase = "pause" THEN quiet \cup {r} ELSE quiet
    /\ UNCHANGED <<ordered, holders, calls, promised>>

Leave(r) ==
    /\ Live(r)
    /\ r \in Leavers
    /\ running[r] = 0
    /\ parked[r] = 0
    /\ status' = [status EXCEPT ![r] = "away"]
    /\ quiet' = quiet \ {r}
    /\ gate' = [gate EXCEPT ![r] = "shut"]
    /\ UNCHANGED <<ordered, seen, told, running, parked, holders, calls, promised>>

\* The process is gone, and its jobs with it. The host cannot see it yet.
Crash(r) ==
    /\ Live(r)
    /\ r \in Mortal
    /\ status' = [status EXCEPT ![r] = "dead"]
    /\ running' = [running EXCEPT ![r] = 0]
    /\ parked' = [parked EXCEPT ![r] = 0]
    /\ gate' = [gate EXCEPT ![r] = "shut"]
    /\ UNCHANGED <<ordered, quiet, seen, told, holders, calls, promised>>

Fence(r) ==
    /\ status[r] = "dead"
    /\ status' = [status EXCEPT ![r] = "lost"]
    /\ quiet' = quiet \ {r}
    /\ UNCHANGED <<ordered, inside, holders, calls, promised>>

-----------------------------------------------------------------------------
(* Inside a rank. *)

\* n: the order that arrives. Only the latest is newer than all others; the faulty protocol takes any, in any order.
Arriving(r) == IF OldOrdersDropped THEN {n \in {order} : seen[r] < n} ELSE {n \in {order, order - 1} : n > 0 /\ seen[r] # n}

\* Orders alternate between pause and run unless a pause was made sharper; an older order is one to run, at worst.
PhaseOf(n) == IF n = order THEN phase ELSE "run"

\* The rank r does what order n says: a phase p, a mode m.
TakeOrder(r, n, p, m) ==
    LET parks == p = "pause" /\ m = Keep
    IN /\ seen' = [seen EXCEPT ![r] = n]
       /\ told' = [told EXCEPT ![r] = m]
       /\ gate' = [gate EXCEPT ![r] = IF p = "run" THEN "open" ELSE IF TakeShuts THEN "shut" ELSE @]
       /\ running' = [running EXCEPT ![r] = IF parks THEN @ ELSE @ + parked[r]]
       /\ parked' = [parked EXCEPT ![r] = IF parks THEN @ ELSE 0]

Take(r) ==
    /\ Live(r)
    /\ \E n \in Arriving(r) : TakeOrder(r, n, PhaseOf(n), mode)
    /\ UNCHANGED <<ordered, status, quiet, holders, calls, promised>>

Admit(r) ==
    /\ Live(r)
    /\ gate[r] = "open"
    /\ running[r] + parked[r] < MaxJobs
    /\ running' = [running EXCEPT ![r] = @ + 1]
    /\ UNCHANGED <<ordered, status, quiet, seen, gate, told, parked, holders, calls, promised>>

Done(r) ==
    /\ \/ /\ running[r] > 0
          /\ running' = [running EXCEPT ![r] = @ - 1]
          /\ parked' = parked
       \/ /\ parked[r] > 0
          /\ parked' = [parked EXCEPT ![r] = @ - 1]
          /\ running' = running
    /\ UNCHANGED <<ordered, status, quiet, seen, gate, told, holders, calls, promised>>

Park(r) ==
    /\ Live(r)
    /\ gate[r] = "shut"
    /\ told[r] = Keep
    /\ running[r] > 0
    /\ running' = [running EXCEPT ![r] = @ - 1]
    /\ parked' = [parked EXCEPT ![r] = @ + 1]
    /\ UNCHANGED <<ordered, status, quiet, seen, gate, told, holders, calls, promised>>

-----------------------------------------------------------------------------
(* The host. *)

Quiet(r) ==
    /\ Live(r)
    /\ phase = "pause"
    /\ seen[r] = order
    /\ running[r] = 0
    /\ r \notin quiet
    /\ quiet' = quiet \cup {r}
    /\ UNCHANGED <<ordered, status, inside, holders, calls, promised>>

Idle(c) == waiting[c] = "idle"

Sharper(m) == m > mode

\* The client waits for the present pause, and has not been told of it.
Expects(c) == waiting[c] = "pause" /\ awaited[c] = began

CallPause(c, m) ==
    /\ Idle(c)
    /\ LET begins == phase = "run"
           orders == begins \/ (~Still /\ Sharper(m))
       IN /\ orders => order < MaxOrders
          /\ order' = IF orders THEN order + 1 ELSE order
          /\ began' = IF begins THEN order + 1 ELSE began
          /\ mode' = IF orders THEN m ELSE mode
          /\ quiet' = IF orders THEN {} ELSE quiet
    /\ phase' = "pause"
    /\ waiting' = [waiting EXCEPT ![c] = "pause"]
    /\ awaited' = [awaited EXCEPT ![c] = began']
    /\ UNCHANGED <<status, inside, holders, promised>>

Returns(c) ==
    /\ waiting' = [waiting EXCEPT ![c] = "idle"]
    /\ awaited' = [awaited EXCEPT ![c] = 0]
    /\ UNCHANGED <<ordered, status, quiet, inside, holders>>

PauseReturns(c) ==
    /\ waiting[c] = "pause"
    /\ awaited[c] = began
    /\ Still
    /\ promised' = TRUE
    /\ Returns(c)

PauseEnded(c) ==
    /\ waiting[c] = "pause"
    /\ phase = "run" \/ awaited[c] # began
    /\ promised' = promised
    /\ Returns(c)

ToRun(c, call) ==
    /\ order' = order + 1
    /\ phase' = "run"
    /\ quiet' = {}
    /\ promised' = FALSE
    /\ waiting' = [waiting EXCEPT ![c] = call]
    /\ awaited' = [awaited EXCEPT ![c] = order + 1]
    /\ UNCHANGED <<mode, began, status, inside, holders>>

CallResume(c) ==
    /\ Idle(c)
    /\ c \notin holders
    /\ \/ /\ phase = "run"
          /\ waiting' = [waiting EXCEPT ![c] = "resume"]
          /\ awaited' = [awaited EXCEPT ![c] = order]
          /\ UNCHANGED <<ordered, status, quiet, inside, holders, promised>>
       \/ /\ phase = "pause"
          /\ ResumeWaits => Still /\ \A d \in Clients : ~Expects(d)
          /\ HoldBlocks => holders = {}
          /\ order < MaxOrders
          /\ ToRun(c, "resume")

CancelPause(c) ==
    /\ Idle(c)
    /\ phase = "pause"
    /\ ~Still
    /\ order < MaxOrders
    /\ ToRun(c, "cancel")

ResumeReturns(c) ==
    /\ waiting[c] \in {"resume", "cancel"}
    /\ \A r \in Ranks : Present(r) => seen[r] >= awaited[c]
    /\ promised' = promised
    /\ Returns(c)

\* The call's time limit ends, or its client is gone. What was ordered stays ordered.
GiveUp(c) ==
    /\ ~Idle(c)
    /\ c \in Impatient
    /\ promised' = promised
    /\ Returns(c)

Hold(c) ==
    /\ Idle(c)
    /\ Still
    /\ c \notin holders
    /\ holders' = holders \cup {c}
    /\ UNCHANGED <<ordered, status, quiet, inside, calls, promised>>

LetGo(c) ==
    /\ c \in holders
    /\ holders' = holders \ {c}
    /\ UNCHANGED <<ordered, status, quiet, inside, calls, promised>>

-----------------------------------------------------------------------------
Next ==
    \/ \E r \in Ranks : Join(r)
    \/ \E r \in Ranks : Leave(r)
    \/ \E r \in Ranks : Crash(r)
    \/ \E r \in Ranks : Fence(r)
    \/ \E c \in Clients, m \in Modes : CallPause(c, m)
    \/ \E r \in Ranks : Take(r)
    \/ \E r \in Ranks : Admit(r)
    \/ \E r \in Ranks : Done(r)
    \/ \E r \in Ranks : Park(r)
    \/ \E r \in Ranks : Quiet(r)
    \/ \E c \in Clients : PauseReturns(c)
    \/ \E c \in Clients : PauseEnded(c)
    \/ \E c \in Clients : CallResume(c)
    \/ \E c \in Clients : CancelPause(c)
    \/ \E c \in Clients : ResumeReturns(c)
    \/ \E c \in Clients : GiveUp(c)
    \/ \E c \in Clients : Hold(c)
    \/ \E c \in Clients : LetGo(c)

Spec == Init /\ [][Next]_vars
=============================================================================
