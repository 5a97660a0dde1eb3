------------------------------ MODULE RingWait ------------------------------
(***************************************************************************)
(* How one side of the ring sleeps until the other side has stored what it *)
(* waits for. Tellers store: the writer a message's number, readers their  *)
(* cursors. Sleepers wait until all tellers' words are high enough: readers*)
(* for the one writer, a writer for all readers. One step is one aligned   *)
(* load or store, or one system call; memory is that of x86-64, as in      *)
(* Ring.tla. A teller does no system call when nobody sleeps.              *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents.                         *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS
    T,                  \* number of tellers
    S,                  \* number of sleepers
    Tells,              \* bound: a teller stores 1 .. Tells; a sleeper waits for 1, 2, .. and last for Tells
    Mortal,             \* processes that may be killed
    Spurious,           \* may a sleep end without a reason?
    Decides             \* is a look with the flag up, that finds it due, a sleeper's last one?

CONSTANTS LooksAfter, Barrier, BellFirst, FreshBell, OwnFlag, Rechecks

Tellers == 0 .. T - 1
Sleepers == T .. T + S - 1
All == 0 .. T + S - 1

ASSUME /\ {T, S, Tells} \subseteq Nat \ {0} /\ Mortal \subseteq All /\ {Spurious, Decides} \subseteq BOOLEAN
       /\ {LooksAfter, Barrier, BellFirst, FreshBell, OwnFlag, Rechecks} \subseteq BOOLEAN

VARIABLES
    mem,        \* the words in memory: one of each teller, a flag of each sleeper, the futex word
    buf,        \* stores of each process that are on their way
    pc,         \* what each process does next
    at,         \* at which teller's word a sleeper is
    seen,       \* the futex word that a sleeper has seen; the one that a teller will store
    counts,     \* what each teller has stored, what each sleeper waits for
    alive       \* who has not been killed

vars == <<mem, buf, pc, at, seen, counts, alive>>

Init ==
    /\ mem = [word |-> [t \in Tellers |-> 0], flag |-> [p \in All |-> 0], bell |-> [b \in {0} |-> 0]]
    /\ buf = [p \in All |-> <<>>]
    /\ pc = [p \in All |-> IF p \in Tellers THEN "idle" ELSE "peek"]
    /\ at = [p \in All |-> 0]
    /\ seen = [p \in All |-> 0]
    /\ counts = [p \in All |-> IF p \in Tellers THEN 0 ELSE 1]
    /\ alive = [p \in All |-> TRUE]

Own(p, word, i) == {k \in DOMAIN buf[p] : buf[p][k][1] = word /\ buf[p][k][2] = i}
Newest(I) == CHOOSE k \in I : \A j \in I : k >= j
Load(p, word, i) == IF Own(p, word, i) = {} THEN mem[word][i] ELSE buf[p][Newest(Own(p, word, i))][3]
Put(p, word, i, to) == buf' = [buf EXCEPT ![p] = Append(@, <<word, i, to>>)]
At(p, from) == pc[p] = from
To(p, there) == pc' = [pc EXCEPT ![p] = there]
Set(f, p, to) == [f EXCEPT ![p] = to]

-----------------------------------------------------------------------------
(* Telling. *)

StoreWord(p) ==
    /\ p \in Tellers /\ At(p, IF LooksAfter THEN "idle" ELSE "store")
    /\ counts[p] < Tells
    /\ Put(p, "word", p, counts[p] + 1)
    /\ counts' = Set(counts, p, counts[p] + 1)
    /\ To(p, IF LooksAfter THEN "look" ELSE IF seen[p] = 0 THEN "idle" ELSE "bell")
    /\ UNCHANGED <<mem, at, seen, alive>>

\* The flags of all sleepers are one word. If none is up, this is all.
LoadFlags(p) ==
    /\ p \in Tellers /\ At(p, IF LooksAfter THEN "look" ELSE "idle")
    /\ counts[p] < Tells \/ LooksAfter
    /\ LET up == \E q \in Sleepers : Load(p, "flag", q) = 1 IN
        /\ seen' = Set(seen, p, IF ~up THEN 0 ELSE IF FreshBell THEN counts[p] * T + p + 1 ELSE mem.bell[0] + 1)
        /\ To(p, IF ~LooksAfter THEN "store" ELSE IF up THEN "bell" ELSE "idle")
    /\ UNCHANGED <<mem, buf, at, counts, alive>>

\* Who was about to sleep on the old value does not.
StoreBell(p) ==
    /\ p \in Tellers /\ At(p, "bell")
    /\ Put(p, "bell", 0, seen[p])
    /\ seen' = Set(seen, p, 0)
    /\ To(p, "wake")
    /\ UNCHANGED <<mem, at, counts, alive>>

\* A system call: a full barrier.
Wake(p) ==
    /\ p \in Tellers /\ At(p, "wake")
    /\ buf[p] = <<>>
    /\ pc' = [q \in All |-> IF q = p THEN (IF OwnFlag THEN "idle" ELSE "lower")
                            ELSE IF pc[q] = "asleep" THEN "again" ELSE pc[q]]
    /\ UNCHANGED <<mem, buf, at, seen, counts, alive>>

\* Only without OwnFlag: who has woken everybody lowers the flags.
LowerAll(p) ==
    /\ p \in Tellers /\ At(p, "lower")
    /\ Put(p, "flag", T, 0)
    /\ To(p, "idle")
    /\ UNCHANGED <<mem, at, seen, counts, alive>>

-----------------------------------------------------------------------------
(* Sleeping. Due is what the tellers' words say, looked at one after the other. *)

Next1(p, due, not) ==
    LET there == Load(p, "word", at[p]) >= counts[p] IN
    IF there /\ at[p] < T - 1 THEN at' = Set(at, p, at[p] + 1) /\ UNCHANGED pc
    ELSE at' = Set(at, p, 0) /\ To(p, IF there THEN due ELSE not)

Got(p) == IF counts[p] = Tells THEN "done" ELSE "peek"
More(p) == IF counts[p] = Tells THEN counts ELSE Set(counts, p, counts[p] + 1)

\* Where a look with the flag up says that it is due. A writer is done then: its look has been at all words (Decides). A
\* reader looks once more, because it needs what the word says.
Due1 == IF Decides THEN "over" ELSE "down"

Peek(p) ==
    /\ p \in Sleepers /\ At(p, "peek")
    /\ Next1(p, Got(p), "flag")
    /\ counts' = IF pc'[p] \in {"done", "peek"} /\ at[p] = T - 1 THEN More(p) ELSE counts
    /\ UNCHANGED <<mem, buf, seen, alive>>

RaiseFlag(p) ==
    /\ p \in Sleepers /\ At(p, "flag")
    /\ Put(p, "flag", IF OwnFlag THEN p ELSE T, 1)
    /\ To(p, IF Barrier THEN "barrier" ELSE IF BellFirst THEN "token" ELSE "due")
    /\ UNCHANGED <<mem, at, seen, counts, alive>>

\* It runs on the processor of each teller, one after the other.
BarrierReaches(p) ==
    /\ p \in Sleepers /\ At(p, "barrier")
    /\ buf[p] = <<>>
    /\ buf[at[p]] = <<>>
    /\ at' = Set(at, p, IF at[p] < T - 1 THEN at[p] + 1 ELSE 0)
    /\ To(p, IF at[p] < T - 1 THEN "barrier" ELSE IF BellFirst THEN "token" ELSE "due")
    /\ UNCHANGED <<mem, buf, seen, counts, alive>>

SeeBell(p) ==
    /\ p \in Sleepers /\ At(p, "token")
    /\ seen' = Set(seen, p, Load(p, "bell", 0))
    /\ To(p, IF BellFirst THEN "due" ELSE "sleep")
    /\ UNCHANGED <<mem, buf, at, counts, alive>>

SeeDue(p) ==
    /\ p \in Sleepers /\ At(p, "due")
    /\ Next1(p, Due1, IF BellFirst THEN "sleep" ELSE "token")
    /\ seen' = IF pc'[p] = Due1 THEN Set(seen, p, 0) ELSE seen
    /\ UNCHANGED <<mem, buf, counts, alive>>

\* A system call: a full barrier. It compares and goes to sleep in one step.
Sleep(p) ==
    /\ p \in Sleepers /\ At(p, "sleep")
    /\ buf[p] = <<>>
    /\ To(p, IF mem.bell[0] = seen[p] THEN "asleep" ELSE "again")
    /\ seen' = Set(seen, p, 0)
    /\ UNCHANGED <<mem, buf, at, counts, alive>>

\* A sleep ends without a reason, or its interval is over.
Rouse(p) ==
    /\ p \in Sleepers /\ At(p, "asleep")
    /\ Spurious \/ Rechecks
    /\ To(p, "again")
    /\ UNCHANGED <<mem, buf, at, seen, counts, alive>>

SeeAgain(p) ==
    /\ p \in Sleepers /\ At(p, "again")
    /\ Next1(p, Due1, "down")
    /\ UNCHANGED <<mem, buf, seen, counts, alive>>

LowerFlag(p) ==
    /\ p \in Sleepers /\ pc[p] \in {"down", "over"}
    /\ Put(p, "flag", IF OwnFlag THEN p ELSE T, 0)
    /\ To(p, IF At(p, "over") THEN Got(p) ELSE "peek")
    /\ counts' = IF At(p, "over") THEN More(p) ELSE counts
    /\ UNCHANGED <<mem, at, seen, alive>>

-----------------------------------------------------------------------------
Flush(p) ==
    /\ buf[p] # <<>>
    /\ mem' = [mem EXCEPT ![Head(buf[p])[1]][Head(buf[p])[2]] = Head(buf[p])[3]]
    /\ buf' = [buf EXCEPT ![p] = Tail(@)]
    /\ UNCHANGED <<pc, at, seen, counts, alive>>

Kill(p) ==
    /\ p \in Mortal
    /\ alive[p]
    /\ alive' = Set(alive, p, FALSE)
    /\ seen' = Set(seen, p, 0) /\ at' = Set(at, p, 0)
    /\ To(p, "dead")
    /\ UNCHANGED <<mem, buf, counts>>

Next ==
    \/ \E p \in Tellers : StoreWord(p) \/ LoadFlags(p) \/ StoreBell(p) \/ Wake(p) \/ LowerAll(p)
    \/ \E p \in Sleepers : Peek(p) \/ RaiseFlag(p) \/ BarrierReaches(p) \/ SeeBell(p) \/ SeeDue(p)
    \/ \E p \in Sleepers : Sleep(p) \/ Rouse(p) \/ SeeAgain(p) \/ LowerFlag(p)
    \/ \E p \in All : Flush(p) \/ Kill(p)

Spec == Init /\ [][Next]_vars

(* Claims. *)
TypeOK ==
    /\ \A t \in Tellers : mem.word[t] \in 0 .. Tells
    /\ \A p \in All : mem.flag[p] \in {0, 1} /\ counts[p] \in 0 .. Tells
    /\ mem.bell[0] \in Nat /\ alive \in [All -> BOOLEAN]

\* Every teller has told all, and all of it is in memory.
Settled == (\A p \in All : buf[p] = <<>>) /\ \A p \in Tellers : pc[p] = "dead" \/ (pc[p] = "idle" /\ counts[p] = Tells)
Due(p) == \A t \in Tellers : mem.word[t] >= counts[p]

\* If no teller was killed, nobody goes on sleeping whose turn has come.
NoLostWakeUp == ~(Settled /\ (\A p \in Tellers : alive[p]) /\ \E p \in Sleepers : pc[p] = "asleep" /\ Due(p))

\* A wait that has ended had a reason.
Honest == \A p \in Sleepers : pc[p] = "done" => \A t \in Tellers : counts[t] = Tells

\* Also if tellers are killed: at the latest when the interval of the sleep is over.
WaitsEnd == \A p \in Sleepers : Settled /\ Due(p) /\ counts[p] = Tells ~> pc[p] \in {"done", "dead"}

Goes(p) ==
    \/ Peek(p) \/ RaiseFlag(p) \/ BarrierReaches(p) \/ SeeBell(p) \/ SeeDue(p) \/ Sleep(p) \/ SeeAgain(p) \/ LowerFlag(p)

FairSpec ==
    /\ Spec
    /\ \A p \in All : WF_vars(Flush(p))
    /\ \A p \in Sleepers : WF_vars(Goes(p)) /\ (Rechecks => WF_vars(Rouse(p)))
=============================================================================
