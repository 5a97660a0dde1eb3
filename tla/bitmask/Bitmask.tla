------------------------------ MODULE Bitmask ------------------------------
(***************************************************************************)
(* Transfer tasks for N ranks: a queue, and for each task in it a number   *)
(* whose bit r says that rank r has taken it. The contract is              *)
(* spec/bitmask.toml. This is Dispatch in the seed's representation; that  *)
(* the two are the same protocol is checked in BitmaskRefines.tla and      *)
(* DispatchRefinesBitmask.tla.                                             *)
(*                                                                         *)
(* Three guards can be taken away, for the races of the cache queue. What  *)
(* the other guards of Dispatch prevent is shown there.                    *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS N, P, Depth, MaxCalls, MaxEpoch, PerProducer, Leavers, Mortal, MortalProducers, Quitters   \* as in Dispatch

CONSTANTS
    PutKeepsMask,       \* a put leaves the masks alone
    ClearKeepsStarted,  \* a clear leaves a task that some rank has taken
    FenceFrees          \* a rank that is gone is fenced

Ranks == 0 .. N - 1
Producers == 0 .. P - 1
Full == 2 ^ N - 1

ASSUME /\ {N, P, Depth, PerProducer} \subseteq Nat \ {0}
       /\ {MaxCalls, MaxEpoch} \subseteq Nat
       /\ Leavers \cup Mortal \subseteq Ranks
       /\ MortalProducers \cup Quitters \subseteq Producers
       /\ {PutKeepsMask, ClearKeepsStarted, FenceFrees} \subseteq BOOLEAN

VARIABLES
    calls, waiting, epoch, rankSeen, prodSeen, status, producer, exist, got,    \* as in Dispatch
    queue       \* queued tasks, oldest first, with the mask of each

vars == <<calls, waiting, queue, epoch, rankSeen, prodSeen, status, producer, exist, got>>

Max(a, b) == IF a > b THEN a ELSE b
Ids(s) == {s[i].id : i \in DOMAIN s}
Without(s, i) == SubSeq(s, 1, i - 1) \o SubSeq(s, i + 1, Len(s))
Lost == {r \in Ranks : status[r] = "lost"}
CallsOf(p) == {i \in DOMAIN waiting : waiting[i].producer = p}

HasBit(mask, r) == (mask \div 2 ^ r) % 2 = 1
WithBit(mask, r) == IF HasBit(mask, r) THEN mask ELSE mask + 2 ^ r
DropFull(q) == SelectSeq(q, LAMBDA e : e.mask # Full)

Init ==
    /\ calls = 0 /\ waiting = <<>> /\ queue = <<>> /\ epoch = 0
    /\ rankSeen = [r \in Ranks |-> 0]
    /\ prodSeen = [p \in Producers |-> 0]
    /\ status = [r \in Ranks |-> "away"]
    /\ producer = [p \in Producers |-> "up"]
    /\ exist = FALSE
    /\ got = [r \in Ranks |-> <<>>]

-----------------------------------------------------------------------------
(* Life of the readers and of the producers. *)

\* After a loss a rank has all bits of what others have started.
Skipped(r) ==
    DropFull([i \in DOMAIN queue |-> IF queue[i].mask = 0 THEN queue[i] ELSE [queue[i] EXCEPT !.mask = WithBit(@, r)]])

Join(r) ==
    /\ status[r] \in {"away", "lost"}
    /\ status' = [status EXCEPT ![r] = "live"]
    /\ rankSeen' = [rankSeen EXCEPT ![r] = epoch]
    /\ queue' = IF status[r] = "lost" THEN Skipped(r) ELSE queue
    /\ exist' = (queue' # <<>>)
    /\ UNCHANGED <<calls, waiting, epoch, prodSeen, producer, got>>

Life(r, from, to) ==
    /\ status[r] = from
    /\ status' = [status EXCEPT ![r] = to]
    /\ UNCHANGED <<calls, waiting, queue, epoch, rankSeen, prodSeen, producer, exist, got>>

Leave(r) == r \in Leavers /\ Life(r, "live", "away")
Crash(r) == r \in Mortal /\ Life(r, "live", "dead")
Fence(r) == FenceFrees /\ Life(r, "dead", "lost")

Connect(p) ==
    /\ producer[p] = "down"
    /\ producer' = [producer EXCEPT ![p] = "up"]
    /\ prodSeen' = [prodSeen EXCEPT ![p] = epoch]
    /\ UNCHANGED <<calls, waiting, queue, epoch, rankSeen, status, exist, got>>

ProducerEnds(p, from, to) ==
    /\ producer[p] = from
    /\ producer' = [producer EXCEPT ![p] = to]
    /\ UNCHANGED <<calls, queue, epoch, rankSeen, prodSeen, status, exist, got>>

Disconnect(p) == p \in Quitters /\ CallsOf(p) = {} /\ ProducerEnds(p, "up", "down") /\ UNCHANGED waiting
CrashProducer(p) == p \in MortalProducers /\ ProducerEnds(p, "up", "dead") /\ UNCHANGED waiting
FenceProducer(p) == ProducerEnds(p, "dead", "down") /\ waiting' = SelectSeq(waiting, LAMBDA c : c.producer # p)

-----------------------------------------------------------------------------
(* Put. *)

CallPut(p) ==
    /\ producer[p] = "up"
    /\ Cardinality(CallsOf(p)) < PerProducer
    /\ calls < MaxCalls
    /\ calls' = calls + 1
    /\ waiting' = Append(waiting, [producer |-> p, id |-> calls + 1])
    /\ UNCHANGED <<queue, epoch, rankSeen, prodSeen, status, producer, exist, got>>

\* The put of the race sets the mask of the oldest task to 0, whatever it is by then.
Unmasked(q) == IF PutKeepsMask \/ q = <<>> THEN q ELSE [q EXCEPT ![1].mask = 0]

PutTasks(p) ==
    /\ waiting # <<>> /\ Head(waiting).producer = p
    /\ Lost = {}
    /\ Len(queue) < Depth
    /\ waiting' = Tail(waiting)
    /\ queue' = Append(Unmasked(queue), [id |-> Head(waiting).id, epoch |-> epoch, mask |-> 0])
    /\ prodSeen' = [prodSeen EXCEPT ![p] = epoch]
    /\ exist' = TRUE
    /\ UNCHANGED <<calls, epoch, rankSeen, status, producer, got>>

GiveUp(i) == waiting' = Without(waiting, i)
             /\ UNCHANGED <<calls, queue, epoch, rankSeen, prodSeen, status, producer, exist, got>>

PutLost(p) == Lost # {} /\ \E i \in CallsOf(p) : GiveUp(i)
PutTimeout(p) == Lost = {} /\ \E i \in CallsOf(p) : (i > 1 \/ Len(queue) = Depth) /\ GiveUp(i)

-----------------------------------------------------------------------------
(* Get: the oldest task without the rank's bit. *)

Unread(r) == {i \in DOMAIN queue : ~HasBit(queue[i].mask, r)}

GetTasks(r) ==
    /\ status[r] \in {"live", "dead"}
    /\ Unread(r) # {}
    /\ LET i == CHOOSE j \in Unread(r) : \A k \in Unread(r) : j <= k
       IN /\ queue' = DropFull([queue EXCEPT ![i].mask = WithBit(@, r)])
          /\ got' = [got EXCEPT ![r] = Append(@, queue[i].id)]
          /\ rankSeen' = [rankSeen EXCEPT ![r] = Max(@, queue[i].epoch)]
    /\ exist' = (queue' # <<>>)
    /\ UNCHANGED <<calls, waiting, epoch, prodSeen, status, producer>>

-----------------------------------------------------------------------------
(* Clear. It never waits. *)

Clear(seen) ==
    IF seen = epoch
    THEN /\ epoch < MaxEpoch
         /\ queue' = SelectSeq(queue, LAMBDA e : e.mask # 0 /\ ClearKeepsStarted)
         /\ epoch' = epoch + 1
         /\ exist' = (queue' # <<>>)
    ELSE UNCHANGED <<queue, epoch, exist>>

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

Spec == Init /\ [][Next]_vars
=============================================================================
