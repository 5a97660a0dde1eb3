----------------------------- MODULE Broadcast -----------------------------
(***************************************************************************)
(* What a broadcast channel means, whatever it is made of: messages are    *)
(* sent in order, every reader gets each of them once and in that order,   *)
(* few are under way at a time. A clear takes back what nobody has got.    *)
(* A reader that was lost and comes back does not get what the others have *)
(* begun without it.                                                       *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
    Readers,
    Messages,       \* a set of numbers; they are sent in increasing order, not necessarily all
    Depth,          \* messages that may be under way at once
    Epochs          \* 0 .. the number of clears

VARIABLES
    sent,           \* messages in the order in which they were sent
    got,            \* what each reader has got
    dropped,        \* messages that a clear took back
    skipped,        \* messages that each reader has missed by being lost
    epoch,          \* clears so far
    reader,         \* "out", "in", "dying" (gone, and nobody knows), "lost" (known to be gone)
    writer          \* is there anybody who can send?

broadcastVars == <<sent, got, dropped, skipped, epoch, reader, writer>>

SetOf(s) == {s[i] : i \in DOMAIN s}

\* What a reader should get, from first to last.
Wanted(r) == SelectSeq(sent, LAMBDA m : m \notin dropped \cup skipped[r])
Has(r, m) == m \in SetOf(got[r])
Started(m) == \E r \in Readers : Has(r, m)
Pending == {m \in SetOf(sent) \ dropped : \E r \in Readers : ~Has(r, m) /\ m \notin skipped[r]}

BroadcastInit ==
    /\ sent = <<>>
    /\ got = [r \in Readers |-> <<>>]
    /\ dropped = {}
    /\ skipped = [r \in Readers |-> {}]
    /\ epoch = 0
    /\ reader = [r \in Readers |-> "out"]
    /\ writer = TRUE

Send(m) ==
    /\ writer
    /\ \A n \in SetOf(sent) : n < m
    /\ Cardinality(Pending) < Depth
    /\ sent' = Append(sent, m)
    /\ UNCHANGED <<got, dropped, skipped, epoch, reader, writer>>

Receive(r) ==
    /\ reader[r] \in {"in", "dying"}
    /\ Len(got[r]) < Len(Wanted(r))
    /\ got' = [got EXCEPT ![r] = Append(@, Wanted(r)[Len(@) + 1])]
    /\ UNCHANGED <<sent, dropped, skipped, epoch, reader, writer>>

Clear ==
    /\ epoch + 1 \in Epochs
    /\ epoch' = epoch + 1
    /\ dropped' = dropped \cup {m \in Pending : ~Started(m)}
    /\ UNCHANGED <<sent, got, skipped, reader, writer>>

Become(r, from, to) == reader[r] = from /\ reader' = [reader EXCEPT ![r] = to]

Enter(r) == Become(r, "out", "in") /\ UNCHANGED <<sent, got, dropped, skipped, epoch, writer>>
Exit(r) == Become(r, "in", "out") /\ UNCHANGED <<sent, got, dropped, skipped, epoch, writer>>
Die(r) == Become(r, "in", "dying") /\ UNCHANGED <<sent, got, dropped, skipped, epoch, writer>>
Lose(r) == Become(r, "dying", "lost") /\ UNCHANGED <<sent, got, dropped, skipped, epoch, writer>>

Recover(r) ==
    /\ Become(r, "lost", "in")
    /\ skipped' = [skipped EXCEPT ![r] = @ \cup {m \in Pending : Started(m) /\ ~Has(r, m)}]
    /\ UNCHANGED <<sent, got, dropped, epoch, writer>>

WriterComesOrGoes == writer' = ~writer /\ UNCHANGED <<sent, got, dropped, skipped, epoch, reader>>

BroadcastNext ==
    \/ \E m \in Messages : Send(m)
    \/ \E r \in Readers : Receive(r) \/ Enter(r) \/ Exit(r) \/ Die(r) \/ Lose(r) \/ Recover(r)
    \/ Clear
    \/ WriterComesOrGoes

BroadcastSpec == BroadcastInit /\ [][BroadcastNext]_broadcastVars

\* A reader that is there, and has something to get, goes on getting.
BroadcastFairness == \A r \in Readers : SF_broadcastVars(reader[r] = "in" /\ Receive(r))

BroadcastFairSpec == BroadcastSpec /\ BroadcastFairness

-----------------------------------------------------------------------------
TypeOK ==
    /\ SetOf(sent) \subseteq Messages
    /\ dropped \subseteq SetOf(sent)
    /\ \A r \in Readers : SetOf(got[r]) \cup skipped[r] \subseteq SetOf(sent)
    /\ epoch \in Epochs
    /\ reader \in [Readers -> {"out", "in", "dying", "lost"}]
    /\ writer \in BOOLEAN

\* Each once and in order: what a reader has is the beginning of what it should get.
ExactlyOnceInOrder == \A r \in Readers : got[r] = SubSeq(Wanted(r), 1, Len(got[r]))

Bounded == Cardinality(Pending) <= Depth

\* A message that somebody has got is never taken back, and nobody gets what it has missed.
OneFate ==
    /\ \A m \in dropped : ~Started(m)
    /\ \A r \in Readers : SetOf(got[r]) \cap skipped[r] = {}

Arrives ==
    \A r \in Readers, m \in Messages :
        (reader[r] = "in" /\ m \in SetOf(Wanted(r)) /\ ~Has(r, m))
            ~> (Has(r, m) \/ m \in dropped \cup skipped[r] \/ reader[r] # "in")
=============================================================================
