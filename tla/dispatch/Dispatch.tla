------------------------------ MODULE Dispatch ------------------------------
(***************************************************************************)
(* Task dispatch: producers give batches to N ranks; every rank takes      *)
(* every batch exactly once and in order; at most Depth are retained.      *)
(* One public call is one action, because the host runs it in one critical *)
(* section. The contract is spec/dispatch.toml: same names, same shapes.   *)
(*                                                                         *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents, and the property that   *)
(* the contract names for it fails: MCDispatch_bug_<guard>.cfg.            *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
    N,                  \* number of ranks
    P,                  \* number of producer handles
    Depth,              \* batches that may be retained at once
    MaxCalls,           \* bound: put calls in all
    MaxEpoch,           \* bound: effective clears in all
    PerProducer,        \* bound: calls of one producer that may wait at once
    Leavers,            \* ranks that may leave
    Mortal,             \* ranks that may crash
    MortalProducers,    \* producers that may crash
    Quitters            \* producers that may disconnect

CONSTANTS GuardOwnRead, IdleGetKeepsExist, ClearLowersExist, ClearKeepsStarted, ClearOncePerEpoch, FenceFrees,
    PutsInOrder, LowerInside, FenceWithdraws, FencedCannotRead, JoinSkips

Ranks == 0 .. N - 1
Producers == 0 .. P - 1
Guards == <<GuardOwnRead, IdleGetKeepsExist, ClearLowersExist, ClearKeepsStarted, ClearOncePerEpoch, FenceFrees,
    PutsInOrder, LowerInside, FenceWithdraws, FencedCannotRead, JoinSkips>>

ASSUME /\ {N, P, Depth, PerProducer} \subseteq Nat \ {0}
       /\ {MaxCalls, MaxEpoch} \subseteq Nat
       /\ Leavers \cup Mortal \subseteq Ranks
       /\ MortalProducers \cup Quitters \subseteq Producers
       /\ \A i \in DOMAIN Guards : Guards[i] \in BOOLEAN

VARIABLES
    calls,      \* put calls so far; a batch has the number of the call that brought it
    waiting,    \* put calls that have not been answered, in order of arrival
    log,        \* retained batches, oldest first, with the ranks that have taken each
    epoch,      \* effective clears so far
    rankSeen,   \* the newest epoch that each rank's reading handle has seen
    prodSeen,   \* the newest epoch that each producer handle has seen
    status,     \* life of each rank's reader
    producer,   \* life of each producer handle
    exist,      \* the shared word that exist_tasks() reads without asking the host
    got         \* history: the ids that were handed to each rank

vars == <<calls, waiting, log, epoch, rankSeen, prodSeen, status, producer, exist, got>>

Max(a, b) == IF a > b THEN a ELSE b
Least(S) == CHOOSE i \in S : \A j \in S : i <= j
Range(s) == {s[i] : i \in DOMAIN s}
Ids(s) == {s[i].id : i \in DOMAIN s}
Without(s, i) == SubSeq(s, 1, i - 1) \o SubSeq(s, i + 1, Len(s))
Prune(l) == SelectSeq(l, LAMBDA e : e.taken # Ranks)
Lost == {r \in Ranks : status[r] = "lost"}
CallsOf(p) == {i \in DOMAIN waiting : waiting[i].producer = p}

InitWith(life) ==
    /\ calls = 0
    /\ waiting = <<>>
    /\ log = <<>>
    /\ epoch = 0
    /\ rankSeen = [r \in Ranks |-> 0]
    /\ prodSeen = [p \in Producers |-> 0]
    /\ status = [r \in Ranks |-> "away"]
    /\ producer = [p \in Producers |-> life]
    /\ exist = FALSE
    /\ got = [r \in Ranks |-> <<>>]

Init == InitWith("up")

-----------------------------------------------------------------------------
(* Life of the readers. *)

\* A reader claims the rank. After a loss it skips what others have started without it.
Skipped(r) ==
    Prune([i \in DOMAIN log |-> IF log[i].taken = {} THEN log[i] ELSE [log[i] EXCEPT !.taken = @ \cup {r}]])

Join(r) ==
    /\ status[r] \in {"away", "lost"}
    /\ status' = [status EXCEPT ![r] = "live"]
    /\ rankSeen' = [rankSeen EXCEPT ![r] = epoch]
    /\ log' = IF status[r] = "lost" /\ JoinSkips THEN Skipped(r) ELSE log
    /\ exist' = IF log' = log THEN exist ELSE log' # <<>>
    /\ UNCHANGED <<calls, waiting, epoch, prodSeen, producer, got>>

Leave(r) ==
    /\ status[r] = "live"
    /\ r \in Leavers
    /\ status' = [status EXCEPT ![r] = "away"]
    /\ UNCHANGED <<calls, waiting, log, epoch, rankSeen, prodSeen, producer, exist, got>>

\* The process is gone. The host cannot see it yet.
Crash(r) ==
    /\ status[r] = "live"
    /\ r \in Mortal
    /\ status' = [status EXCEPT ![r] = "dead"]
    /\ UNCHANGED <<calls, waiting, log, epoch, rankSeen, prodSeen, producer, exist, got>>

\* The host sees the rank's connection closed.
Fence(r) ==
    /\ FenceFrees
    /\ status[r] = "dead"
    /\ status' = [status EXCEPT ![r] = "lost"]
    /\ UNCHANGED <<calls, waiting, log, epoch, rankSeen, prodSeen, producer, exist, got>>

-----------------------------------------------------------------------------
(* Life of the producers. *)

Connect(p) ==
    /\ producer[p] = "down"
    /\ producer' = [producer EXCEPT ![p] = "up"]
    /\ prodSeen' = [prodSeen EXCEPT ![p] = epoch]
    /\ UNCHANGED <<calls, waiting, log, epoch, rankSeen, status, exist, got>>

Disconnect(p) ==
    /\ producer[p] = "up"
    /\ p \in Quitters
    /\ CallsOf(p) = {}
    /\ producer' = [producer EXCEPT ![p] = "down"]
    /\ UNCHANGED <<calls, waiting, log, epoch, rankSeen, prodSeen, status, exist, got>>

CrashProducer(p) ==
    /\ producer[p] = "up"
    /\ p \in MortalProducers
    /\ producer' = [producer EXCEPT ![p] = "dead"]
    /\ UNCHANGED <<calls, waiting, log, epoch, rankSeen, prodSeen, status, exist, got>>

FenceProducer(p) ==
    /\ producer[p] = "dead"
    /\ producer' = [producer EXCEPT ![p] = "down"]
    /\ waiting' = IF FenceWithdraws THEN SelectSeq(waiting, LAMBDA c : c.producer # p) ELSE waiting
    /\ UNCHANGED <<calls, log, epoch, rankSeen, prodSeen, status, exist, got>>

-----------------------------------------------------------------------------
(* Put: the call arrives and waits for its turn; then it ends in one of three ways. *)

CallPut(p) ==
    /\ producer[p] = "up"
    /\ Cardinality(CallsOf(p)) < PerProducer
    /\ calls < MaxCalls
    /\ calls' = calls + 1
    /\ waiting' = Append(waiting, [producer |-> p, id |-> calls + 1])
    /\ UNCHANGED <<log, epoch, rankSeen, prodSeen, status, producer, exist, got>>

\* A dead producer may be served: its call had arrived.
Put(p, i) ==
    /\ i = 1 \/ ~PutsInOrder
    /\ Lost = {}
    /\ Len(log) < Depth
    /\ waiting' = Without(waiting, i)
    /\ log' = Append(log, [id |-> waiting[i].id, epoch |-> epoch, taken |-> {}])
    /\ prodSeen' = [prodSeen EXCEPT ![p] = epoch]
    /\ exist' = TRUE
    /\ UNCHANGED <<calls, epoch, rankSeen, status, producer, got>>

PutTasks(p) == \E i \in CallsOf(p) : Put(p, i)

\* A lost rank cannot read, so the call is told at once.
PutLost(p) ==
    /\ Lost # {}
    /\ \E i \in CallsOf(p) : waiting' = Without(waiting, i)
    /\ UNCHANGED <<calls, log, epoch, rankSeen, prodSeen, status, producer, exist, got>>

\* A call that cannot be served now may be given up.
PutTimeout(p) ==
    /\ Lost = {}
    /\ \E i \in CallsOf(p) : (i > 1 \/ Len(log) >= Depth) /\ waiting' = Without(waiting, i)
    /\ UNCHANGED <<calls, log, epoch, rankSeen, prodSeen, status, producer, exist, got>>

-----------------------------------------------------------------------------
(* Get. A dead rank may be served: its call had arrived. *)

Unread(r) == {i \in DOMAIN log : r \notin log[i].taken \/ ~GuardOwnRead}
MayRead(r) == status[r] \in {"live", "dead"} \/ (status[r] = "lost" /\ ~FencedCannotRead)

Take(r, i) ==
    /\ log' = Prune([log EXCEPT ![i].taken = @ \cup {r}])
    /\ exist' = (log' # <<>> \/ ~LowerInside)
    /\ got' = [got EXCEPT ![r] = Append(@, log[i].id)]
    /\ rankSeen' = [rankSeen EXCEPT ![r] = Max(@, log[i].epoch)]

IdleGet == ~IdleGetKeepsExist /\ exist' = FALSE /\ UNCHANGED <<log, got, rankSeen>>

GetTasks(r) ==
    /\ MayRead(r)
    /\ IF Unread(r) # {} THEN Take(r, Least(Unread(r))) ELSE IdleGet
    /\ UNCHANGED <<calls, waiting, epoch, prodSeen, status, producer>>

\* Not in the protocol: the step that a reader owes when it lowers exist after its critical section.
LowerExist ==
    /\ ~LowerInside
    /\ exist /\ log = <<>>
    /\ exist' = FALSE
    /\ UNCHANGED <<calls, waiting, log, epoch, rankSeen, prodSeen, status, producer, got>>

-----------------------------------------------------------------------------
(* Clear. A clear applies to the epoch that its handle has seen: the clears of all ranks for one epoch are one. *)

Effective(seen) == seen = epoch \/ ~ClearOncePerEpoch

Clear(seen) ==
    IF Effective(seen)
    THEN /\ epoch < MaxEpoch
         /\ log' = SelectSeq(log, LAMBDA e : e.taken # {} /\ ClearKeepsStarted)
         /\ epoch' = epoch + 1
         /\ exist' = IF ClearLowersExist THEN log' # <<>> ELSE exist
    ELSE UNCHANGED <<log, epoch, exist>>

ClearRank(r) ==
    /\ status[r] = "live"
    /\ Clear(rankSeen[r])
    /\ rankSeen' = [rankSeen EXCEPT ![r] = epoch']
    /\ UNCHANGED <<calls, waiting, prodSeen, status, producer, got>>

ClearProducer(p) ==
    /\ producer[p] = "up"
    /\ Clear(prodSeen[p])
    /\ prodSeen' = [prodSeen EXCEPT ![p] = epoch']
    /\ UNCHANGED <<calls, waiting, rankSeen, status, producer, got>>

-----------------------------------------------------------------------------
Next ==
    \/ \E r \in Ranks : Join(r) \/ Leave(r) \/ Crash(r) \/ Fence(r) \/ GetTasks(r) \/ ClearRank(r)
    \/ \E p \in Producers : \/ Connect(p) \/ Disconnect(p) \/ CrashProducer(p) \/ FenceProducer(p)
                            \/ CallPut(p) \/ PutTasks(p) \/ PutLost(p) \/ PutTimeout(p) \/ ClearProducer(p)
    \/ LowerExist

Spec == Init /\ [][Next]_vars
=============================================================================
