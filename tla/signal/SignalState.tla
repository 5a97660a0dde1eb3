---------------------------- MODULE SignalState ----------------------------
(* What a segment's life is made of: files, locks, and where each process is. Signal has the steps. *)
EXTENDS Integers, FiniteSets

CONSTANTS
    P,              \* number of processes
    I,              \* bound: files that are ever made
    Creators,       \* processes that may create, and clear what they own
    Insisters,      \* ... with replace=True
    Attachers,      \* processes that may attach
    Mortal,         \* processes that may die
    Foreign,        \* other software may make the name
    Full            \* the file system may be full

CONSTANTS GuardTaken, OwnerChecked, LockFirst, FillFirst, InodeChecked, Supersedes, ClearMarks, LinkFirst, TempDropped

Processes == 0 .. P - 1
Files == 1 .. I
Nobody == -1
Nothing == 0
Removed == -1
Guards == <<GuardTaken, OwnerChecked, LockFirst, FillFirst, InodeChecked, Supersedes, ClearMarks, LinkFirst, TempDropped>>

ASSUME /\ {P, I} \subseteq Nat \ {0}
       /\ Creators \cup Attachers \cup Mortal \subseteq Processes
       /\ Insisters \subseteq Creators
       /\ {Foreign, Full} \subseteq BOOLEAN
       /\ \A i \in DOMAIN Guards : Guards[i] \in BOOLEAN

VARIABLES
    name,           \* the file that the name leads to
    temp,           \* the file that <name>.fdcomm-new leads to
    content,        \* of each file: "none", "empty", "blank", "whole", "foreign"
    mark,           \* successor word of each file
    lock,           \* who holds the owner's lock of each file
    guard,          \* who holds the guard
    shared,         \* who holds it shared
    pc,             \* the step that each process comes to next
    insist,         \* its create has replace=True
    seen,           \* the file that its call has found, or is about
    made,           \* the file that its create has made
    owned,          \* segments that it has made and not closed
    attached,       \* segments that it has attached and not closed
    crashed         \* history: some process has died

files == <<name, temp, content, mark>>
vars == <<name, temp, content, mark, lock, guard, shared, pc, insist, seen, made, owned, attached, crashed>>

Init ==
    /\ name = Nothing
    /\ temp = Nothing
    /\ content = [i \in Files |-> "none"]
    /\ mark = [i \in Files |-> 0]
    /\ lock = [i \in Files |-> Nobody]
    /\ guard = Nobody
    /\ shared = {}
    /\ pc = [p \in Processes |-> "idle"]
    /\ insist = [p \in Processes |-> FALSE]
    /\ seen = [p \in Processes |-> Nothing]
    /\ made = [p \in Processes |-> Nothing]
    /\ owned = [p \in Processes |-> {}]
    /\ attached = [p \in Processes |-> {}]
    /\ crashed = FALSE

Go(p, step) == pc' = [pc EXCEPT ![p] = step]

Early == {"wait", "retry", "examine", "tidy", "make"}
Examined == {"tidy", "make", "allocate", "fill", "lock", "publish"}

\* Files that there are, that the creates under way will still make, and that they might have to make a second time.
Used == Cardinality({i \in Files : content[i] # "none"})
Pending == Cardinality({p \in Processes : pc[p] \in Early})
Second == Cardinality({p \in Processes : Foreign /\ insist[p] /\ seen[p] = Nothing /\ pc[p] \in Examined})
Next1 == Used + 1
=============================================================================
