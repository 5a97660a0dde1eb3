------------------------------- MODULE Sequence -------------------------------
(***************************************************************************)
(* Several words that are written and read as one. A writer makes the      *)
(* sequence number odd, writes, and makes it even; a reader that finds the *)
(* same even number before and after its copy has the words of one write.  *)
(* The k-th write of all stores k in every cell. One step is one load, one *)
(* store, or one system call; the stores of a process reach memory later,  *)
(* in their order on x86-64 (InOrder).                                     *)
(*                                                                         *)
(* With Sequenced = FALSE it is a plain array (P12.1, P13.9).              *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS
    Writers,            \* number of writers
    Readers,            \* number of readers, each reads once
    Cells,              \* number of words
    Writes,             \* bound: writes of each writer
    Mortal              \* writers that may be killed

CONSTANTS Sequenced, InOrder, OneWriter, BeginsOdd, ProvesDeath

W == 0 .. Writers - 1
R == Writers .. Writers + Readers - 1
All == W \cup R
Nobody == -1
Words == 0 .. Cells     \* 0 is the sequence number

ASSUME /\ {Writers, Readers, Cells, Writes} \subseteq Nat \ {0}
       /\ Mortal \subseteq W
       /\ {Sequenced, InOrder, OneWriter, BeginsOdd, ProvesDeath} \subseteq BOOLEAN

VARIABLES
    mem,        \* the words in memory
    buf,        \* stores of each process that are on their way to memory
    lock,       \* the writer that has the lock
    pc,         \* what each process does next
    next,       \* what each writer writes
    seen,       \* the sequence number that each process has seen or stored
    copy,       \* the cells that a reader has copied, or a writer stored
    left,       \* writes that each writer has left
    writes      \* writes that have begun

vars == <<mem, buf, lock, pc, next, seen, copy, left, writes>>

Init ==
    /\ mem = [w \in Words |-> 0]
    /\ buf = [p \in All |-> <<>>]
    /\ lock = Nobody
    /\ pc = [p \in All |-> IF p \in W THEN "idle" ELSE "before"]
    /\ next = [p \in All |-> 0]
    /\ seen = [p \in All |-> 0]
    /\ copy = [p \in All |-> <<>>]
    /\ left = [p \in All |-> IF p \in W THEN Writes ELSE 0]
    /\ writes = 0

Own(p, w) == {i \in DOMAIN buf[p] : buf[p][i][1] = w}
Newest(I) == CHOOSE i \in I : \A j \in I : i >= j
Load(p, w) == IF Own(p, w) = {} THEN mem[w] ELSE buf[p][Newest(Own(p, w))][2]
Put(p, w, to) == buf' = [buf EXCEPT ![p] = Append(@, <<w, to>>)]
To(p, there) == pc' = [pc EXCEPT ![p] = there]
Odd(n) == n % 2 = 1

-----------------------------------------------------------------------------
LockWrite(p) ==
    /\ pc[p] = "idle"
    /\ left[p] > 0
    /\ OneWriter => lock = Nobody
    /\ lock' = IF OneWriter THEN p ELSE Nobody
    /\ writes' = writes + 1
    /\ next' = [next EXCEPT ![p] = writes + 1]
    /\ To(p, "begin")
    /\ UNCHANGED <<mem, buf, seen, copy, left>>

\* Odd: the writer before was killed in the middle. This write repairs it.
LoadSeq(p) ==
    /\ pc[p] = "begin"
    /\ seen' = [seen EXCEPT ![p] = Load(p, 0)]
    /\ To(p, IF Sequenced THEN "odd store" ELSE "fill")
    /\ UNCHANGED <<mem, buf, lock, next, copy, left, writes>>

StoreOdd(p) ==
    /\ pc[p] = "odd store"
    /\ LET odd == IF BeginsOdd /\ Odd(seen[p]) THEN seen[p] ELSE seen[p] + 1 IN
        /\ Put(p, 0, odd)
        /\ seen' = [seen EXCEPT ![p] = odd]
    /\ To(p, "fill")
    /\ UNCHANGED <<mem, lock, next, copy, left, writes>>

StoreCell(p) ==
    /\ pc[p] = "fill"
    /\ Len(copy[p]) < Cells
    /\ Put(p, Len(copy[p]) + 1, next[p])
    /\ copy' = [copy EXCEPT ![p] = Append(@, next[p])]
    /\ UNCHANGED <<mem, lock, pc, next, seen, left, writes>>

StoreEven(p) ==
    /\ pc[p] = "fill"
    /\ Len(copy[p]) = Cells
    /\ IF Sequenced THEN Put(p, 0, seen[p] + 1) ELSE UNCHANGED buf
    /\ copy' = [copy EXCEPT ![p] = <<>>]
    /\ seen' = [seen EXCEPT ![p] = 0]
    /\ To(p, "unlock")
    /\ UNCHANGED <<mem, lock, next, left, writes>>

\* A system call: a full barrier.
UnlockWrite(p) ==
    /\ pc[p] = "unlock"
    /\ buf[p] = <<>>
    /\ lock' = Nobody
    /\ next' = [next EXCEPT ![p] = 0]
    /\ left' = [left EXCEPT ![p] = @ - 1]
    /\ To(p, "idle")
    /\ UNCHANGED <<mem, buf, seen, copy, writes>>

Kill(p) ==
    /\ p \in Mortal
    /\ pc[p] # "dead"
    /\ To(p, "dead")
    /\ next' = [next EXCEPT ![p] = 0]
    /\ seen' = [seen EXCEPT ![p] = 0]
    /\ copy' = [copy EXCEPT ![p] = <<>>]
    /\ UNCHANGED <<mem, buf, lock, left, writes>>

\* The kernel frees the lock of the dead, when its stores have reached memory.
Freed(p) ==
    /\ pc[p] = "dead"
    /\ lock = p
    /\ buf[p] = <<>>
    /\ lock' = Nobody
    /\ UNCHANGED <<mem, buf, pc, next, seen, copy, left, writes>>

\* Without InOrder a store may overtake older ones to other words.
FlushAt(p, i) ==
    /\ InOrder => i = 1
    /\ \A j \in 1 .. i - 1 : buf[p][j][1] # buf[p][i][1]
    /\ mem' = [mem EXCEPT ![buf[p][i][1]] = buf[p][i][2]]
    /\ buf' = [buf EXCEPT ![p] = SubSeq(@, 1, i - 1) \o SubSeq(@, i + 1, Len(@))]
    /\ UNCHANGED <<lock, pc, next, seen, copy, left, writes>>

Flush(p) == \E i \in DOMAIN buf[p] : FlushAt(p, i)

-----------------------------------------------------------------------------
\* Odd: somebody writes, or was killed in the middle.
SeeBefore(p) ==
    /\ LET odd == Sequenced /\ Odd(mem[0]) IN
        /\ pc[p] = "before" \/ (pc[p] = "odd" /\ ~odd)
        /\ To(p, IF odd THEN "odd" ELSE "copy")
        /\ seen' = [seen EXCEPT ![p] = IF Sequenced /\ ~odd THEN mem[0] ELSE 0]
    /\ UNCHANGED <<mem, buf, lock, next, copy, left, writes>>

CopyCell(p) ==
    /\ pc[p] = "copy"
    /\ Len(copy[p]) < Cells
    /\ copy' = [copy EXCEPT ![p] = Append(@, mem[Len(@) + 1])]
    /\ UNCHANGED <<mem, buf, lock, pc, next, seen, left, writes>>

SeeAfter(p) ==
    /\ pc[p] = "copy"
    /\ Len(copy[p]) = Cells
    /\ LET same == ~Sequenced \/ mem[0] = seen[p] IN
        /\ To(p, IF same THEN "got" ELSE "before")
        /\ copy' = IF same THEN copy ELSE [copy EXCEPT ![p] = <<>>]
    /\ seen' = [seen EXCEPT ![p] = 0]
    /\ UNCHANGED <<mem, buf, lock, next, left, writes>>

\* With the writers' lock, which the reader takes for this look: still odd, so the writer is dead.
Prove(p) ==
    /\ ProvesDeath
    /\ pc[p] = "odd"
    /\ lock = Nobody
    /\ To(p, IF Odd(mem[0]) THEN "torn" ELSE "before")
    /\ UNCHANGED <<mem, buf, lock, next, seen, copy, left, writes>>

-----------------------------------------------------------------------------
Next ==
    \/ \E p \in W : LockWrite(p) \/ LoadSeq(p) \/ StoreOdd(p) \/ StoreCell(p) \/ StoreEven(p) \/ UnlockWrite(p)
    \/ \E p \in W : Kill(p) \/ Freed(p) \/ Flush(p)
    \/ \E p \in R : SeeBefore(p) \/ CopyCell(p) \/ SeeAfter(p) \/ Prove(p)

Spec == Init /\ [][Next]_vars

TypeOK ==
    /\ mem \in [Words -> Nat] /\ lock \in W \cup {Nobody} /\ writes \in Nat
    /\ next \in [All -> Nat] /\ seen \in [All -> Nat] /\ left \in [All -> 0 .. Writes]
    /\ \A p \in All : Len(copy[p]) <= Cells

\* All that a read returns is of one write.
NoTornRead == \A p \in R : pc[p] = "got" => \A i, j \in DOMAIN copy[p] : copy[p][i] = copy[p][j]

\* A read says that a writer died only if one did.
TornOnlyByDeath == (\E p \in R : pc[p] = "torn") => \E p \in W : pc[p] = "dead"

\* A read ends, also if a writer was killed in the middle: with words of one write, or with the news.
ReadsEnd == TRUE ~> \A p \in R : pc[p] \in {"got", "torn"}

Goes(p) ==
    \/ p \in W /\ (LockWrite(p) \/ LoadSeq(p) \/ StoreOdd(p) \/ StoreCell(p) \/ StoreEven(p) \/ UnlockWrite(p) \/ Freed(p))
    \/ p \in R /\ (SeeBefore(p) \/ CopyCell(p) \/ SeeAfter(p) \/ Prove(p))

FairSpec == Spec /\ (\A p \in All : WF_vars(Goes(p))) /\ \A p \in W : WF_vars(Flush(p))
=============================================================================
