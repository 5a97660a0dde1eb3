----------------------------- MODULE RingState -----------------------------
(* Constants, words and variables of the ring: see Ring.tla. *)
EXTENDS Integers, Sequences

CONSTANTS
    R,                  \* number of ranks
    N,                  \* number of slots
    Puts,               \* bound: messages
    Joins,              \* how often ranks may come back after they were fenced: rank 0 first, at last each twice
    Clears,             \* bound: clears
    Mortal,             \* processes that may be killed
    Fenceable,          \* ranks that may be fenced while their reader lives
    Ordered             \* do stores reach memory in order?

CONSTANTS PublishLast, PublishFence, WaitsForCursors, SkipsFenced, LivesLast, ChecksLife, JoinBarrier, AnnouncesBegin,
          ClearBarrier, KeepsBegun, Resumes, CompletesClear, ComparesGate, PassesOver, LooksForVoids, MarksOnce

Ranks == 0 .. R - 1
Lines == 0 .. R + Joins - 1     \* readers: r is rank r's first one, R+r its second, 2R+r its third
Writer == R + Joins
Clearer == R + Joins + 1
All == 0 .. Clearer
Slots == 0 .. N - 1
RankOf(p) == p % R
Incarnation(p) == 2 * (p \div R)
Words == 0 .. (IF Joins < R THEN R + Joins ELSE 2 * R) - 1
Line(p) == p % (2 * R)          \* whose words a reader stores to: a rank has two lines, used in turn

ASSUME /\ {R, N, Puts} \subseteq Nat \ {0} /\ {Joins, Clears} \subseteq Nat /\ Joins <= 2 * R
       /\ Mortal \subseteq All /\ Fenceable \subseteq Ranks
       /\ {Ordered, PublishLast, PublishFence, WaitsForCursors, SkipsFenced, LivesLast, ChecksLife, JoinBarrier,
           AnnouncesBegin, ClearBarrier, KeepsBegun, Resumes, CompletesClear, ComparesGate, PassesOver, LooksForVoids,
           MarksOnce} \subseteq BOOLEAN

VARIABLES
    mem,        \* the words in memory
    buf,        \* stores of each process that are on their way
    pc,         \* what each process does next
    at,         \* where it is in a loop over words
    low,        \* what that loop has found: the least cursor, the furthest begun; where a reader goes on
    top,        \* the last message that a clear is about
    known,      \* the lives that the writer knows
    room,       \* the writer may fill slots for messages up to this one
    head,       \* the last message that the writer has published
    pos,        \* the last message that each reader is done with
    took,       \* what each reader has copied
    saw,        \* the gate that each reader knows
    got,        \* history: what each reader has given to its caller
    dropped,    \* history: what was taken back
    start,      \* history: after which message each reader began
    sent,       \* history: puts that have returned
    alive       \* who has not been killed

vars == <<mem, buf, pc, at, low, top, known, room, head, pos, took, saw, got, dropped, start, sent, alive>>
history == <<got, dropped, start, sent>>
writers == <<known, room, head>>

Init ==
    /\ mem = [seq |-> [s \in Slots |-> 0], data |-> [s \in Slots |-> 0], begun |-> [w \in Words |-> 0],
              cursor |-> [w \in Words |-> 0], life |-> [r \in Ranks |-> 0], gate |-> [g \in {0} |-> 0]]
    /\ buf = [p \in All |-> <<>>]
    /\ pc = [p \in All |-> IF p \in Lines /\ p >= R THEN "out" ELSE "idle"]
    /\ at = [p \in All |-> 0]
    /\ low = [p \in All |-> 0]
    /\ top = 0
    /\ known = [r \in Ranks |-> 0]
    /\ room = N
    /\ head = 0
    /\ pos = [p \in Lines |-> 0]
    /\ took = [p \in Lines |-> 0]
    /\ saw = [p \in Lines |-> 0]
    /\ got = [p \in Lines |-> <<>>]
    /\ dropped = {}
    /\ start = [p \in Lines |-> 0]
    /\ sent = 0
    /\ alive = [p \in All |-> TRUE]

Max(a, b) == IF a > b THEN a ELSE b
Min(a, b) == IF a < b THEN a ELSE b
Abs(a) == IF a < 0 THEN -a ELSE a
Slot(m) == (m - 1) % N

\* What p loads: its own newest store to the word, if one is on its way.
Own(p, word, i) == {k \in DOMAIN buf[p] : buf[p][k][1] = word /\ buf[p][k][2] = i}
Newest(I) == CHOOSE k \in I : \A j \in I : k >= j
Load(p, word, i) == IF Own(p, word, i) = {} THEN mem[word][i] ELSE buf[p][Newest(Own(p, word, i))][3]
Put(p, word, i, to) == buf' = [buf EXCEPT ![p] = Append(@, <<word, i, to>>)]
At(p, from) == pc[p] = from
To(p, there) == pc' = [pc EXCEPT ![p] = there]
Set(f, p, to) == [f EXCEPT ![p] = to]

=============================================================================
