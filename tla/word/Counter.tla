------------------------------- MODULE Counter -------------------------------
(***************************************************************************)
(* Several processes add to a word, or compare and set it, under a lock    *)
(* that the kernel frees when its holder dies. One step is one load, one   *)
(* store, or one system call.                                              *)
(*                                                                         *)
(* With Locked = FALSE it is `value[0] += 1` on shared memory (as in B28).      *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS
    Adders,             \* processes that add 1
    Comparers,          \* processes that set the word to 10 if it is 0
    Adds,               \* bound: how often each adder adds
    Mortal              \* processes that may be killed

CONSTANTS Locked, DeathFrees

Processes == 0 .. Adders + Comparers - 1
Nobody == -1

ASSUME /\ {Adders, Comparers} \subseteq Nat
       /\ Adds \in Nat \ {0}
       /\ Mortal \subseteq Processes
       /\ {Locked, DeathFrees} \subseteq BOOLEAN

VARIABLES
    value,      \* the word
    lock,       \* who has the lock
    pc,         \* what each process does next
    old,        \* what each process has loaded
    left,       \* calls that each process has left
    added       \* history: what all stores have added

vars == <<value, lock, pc, old, left, added>>

Init ==
    /\ value = 0 /\ lock = Nobody /\ added = 0
    /\ pc = [p \in Processes |-> "idle"]
    /\ old = [p \in Processes |-> 0]
    /\ left = [p \in Processes |-> IF p < Adders THEN Adds ELSE 1]

Lock(p) ==
    /\ pc[p] = "idle"
    /\ Locked => lock = Nobody
    /\ lock' = IF Locked THEN p ELSE Nobody
    /\ pc' = [pc EXCEPT ![p] = "load"]
    /\ UNCHANGED <<value, old, left, added>>

LoadOld(p) ==
    /\ pc[p] = "load"
    /\ old' = [old EXCEPT ![p] = value]
    /\ pc' = [pc EXCEPT ![p] = IF p >= Adders /\ value # 0 THEN "unlock" ELSE "store"]
    /\ UNCHANGED <<value, lock, left, added>>

\* One store: who is killed before it has changed nothing, and after it everything.
StoreSum(p) ==
    /\ pc[p] = "store"
    /\ p < Adders
    /\ value' = old[p] + 1
    /\ added' = added + 1
    /\ pc' = [pc EXCEPT ![p] = "unlock"]
    /\ UNCHANGED <<lock, old, left>>

StoreIf(p) ==
    /\ pc[p] = "store"
    /\ p >= Adders
    /\ value' = 10
    /\ added' = added + 10
    /\ pc' = [pc EXCEPT ![p] = "unlock"]
    /\ UNCHANGED <<lock, old, left>>

Unlock(p) ==
    /\ pc[p] = "unlock"
    /\ lock' = Nobody
    /\ old' = [old EXCEPT ![p] = 0]
    /\ left' = [left EXCEPT ![p] = @ - 1]
    /\ pc' = [pc EXCEPT ![p] = IF left[p] = 1 THEN "over" ELSE "idle"]
    /\ UNCHANGED <<value, added>>

Kill(p) ==
    /\ p \in Mortal
    /\ pc[p] # "dead"
    /\ lock' = IF lock = p /\ DeathFrees THEN Nobody ELSE lock
    /\ old' = [old EXCEPT ![p] = 0]
    /\ left' = [left EXCEPT ![p] = 0]
    /\ pc' = [pc EXCEPT ![p] = "dead"]
    /\ UNCHANGED <<value, added>>

Next == \E p \in Processes : Lock(p) \/ LoadOld(p) \/ StoreSum(p) \/ StoreIf(p) \/ Unlock(p) \/ Kill(p)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
TypeOK ==
    /\ value \in Nat /\ added \in Nat
    /\ lock \in Processes \cup {Nobody}
    /\ pc \in [Processes -> {"idle", "load", "store", "unlock", "over", "dead"}]
    /\ old \in [Processes -> Nat] /\ left \in [Processes -> 0 .. Adds]

\* What was stored is there, whoever else has stored, and whoever was killed.
NothingLost == value = added

\* Nobody waits for a lock that a dead process has.
Returns == lock = Nobody \/ pc[lock] # "dead"
=============================================================================
