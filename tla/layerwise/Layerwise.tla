----------------------------- MODULE Layerwise -----------------------------
(***************************************************************************)
(* Caches are sent layer by layer while they are computed. On each rank a  *)
(* table brings together two streams that have no order between them: how  *)
(* far the device is (slot, step, layer), and the cache infos, which reach *)
(* all ranks in one order. The contract is spec/layerwise.toml: same names *)
(* and shapes.                                                             *)
(*                                                                         *)
(* Task t is one pass of the device over all layers of one slot. Tasks are *)
(* numbered in the order of their infos. A slot is used again and again;   *)
(* the step tells its passes apart, and it is a serial number: it wraps.   *)
(*                                                                         *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents, and the property that   *)
(* the contract names for it fails: MCLayerwise_bug_<guard>.cfg.           *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    N,          \* number of ranks
    T,          \* number of tasks
    S,          \* number of slots
    L,          \* number of layers
    Capacity,   \* tasks that a table holds
    Modulus,    \* steps are serial numbers modulo this
    First,      \* step of task 1
    Lost,       \* tasks whose info reaches nobody
    Aborted,    \* tasks that may be ended from outside
    Expiry      \* may time limits pass?

CONSTANTS StepTagged, SerialSteps, KeepsEarly, LatestWins, EndForgets, EndKeepsNewer, GoneStaysGone, ExpiresEarly,
          ExpiresTask, AgreedOrder, FailedTakePart

Ranks == 0 .. N - 1
Tasks == 1 .. T
Slots == 0 .. S - 1
Guards == <<StepTagged, SerialSteps, KeepsEarly, LatestWins, EndForgets, EndKeepsNewer, GoneStaysGone, ExpiresEarly,
            ExpiresTask, AgreedOrder, FailedTakePart>>

ASSUME /\ {N, T, S, L, Capacity} \subseteq Nat \ {0}
       /\ First \in 0 .. Modulus - 1
       /\ 2 * T < Modulus
       /\ Lost \cup Aborted \subseteq Tasks
       /\ Expiry \in BOOLEAN
       /\ \A i \in DOMAIN Guards : Guards[i] \in BOOLEAN

VARIABLES
    computed,   \* how many layers of each task the device of each rank has computed, and told
    ended,      \* history: tasks that were ended from outside
    given,      \* how many infos each rank has taken
    tasks,      \* the table: tasks whose info has come, in that order
    early,      \* for each slot the latest progress that is ahead of its info: <<step, layer>>, or <<>>
    seen,       \* for each slot the step of its latest info, or -1
    gone,       \* for each slot the steps that were over before their info came
    told,       \* history: tasks of which a rank was told that their info is missing
    done        \* what each rank has finished, in order: one collective call each

vars == <<computed, ended, given, tasks, early, seen, gone, told, done>>

Step(t) == (First + t - 1) % Modulus
Slot(t) == (t - 1) % S
TaskOf(st) == CHOOSE t \in Tasks : Step(t) = st

\* a is later than b, as long as they are less than half of the modulus apart.
Later(a, b) == IF SerialSteps THEN LET d == (a + Modulus - b) % Modulus IN d > 0 /\ 2 * d < Modulus ELSE a > b

\* The infos in the order in which every rank gets them.
InfoNumber(i) == CHOOSE t \in Tasks \ Lost : Cardinality({u \in Tasks \ Lost : u <= t}) = i
Infos == Cardinality(Tasks \ Lost)

Max(a, b) == IF a > b THEN a ELSE b
Least(A) == CHOOSE i \in A : \A j \in A : i <= j
Drop(s, i) == SubSeq(s, 1, i - 1) \o SubSeq(s, i + 1, Len(s))
Newer(p, q) == q = <<>> \/ Later(p[1], q[1]) \/ (p[1] = q[1] /\ p[2] > q[2])

Init ==
    /\ computed = [r \in Ranks |-> [t \in Tasks |-> 0]]
    /\ ended = [r \in Ranks |-> {}]
    /\ given = [r \in Ranks |-> 0]
    /\ tasks = [r \in Ranks |-> <<>>]
    /\ early = [r \in Ranks |-> [s \in Slots |-> <<>>]]
    /\ seen = [r \in Ranks |-> [s \in Slots |-> -1]]
    /\ gone = [r \in Ranks |-> [s \in Slots |-> {}]]
    /\ told = [r \in Ranks |-> {}]
    /\ done = [r \in Ranks |-> <<>>]

-----------------------------------------------------------------------------
(* Progress. Layers may be skipped, and old news may come again. A slot's passes are computed one after another, and  *)
(* whole, unless they are ended: who gives a pass up ends it before the slot goes on.                                  *)

IsAhead(r, t) == (seen[r][Slot(t)] = -1 \/ Later(Step(t), seen[r][Slot(t)])) /\ Step(t) \notin gone[r][Slot(t)]

ReadyAfter(x, t, layer) ==
    IF Slot(x.task) # Slot(t) \/ x.failed THEN x.ready
    ELSE IF x.task = t \/ ~StepTagged THEN Max(x.ready, layer + 1)
    ELSE IF Later(Step(t), Step(x.task)) THEN L
    ELSE x.ready

OnProgress(r, t, layer) ==
    /\ computed' = [computed EXCEPT ![r] = [u \in Tasks |->
                        IF u = t THEN Max(@[u], layer + 1)
                        ELSE IF u < t /\ Slot(u) = Slot(t) /\ u \notin ended[r] THEN L
                        ELSE @[u]]]
    /\ tasks' = [tasks EXCEPT ![r] = [i \in DOMAIN @ |-> [@[i] EXCEPT !.ready = ReadyAfter(tasks[r][i], t, layer)]]]
    /\ early' = IF /\ KeepsEarly
                   /\ IsAhead(r, t)
                   /\ ~LatestWins \/ Newer(<<Step(t), layer>>, early[r][Slot(t)])
                THEN [early EXCEPT ![r][Slot(t)] = <<Step(t), layer>>]
                ELSE early
    /\ UNCHANGED <<ended, given, seen, gone, told, done>>

