------------------------------- MODULE RingLast -------------------------------
(***************************************************************************)
(* Which reader is told that all ranks have taken a message: at most one,  *)
(* and one where every rank takes it by itself. Before the store of its    *)
(* cursor a reader looks at all others: if they have stored theirs, nobody *)
(* else will find that before a store. After it, behind a fence, it looks  *)
(* again: then two may find the same, and they ask under the lock of the   *)
(* members. Who is told says so in a word of its own line; one who knows   *)
(* it before its cursor says so first. All messages are there from the     *)
(* start, and that one was begun is known at once: both are Ring's. A step *)
(* is one load, one store or one system call, with x86-64's store buffers. *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents.                         *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS
    R,                  \* number of ranks
    M,                  \* bound: messages
    Mortal,             \* readers that may be killed
    Fenceable,          \* ranks whose reader may be given up while it lives
    Back                \* ranks that may come back then, once

CONSTANTS ToldFirst, LastFence, LooksAtTold, LocksTies, OwnWord, TellBarrier

Ranks == 0 .. R - 1
Lines == 0 .. 2 * R - 1         \* the first reader of each rank, and the second ones
Messages == 1 .. M

ASSUME /\ {R, M} \subseteq Nat \ {0} /\ Mortal \subseteq Lines /\ Fenceable \subseteq Ranks /\ Back \subseteq Ranks
       /\ {ToldFirst, LastFence, LooksAtTold, LocksTies, OwnWord, TellBarrier} \subseteq BOOLEAN

VARIABLES
    mem,        \* the words in memory: cursor and told of each line, life of each rank
    buf,        \* stores of each reader that are on their way
    lock,       \* who has the members' lock; -1: nobody
    pc,         \* what each reader does next
    at,         \* where each reader is in a loop over words
    known,      \* the lives of the others' readers, as each reader has loaded them
    begun,      \* the message that each reader has, or had last
    pos,        \* the last message that each reader is done with
    last,       \* whether the first look has found that all others are done with it
    heard       \* history: how many readers were told of each message

vars == <<mem, buf, lock, pc, at, known, begun, pos, last, heard>>

RankOf(p) == p % R
LineOf(r, life) == r + R * ((life \div 2) % 2)
OwnLife(p) == 2 * (p \div R)
Other(p, i) == IF i < RankOf(p) THEN i ELSE i + 1
Place(p) == IF OwnWord THEN p ELSE 0
Places == IF OwnWord THEN 2 * R ELSE 1

Init ==
    /\ mem = [cursor |-> [p \in Lines |-> 0], told |-> [p \in Lines |-> 0], life |-> [r \in Ranks |-> 0]]
    /\ buf = [p \in Lines |-> <<>>]
    /\ lock = -1
    /\ pc = [p \in Lines |-> IF p < R THEN "idle" ELSE "out"]
    /\ at = [p \in Lines |-> 0]
    /\ known = [p \in Lines |-> [r \in Ranks |-> 0]]
    /\ begun = [p \in Lines |-> 0] /\ pos = [p \in Lines |-> 0]
    /\ last = [p \in Lines |-> FALSE]
    /\ heard = [m \in Messages |-> 0]

Own(p, word, i) == {k \in DOMAIN buf[p] : buf[p][k][1] = word /\ buf[p][k][2] = i}
Most(I) == CHOOSE i \in I : \A j \in I : i >= j
Load(p, word, i) == IF Own(p, word, i) = {} THEN mem[word][i] ELSE buf[p][Most(Own(p, word, i))][3]
Put(p, word, i, to) == buf' = [buf EXCEPT ![p] = Append(@, <<word, i, to>>)]
Set(f, p, to) == [f EXCEPT ![p] = to]
To(p, there) == pc' = [pc EXCEPT ![p] = there]
At(p, from) == pc[p] = from
Tell(p) == heard' = [heard EXCEPT ![begun[p]] = @ + 1]

-----------------------------------------------------------------------------
(* A reader is done with a message. *)

Begin(p) ==
    /\ p \in Lines /\ At(p, "idle") /\ pos[p] < M
    /\ begun' = Set(begun, p, pos[p] + 1)
    /\ To(p, IF R > 1 THEN "lives" ELSE "told")
    /\ last' = Set(last, p, R = 1)
    /\ UNCHANGED <<mem, buf, lock, at, known, pos, heard>>

\* The lives say on which lines the others' cursors are.
SeeLife(p) ==
    /\ p \in Lines /\ pc[p] \in {"lives", "lives again"}
    /\ known' = [known EXCEPT ![p][Other(p, at[p])] = mem.life[Other(p, at[p])]]
    /\ at' = Set(at, p, IF at[p] < R - 2 THEN at[p] + 1 ELSE 0)
    /\ To(p, IF at[p] < R - 2 THEN pc[p] ELSE IF At(p, "lives") THEN "first" ELSE "second")
    /\ UNCHANGED <<mem, buf, lock, begun, pos, last, heard>>

Decide == IF LooksAtTold THEN "look" ELSE IF LocksTies THEN "lock" ELSE "mark"

SeeCursor(p) ==
    /\ p \in Lines /\ pc[p] \in {"first", "second"}
    /\ LET r == Other(p, at[p])
           there == Load(p, "cursor", LineOf(r, known[p][r])) >= begun[p]
           more == there /\ at[p] < R - 2 IN
        /\ at' = Set(at, p, IF more THEN at[p] + 1 ELSE 0)
        /\ last' = Set(last, p, there /\ ~more /\ At(p, "first"))
        /\ To(p, IF more THEN pc[p]
                 ELSE IF At(p, "first") THEN (IF there /\ ToldFirst THEN "told" ELSE "check")
                 ELSE IF there THEN Decide ELSE "idle")
    /\ UNCHANGED <<mem, buf, lock, known, begun, pos, heard>>

\* Nobody else will be told: it is said before anybody can see that all are done with it.
StoreTold(p) ==
    /\ p \in Lines /\ At(p, "told")
    /\ Put(p, "told", Place(p), begun[p])
    /\ To(p, IF pos[p] < begun[p] THEN "check" ELSE "idle")
    /\ last' = Set(last, p, pos[p] < begun[p])
    /\ UNCHANGED <<mem, lock, at, known, begun, pos, heard>>

SeeOwnLife(p) ==
    /\ p \in Lines /\ At(p, "check")
    /\ LET counted == mem.life[RankOf(p)] = OwnLife(p) IN
        /\ To(p, IF counted THEN "cursor" ELSE "fenced")
        /\ last' = Set(last, p, last[p] /\ counted)
    /\ UNCHANGED <<mem, buf, lock, at, known, begun, pos, heard>>

StoreCursor(p) ==
    /\ p \in Lines /\ At(p, "cursor")
    /\ Put(p, "cursor", p, begun[p])
    /\ pos' = Set(pos, p, begun[p])
    /\ IF last[p] THEN Tell(p) ELSE UNCHANGED heard
    /\ last' = Set(last, p, last[p] /\ ~ToldFirst)
    /\ To(p, IF ~last[p] THEN (IF LastFence THEN "fence" ELSE "lives again") ELSE IF ToldFirst THEN "idle" ELSE "told")
    /\ UNCHANGED <<mem, lock, at, known, begun>>

FenceLast(p) ==
    /\ p \in Lines /\ At(p, "fence")
    /\ buf[p] = <<>>
    /\ To(p, "lives again")
    /\ UNCHANGED <<mem, buf, lock, at, known, begun, pos, last, heard>>

\* All are done with it: was somebody told? Once without the lock, which most need not take, and once under it.
SeeTold(p) ==
    /\ p \in Lines /\ pc[p] \in {"look", "again"}
    /\ LET there == Load(p, "told", at[p]) >= begun[p]
           more == ~there /\ at[p] < Places - 1 IN
        /\ at' = Set(at, p, IF more THEN at[p] + 1 ELSE 0)
        /\ To(p, IF more THEN pc[p]
                 ELSE IF At(p, "again") THEN (IF there THEN "give" ELSE "mark")
                 ELSE IF there THEN "idle" ELSE IF LocksTies THEN "lock" ELSE "mark")
    /\ UNCHANGED <<mem, buf, lock, known, begun, pos, last, heard>>

\* A system call: a full barrier.
TakeLock(p) ==
    /\ p \in Lines /\ At(p, "lock")
    /\ lock = -1 /\ buf[p] = <<>>
    /\ lock' = p
    /\ To(p, IF LooksAtTold THEN "again" ELSE "mark")
    /\ UNCHANGED <<mem, buf, at, known, begun, pos, last, heard>>

Mark(p) ==
    /\ p \in Lines /\ At(p, "mark")
    /\ Put(p, "told", Place(p), begun[p])
    /\ Tell(p)
    /\ To(p, IF LocksTies THEN "give" ELSE "idle")
    /\ UNCHANGED <<mem, lock, at, known, begun, pos, last>>

GiveLock(p) ==
    /\ p \in Lines /\ At(p, "give")
    /\ buf[p] = <<>>
    /\ lock' = -1
    /\ To(p, "idle")
    /\ UNCHANGED <<mem, buf, at, known, begun, pos, last, heard>>

-----------------------------------------------------------------------------
(* Readers are given up, and come back. *)

\* Under the members' lock: it is dead, or somebody says so.
Fence(r) ==
    /\ r \in Ranks /\ lock = -1
    /\ mem.life[r] = 0
    /\ r \in Fenceable \/ pc[r] = "dead"
    /\ mem' = [mem EXCEPT !.life[r] = 1]
    /\ UNCHANGED <<buf, lock, pc, at, known, begun, pos, last, heard>>

Return(p) ==
    /\ p \in Lines /\ At(p, "out")
    /\ RankOf(p) \in Back
    /\ lock = -1 /\ mem.life[RankOf(p)] = 1
    /\ lock' = p
    /\ mem' = [mem EXCEPT !.life[RankOf(p)] = 2]
    /\ To(p, IF TellBarrier THEN "barrier" ELSE "start")
    /\ UNCHANGED <<buf, at, known, begun, pos, last, heard>>

\* The barrier of who comes has run on the processor of the next reader.
BarrierReaches(p) ==
    /\ p \in Lines /\ At(p, "barrier")
    /\ buf[at[p]] = <<>>
    /\ at' = Set(at, p, IF at[p] < 2 * R - 1 THEN at[p] + 1 ELSE 0)
    /\ To(p, IF at[p] < 2 * R - 1 THEN "barrier" ELSE "start")
    /\ UNCHANGED <<mem, buf, lock, known, begun, pos, last, heard>>

\* What somebody has begun is over for the rank. The lock is given back, which is a full barrier.
StoreStart(p) ==
    /\ p \in Lines /\ At(p, "start")
    /\ LET begin == Most({begun[q] : q \in Lines}) IN
        /\ mem' = [mem EXCEPT !.cursor[p] = begin]
        /\ begun' = Set(begun, p, begin) /\ pos' = Set(pos, p, begin)
    /\ lock' = -1
    /\ To(p, "idle")
    /\ UNCHANGED <<buf, at, known, last, heard>>

-----------------------------------------------------------------------------
Flush(p) ==
    /\ p \in Lines /\ buf[p] # <<>>
    /\ mem' = [mem EXCEPT ![Head(buf[p])[1]][Head(buf[p])[2]] = Head(buf[p])[3]]
    /\ buf' = [buf EXCEPT ![p] = Tail(@)]
    /\ UNCHANGED <<lock, pc, at, known, begun, pos, last, heard>>

\* What is in its store buffer still reaches memory: before the kernel frees its lock.
Kill(p) ==
    /\ p \in Mortal /\ pc[p] \notin {"out", "dead"}
    /\ lock = p => buf[p] = <<>>
    /\ lock' = IF lock = p THEN -1 ELSE lock
    /\ at' = Set(at, p, 0) /\ last' = Set(last, p, FALSE)
    /\ To(p, "dead")
    /\ UNCHANGED <<mem, buf, known, begun, pos, heard>>

Next ==
    \/ \E p \in Lines : Begin(p) \/ SeeLife(p) \/ SeeCursor(p) \/ StoreTold(p) \/ SeeOwnLife(p) \/ StoreCursor(p)
    \/ \E p \in Lines : FenceLast(p) \/ SeeTold(p) \/ TakeLock(p) \/ Mark(p) \/ GiveLock(p)
    \/ \E r \in Ranks : Fence(r)
    \/ \E p \in Lines : Return(p) \/ BarrierReaches(p) \/ StoreStart(p)
    \/ \E p \in Lines : Flush(p) \/ Kill(p)

Spec == Init /\ [][Next]_vars

(* Claims. *)
TypeOK ==
    /\ mem.cursor \in [Lines -> 0 .. M] /\ mem.told \in [Lines -> 0 .. M] /\ mem.life \in [Ranks -> 0 .. 2]
    /\ lock \in {-1} \cup Lines /\ at \in [Lines -> 0 .. 2 * R - 1] /\ known \in [Lines -> [Ranks -> 0 .. 2]]
    /\ begun \in [Lines -> 0 .. M] /\ pos \in [Lines -> 0 .. M] /\ last \in [Lines -> BOOLEAN]

\* At most one reader is told.
OneTold == \A m \in Messages : heard[m] <= 1

\* When one is told, every rank is done with the message.
AllHaveIt == \A m \in Messages : heard[m] > 0 => \A r \in Ranks : \E p \in Lines : RankOf(p) = r /\ pos[p] >= m

\* Where nobody was given up and every rank has taken everything, one was.
Settled ==
    /\ \A p \in Lines : p < R => buf[p] = <<>> /\ At(p, "idle") /\ pos[p] = M
    /\ \A r \in Ranks : mem.life[r] = 0
SomebodyTold == Settled => \A m \in Messages : heard[m] >= 1

\* Who begins to be done with a message gets to an end of it.
Ends == \A p \in Lines : At(p, "lives") ~> pc[p] \in {"idle", "fenced", "dead"}

Goes(p) ==
    \/ SeeLife(p) \/ SeeCursor(p) \/ StoreTold(p) \/ SeeOwnLife(p) \/ StoreCursor(p) \/ FenceLast(p) \/ SeeTold(p)
    \/ Mark(p) \/ GiveLock(p) \/ BarrierReaches(p) \/ StoreStart(p)

FairSpec ==
    /\ Spec
    /\ \A p \in Lines : WF_vars(Goes(p)) /\ SF_vars(TakeLock(p)) /\ WF_vars(Flush(p))
=============================================================================
