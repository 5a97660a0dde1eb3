---------------------------- MODULE RingSegments ----------------------------
(***************************************************************************)
(* The words, files and locks of RingOverflow, and what is known of them.  *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
    W,                  \* number of writers
    R,                  \* number of ranks; each has a first reader and, perhaps, a second one
    K,                  \* number of slots
    Puts,               \* bound: messages, all of them large
    S,                  \* bound: segments; s has the number s + 1
    Larger,             \* messages that are larger than all segments before
    Back,               \* do ranks that were given up come back?
    Mortal,             \* processes that may be killed
    Fenceable,          \* ranks whose first reader may be given up while it lives
    Leavers             \* writers that may leave before the end of the ring

CONSTANTS AfterReaders, AfterZombies, KeepsUnbegun, OneCounter, LeavesUnread, TakesUnread, TakesLatest, AsksLock,
          ChecksPlace, TakesOver, SweepsNew

Writers == 0 .. W - 1
Lines == 0 .. 2 * R - 1
All == 0 .. W + 2 * R - 1
Segments == 0 .. S - 1

ASSUME /\ {W, R, K, Puts, S} \subseteq Nat \ {0} /\ Larger \subseteq 1 .. Puts /\ Back \in BOOLEAN
       /\ Mortal \subseteq All /\ Fenceable \subseteq 0 .. R - 1 /\ Leavers \subseteq Writers
       /\ {AfterReaders, AfterZombies, KeepsUnbegun, OneCounter, LeavesUnread} \subseteq BOOLEAN
       /\ {TakesUnread, TakesLatest, AsksLock, ChecksPlace, TakesOver, SweepsNew} \subseteq BOOLEAN

VARIABLES
    ring,       \* does the ring have its name?
    lock,       \* who has the writer's lock; -1: nobody
    pc,         \* what each process does next
    made,       \* the word in the ring: numbers given to segments so far
    temp,       \* segments that do not have their name yet, or still another one
    files,      \* segments that have their name
    owner,      \* who has the lock of each segment; -1: nobody
    holds,      \* the last message in each segment, as its owner knows
    data,       \* the message whose bytes are there; -1: half of them; 0: none
    use,        \* the segment that each writer is about
    head,       \* the last message
    where,      \* the segment that each slot says
    life,       \* of each rank: 0, its first reader is counted; 1, nobody; 2, its second one; 3, nobody
    begun,      \* what each reader has announced
    pos,        \* what each reader is done with
    hand        \* the segment that each reader is about

vars == <<ring, lock, pc, made, temp, files, owner, holds, data, use, head, where, life, begun, pos, hand>>
OfWriters == <<ring, made, temp, files, owner, holds, data, use, head, where, lock>>
OfReaders == <<life, begun, pos, hand>>

Init ==
    /\ ring = TRUE /\ lock = -1 /\ made = 0 /\ temp = {} /\ files = {} /\ head = 0
    /\ pc = [p \in All |-> IF p = 0 THEN "idle" ELSE IF p < W THEN "out" ELSE IF p < W + R THEN "idle" ELSE "away"]
    /\ owner = [s \in Segments |-> -1] /\ holds = [s \in Segments |-> 0] /\ data = [s \in Segments |-> 0]
    /\ use = [p \in Writers |-> -1] /\ where = [k \in 0 .. K - 1 |-> -1]
    /\ life = [r \in 0 .. R - 1 |-> 0]
    /\ begun = [l \in Lines |-> 0] /\ pos = [l \in Lines |-> 0] /\ hand = [l \in Lines |-> -1]

Least(I) == CHOOSE i \in I : \A j \in I : i <= j
Most(I) == CHOOSE i \in I : \A j \in I : i >= j
Set(f, p, to) == [f EXCEPT ![p] = to]
At(p, from) == pc[p] = from
To(p, there) == pc' = [pc EXCEPT ![p] = there]

Counted(l) == life[l % R] = 2 * (l \div R)
Cursors == {pos[l] : l \in {k \in Lines : Counted(k)}}
Begun == Most({begun[l] : l \in Lines})

\* Up to this message everybody is done who is counted. Who comes back begins after what somebody has begun.
Passed == IF Cursors # {} /\ AfterReaders THEN Least(Cursors) ELSE head
Over == IF KeepsUnbegun /\ Begun < Passed THEN Begun ELSE Passed

\* Given up, and alive: perhaps in the middle of a segment.
Zombies == \E l \in Lines : ~Counted(l) /\ pc[W + l] \notin {"away", "dead", "gone"}

Mine(p) == {s \in files : owner[s] = p}
Abandoned(p) == {s \in files : IF AsksLock THEN owner[s] = -1 ELSE owner[s] # p}

\* The last message that a segment is said to have: an older slot may name one that was used again. Before: in a
\* slot whose number was not stored yet.
Said(s) == {n \in 1 .. head : n > head - K /\ where[(n - 1) % K] = s}
Before(s) == IF head + 1 > K /\ where[head % K] = s THEN head + 1 - K ELSE 0
Message(s) == IF Said(s) # {} /\ ~TakesLatest THEN Least(Said(s)) ELSE Most(Said(s) \cup {Before(s)})
Unread(s) == TakesUnread /\ Message(s) > Over

Without(s) ==
    /\ files' = files \ {s}
    /\ owner' = Set(owner, s, -1)
    /\ holds' = Set(holds, s, 0)
=============================================================================