-----------------------------------------------------------------------------
(* Infos. *)

OnCacheInfo(r) ==
    /\ given[r] < Infos
    /\ Len(tasks[r]) < Capacity
    /\ LET t == InfoNumber(given[r] + 1)
           st == Step(t)
           s == Slot(t)
           e == early[r][s]
           isGone == st \in gone[r][s]
           ready == IF e = <<>> THEN 0
                    ELSE IF e[1] = st \/ ~StepTagged THEN e[2] + 1
                    ELSE IF Later(e[1], st) THEN L
                    ELSE 0
           overtaken == e # <<>> /\ Later(st, e[1])
       IN  /\ tasks' = [tasks EXCEPT ![r] = Append(@, [task |-> t, sent |-> 0, ready |-> IF isGone THEN 0 ELSE ready,
                                                       failed |-> isGone])]
           /\ early' = IF e # <<>> /\ Later(e[1], st) THEN early ELSE [early EXCEPT ![r][s] = <<>>]
           /\ told' = IF overtaken THEN [told EXCEPT ![r] = @ \cup {TaskOf(e[1])}] ELSE told
           /\ seen' = [seen EXCEPT ![r][s] = st]
           /\ gone' = [gone EXCEPT ![r][s] = {g \in @ : Later(g, st)}]
    /\ given' = [given EXCEPT ![r] = @ + 1]
    /\ UNCHANGED <<computed, ended, done>>

-----------------------------------------------------------------------------
(* Sending. *)

Sendable(r) == {i \in DOMAIN tasks[r] : ~tasks[r][i].failed /\ tasks[r][i].ready > tasks[r][i].sent}

