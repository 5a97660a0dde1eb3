------------------------------ MODULE RingPlace ------------------------------
(***************************************************************************)
(* The writer's place when several processes put in turn. Each put takes a *)
(* lock of the kernel, reads from memory which number is next, waits for   *)
(* the slot, publishes, and gives the lock back. It is the writer of Ring  *)
(* with a TakeOver before every put; that a number is seen after its       *)
(* payload is Ring's. The order of puts of different processes is that in  *)
(* which they get the lock.                                                *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents.                         *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS
    W,                  \* number of writers
    K,                  \* number of slots
    Puts,               \* bound: messages of each writer
    Mortal,             \* writers that may be killed
    Stoppable           \* writers that may be stopped for ever

CONSTANTS SeesAgain, KernelLock, TakesLock, GivesBack, AsksLife

Writers == 0 .. W - 1
Slots == 0 .. K - 1
Messages == 1 .. W * Puts

ASSUME /\ {W, K, Puts} \subseteq Nat \ {0} /\ Mortal \subseteq Writers /\ Stoppable \subseteq Writers
       /\ {SeesAgain, KernelLock, TakesLock, GivesBack, AsksLife} \subseteq BOOLEAN

VARIABLES
    seq,        \* the number in each slot
    data,       \* the message in each slot
    cursor,     \* what the slowest reader is done with
    lock,       \* who has the lock; -1: nobody
    pid,        \* the word that says who has it; -1: nobody has said so
    pc,         \* what each writer does next
    known,      \* the last number, as each writer knows
    asked,      \* puts that each writer has begun
    stopped,    \* writers that are stopped
    told,       \* who each writer was told that holds the lock; W: somebody who has not said so; -1: nothing
    got,        \* history: what the reader was given
    sent        \* history: what was published

vars == <<seq, data, cursor, lock, pid, pc, known, asked, stopped, told, got, sent>>

Init ==
    /\ seq = [k \in Slots |-> 0] /\ data = [k \in Slots |-> 0] /\ cursor = 0
    /\ lock = -1 /\ pid = -1
    /\ pc = [p \in Writers |-> "idle"] /\ known = [p \in Writers |-> 0] /\ asked = [p \in Writers |-> 0]
    /\ stopped = {} /\ told = [p \in Writers |-> -1]
    /\ got = <<>> /\ sent = <<>>

Most(I) == CHOOSE i \in I : \A j \in I : i >= j
Head0 == Most({seq[k] : k \in Slots})
Slot(n) == (n - 1) % K
Set(f, p, to) == [f EXCEPT ![p] = to]
To(p, there) == pc' = [pc EXCEPT ![p] = there]
At(p, from) == pc[p] = from /\ p \notin stopped
Message(p) == p * Puts + asked[p]

Ask(p) ==
    /\ p \in Writers /\ At(p, "idle") /\ asked[p] < Puts
    /\ asked' = Set(asked, p, asked[p] + 1)
    /\ To(p, IF TakesLock THEN "wait" ELSE "see")
    /\ UNCHANGED <<seq, data, cursor, lock, pid, known, stopped, told, got, sent>>

Take(p) ==
    /\ p \in Writers /\ At(p, "wait") /\ lock = -1
    /\ lock' = p
    /\ To(p, "name")
    /\ UNCHANGED <<seq, data, cursor, pid, known, asked, stopped, told, got, sent>>

\* Who has the place says so, for those who wait in vain.
Name(p) ==
    /\ p \in Writers /\ At(p, "name")
    /\ pid' = p
    /\ To(p, "see")
    /\ UNCHANGED <<seq, data, cursor, lock, known, asked, stopped, told, got, sent>>

\* The state of the ring is what is in its memory now.
See(p) ==
    /\ p \in Writers /\ At(p, "see")
    /\ known' = IF SeesAgain THEN Set(known, p, Head0) ELSE known
    /\ To(p, "fill")
    /\ UNCHANGED <<seq, data, cursor, lock, pid, asked, stopped, told, got, sent>>

\* When the slot is free.
Fill(p) ==
    /\ p \in Writers /\ At(p, "fill")
    /\ known[p] + 1 - K <= cursor
    /\ data' = Set(data, Slot(known[p] + 1), Message(p))
    /\ To(p, "publish")
    /\ UNCHANGED <<seq, cursor, lock, pid, known, asked, stopped, told, got, sent>>

Publish(p) ==
    /\ p \in Writers /\ At(p, "publish")
    /\ seq' = Set(seq, Slot(known[p] + 1), known[p] + 1)
    /\ known' = Set(known, p, known[p] + 1)
    /\ sent' = Append(sent, Message(p))
    /\ To(p, IF TakesLock THEN "give" ELSE "idle")
    /\ UNCHANGED <<data, cursor, lock, pid, asked, stopped, told, got>>

Give(p) ==
    /\ p \in Writers /\ At(p, "give")
    /\ lock' = IF GivesBack THEN -1 ELSE lock
    /\ pid' = -1
    /\ To(p, "idle")
    /\ UNCHANGED <<seq, data, cursor, known, asked, stopped, told, got, sent>>

\* A writer that waits in vain is told who has the place. Nothing was put. The word may be of one who was killed.
GiveUp(p) ==
    /\ p \in Writers /\ At(p, "wait")
    /\ lock \in stopped
    /\ told' = Set(told, p, IF pid = -1 \/ (AsksLife /\ pc[pid] = "dead") THEN W ELSE pid)
    /\ To(p, "idle")
    /\ UNCHANGED <<seq, data, cursor, lock, pid, known, asked, stopped, got, sent>>

Read(l) ==
    /\ l \in {0}
    /\ seq[Slot(cursor + 1)] = cursor + 1
    /\ got' = Append(got, data[Slot(cursor + 1)])
    /\ cursor' = cursor + 1
    /\ UNCHANGED <<seq, data, lock, pid, pc, known, asked, stopped, told, sent>>

Stop(p) ==
    /\ p \in Stoppable /\ p \notin stopped /\ pc[p] # "dead"
    /\ stopped' = stopped \cup {p}
    /\ UNCHANGED <<seq, data, cursor, lock, pid, pc, known, asked, told, got, sent>>

\* Also one that is stopped. A lock of the kernel is free then.
Kill(p) ==
    /\ p \in Mortal /\ pc[p] # "dead"
    /\ stopped' = stopped \ {p}
    /\ lock' = IF lock = p /\ KernelLock THEN -1 ELSE lock
    /\ To(p, "dead")
    /\ UNCHANGED <<seq, data, cursor, pid, known, asked, told, got, sent>>

Next ==
    \/ \E p \in Writers : Ask(p) \/ Take(p) \/ Name(p) \/ See(p) \/ Fill(p) \/ Publish(p) \/ Give(p) \/ GiveUp(p)
    \/ \E p \in Writers : Stop(p) \/ Kill(p)
    \/ \E l \in {0} : Read(l)

Spec == Init /\ [][Next]_vars

(* Claims. *)
TypeOK ==
    /\ seq \in [Slots -> Nat] /\ data \in [Slots -> {0} \cup Messages] /\ cursor \in Nat
    /\ lock \in {-1} \cup Writers /\ pid \in {-1} \cup Writers /\ stopped \subseteq Writers
    /\ asked \in [Writers -> 0 .. Puts] /\ told \in [Writers -> -1 .. W]

\* The reader gets what was published, in that order, and nothing twice.
InOrder == Len(got) <= Len(sent) /\ got = SubSeq(sent, 1, Len(got))

\* Numbers go up by one: as many as there were puts.
NoneSkipped == Head0 = Len(sent)

OneAtATime ==
    \A p \in Writers, q \in Writers :
        {pc[p], pc[q]} \subseteq {"name", "see", "fill", "publish", "give"} => p = q

\* The place is held by somebody who lives, and puts.
HeldByTheLiving == lock # -1 => pc[lock] \in {"name", "see", "fill", "publish", "give"}

\* Who is told a name is told that of a process that has the place, and is stopped.
NamesTheHolder ==
    [][\A p \in Writers : told'[p] \notin {told[p], W} => told'[p] = lock /\ lock \in stopped]_vars

\* Where nobody is stopped, every put ends.
PutsEnd == \A p \in Writers : pc[p] = "wait" ~> pc[p] \in {"idle", "dead"} \/ stopped # {}

Goes(p) == Take(p) \/ Name(p) \/ See(p) \/ Fill(p) \/ Publish(p) \/ Give(p)

FairSpec ==
    /\ Spec
    /\ \A p \in Writers : WF_vars(Goes(p))
    /\ WF_vars(Read(0))
=============================================================================