\* The oldest task of which a computed layer is not sent. One that has to wait holds nobody up.
NextReady(r) ==
    /\ Sendable(r) # {}
    /\ LET i == Least(Sendable(r)) IN tasks' = [tasks EXCEPT ![r][i].sent = tasks[r][i].ready]
    /\ UNCHANGED <<computed, ended, given, early, seen, gone, told, done>>

-----------------------------------------------------------------------------
(* Ends. A task that fails keeps its place: its collective call is made in turn, with the failure.                     *)

At(r, t) == {i \in DOMAIN tasks[r] : tasks[r][i].task = t}

Over(r, st, s) == IF GoneStaysGone THEN [gone EXCEPT ![r][s] = @ \cup {st}] ELSE gone

OnEnd(r, t) ==
    /\ t \in Aborted \ ended[r]
    /\ ended' = [ended EXCEPT ![r] = @ \cup {t}]
    /\ tasks' = [tasks EXCEPT ![r] = [i \in DOMAIN @ |->
                    IF @[i].task = t THEN [@[i] EXCEPT !.failed = TRUE] ELSE @[i]]]
    /\ LET s == Slot(t)
           e == early[r][s]
       IN  IF seen[r][s] = -1 \/ Later(Step(t), seen[r][s])
           THEN /\ gone' = Over(r, Step(t), s)
                /\ early' = IF (EndForgets /\ e # <<>> /\ e[1] = Step(t)) \/ ~EndKeepsNewer
                            THEN [early EXCEPT ![r][s] = <<>>]
                            ELSE early
           ELSE UNCHANGED <<gone, early>>
    /\ UNCHANGED <<computed, given, seen, told, done>>

\* The next layer of a task is not computed in time.
ExpireTask(r, t) ==
    /\ Expiry /\ ExpiresTask
    /\ \E i \in At(r, t) :
        /\ ~tasks[r][i].failed
        /\ tasks[r][i].ready < L
        /\ tasks' = [tasks EXCEPT ![r][i].failed = TRUE]
    /\ UNCHANGED <<computed, ended, given, early, seen, gone, told, done>>

\* The info of early progress does not come in time.
ExpireEarly(r, s) ==
    /\ Expiry /\ ExpiresEarly
    /\ early[r][s] # <<>>
    /\ early' = [early EXCEPT ![r][s] = <<>>]
    /\ gone' = Over(r, early[r][s][1], s)
    /\ told' = [told EXCEPT ![r] = @ \cup {TaskOf(early[r][s][1])}]
    /\ UNCHANGED <<computed, ended, given, tasks, seen, done>>

Settled(r) == {i \in DOMAIN tasks[r] : (i = 1 \/ ~AgreedOrder) /\ (tasks[r][i].failed \/ tasks[r][i].sent = L)}

\* One collective call for each info, in the order of the infos.
NextDone(r) ==
    /\ Settled(r) # {}
    /\ LET i == Least(Settled(r))
           x == tasks[r][i]
       IN  /\ tasks' = [tasks EXCEPT ![r] = Drop(@, i)]
           /\ done' = IF x.failed /\ ~FailedTakePart THEN done
                      ELSE [done EXCEPT ![r] = Append(@, [task |-> x.task, sent |-> x.sent, failed |-> x.failed])]
    /\ UNCHANGED <<computed, ended, given, early, seen, gone, told>>

-----------------------------------------------------------------------------
Next ==
    \E r \in Ranks :
        \/ \E t \in Tasks, layer \in 0 .. L - 1 : OnProgress(r, t, layer)
        \/ \E t \in Tasks : OnEnd(r, t) \/ ExpireTask(r, t)
        \/ \E s \in Slots : ExpireEarly(r, s)
        \/ OnCacheInfo(r) \/ NextReady(r) \/ NextDone(r)

Spec == Init /\ [][Next]_vars
=============================================================================
