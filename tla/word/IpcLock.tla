------------------------------- MODULE IpcLock -------------------------------
(***************************************************************************)
(* A lock between processes: a file that is locked in the kernel, which    *)
(* frees the lock at its holder's death. A clear removes the file. One     *)
(* step is one system call.                                                *)
(*                                                                         *)
(* With both guards FALSE it is FastDeploy's IPCLock: who has opened the   *)
(* removed file and who makes a new one both get "the" lock.               *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets

CONSTANTS
    P,                  \* number of processes
    Calls,              \* bound: calls of each process
    Sharers,            \* processes that lock shared; the others exclusively
    Clearers,           \* processes that may clear
    Mortal              \* processes that may be killed

CONSTANTS ChecksFile, RemovesLocked

Processes == 0 .. P - 1
None == 0

ASSUME /\ {P, Calls} \subseteq Nat \ {0}
       /\ Sharers \cup Clearers \cup Mortal \subseteq Processes
       /\ {ChecksFile, RemovesLocked} \subseteq BOOLEAN

VARIABLES
    path,       \* the file that has the name; files are numbered as they are made
    made,       \* files that were made
    fd,         \* the file that each process has open
    locked,     \* how each process has locked it
    pc,         \* what each process does next
    left        \* calls that each process has left

vars == <<path, made, fd, locked, pc, left>>

Init ==
    /\ path = None /\ made = 0
    /\ fd = [p \in Processes |-> None]
    /\ locked = [p \in Processes |-> "no"]
    /\ pc = [p \in Processes |-> "idle"]
    /\ left = [p \in Processes |-> Calls]

Kind(p) == IF p \in Sharers THEN "shared" ELSE "exclusive"
Others(p) == {q \in Processes \ {p} : fd[q] = fd[p] /\ locked[q] # "no"}
Free(p, kind) == Others(p) = {} \/ (kind = "shared" /\ \A q \in Others(p) : locked[q] = "shared")
To(p, there) == pc' = [pc EXCEPT ![p] = there]
Close(p) == fd' = [fd EXCEPT ![p] = None] /\ locked' = [locked EXCEPT ![p] = "no"]

-----------------------------------------------------------------------------
\* Opens the file that has the name, or makes one.
Open(p) ==
    /\ pc[p] \in {"idle", "again"}
    /\ left[p] > 0
    /\ path' = IF path = None THEN made + 1 ELSE path
    /\ made' = IF path = None THEN made + 1 ELSE made
    /\ fd' = [fd EXCEPT ![p] = path']
    /\ To(p, "take")
    /\ UNCHANGED <<locked, left>>

Take(p) ==
    /\ pc[p] = "take"
    /\ Free(p, Kind(p))
    /\ locked' = [locked EXCEPT ![p] = Kind(p)]
    /\ To(p, IF ChecksFile THEN "check" ELSE "holds")
    /\ UNCHANGED <<path, made, fd, left>>

\* The name may be another file's by now.
CheckFile(p) ==
    /\ pc[p] = "check"
    /\ IF path = fd[p]
       THEN To(p, "holds") /\ UNCHANGED <<fd, locked>>
       ELSE To(p, "again") /\ Close(p)
    /\ UNCHANGED <<path, made, left>>

Release(p) ==
    /\ pc[p] = "holds"
    /\ Close(p)
    /\ left' = [left EXCEPT ![p] = @ - 1]
    /\ To(p, "idle")
    /\ UNCHANGED <<path, made>>

-----------------------------------------------------------------------------
\* A clear, by a holder (whose critical section ends here) or by anybody else.
BeginClear(p) ==
    /\ p \in Clearers
    /\ pc[p] \in {"idle", "holds"}
    /\ path # None
    /\ left[p] > 0
    /\ left' = [left EXCEPT ![p] = @ - 1]
    /\ LET mine == RemovesLocked /\ pc[p] = "holds" /\ p \notin Sharers IN
        /\ To(p, IF ~RemovesLocked THEN "remove" ELSE IF mine THEN "look" ELSE "try")
        /\ fd' = IF mine \/ fd[p] # None THEN fd ELSE [fd EXCEPT ![p] = path]
        /\ locked' = IF mine \/ ~RemovesLocked THEN locked ELSE [locked EXCEPT ![p] = "no"]
    /\ UNCHANGED <<path, made>>

\* Exclusively, and at once. If somebody has the lock, the file stays.
TryTake(p) ==
    /\ pc[p] = "try"
    /\ locked' = [locked EXCEPT ![p] = IF Free(p, "exclusive") THEN "exclusive" ELSE "no"]
    /\ To(p, IF Free(p, "exclusive") THEN "look" ELSE "close")
    /\ UNCHANGED <<path, made, fd, left>>

\* Another file is not ours to remove.
Look(p) ==
    /\ pc[p] = "look"
    /\ To(p, IF path = fd[p] THEN "remove" ELSE "close")
    /\ UNCHANGED <<path, made, fd, locked, left>>

Remove(p) ==
    /\ pc[p] = "remove"
    /\ path' = None
    /\ To(p, "close")
    /\ UNCHANGED <<made, fd, locked, left>>

CloseFile(p) ==
    /\ pc[p] = "close"
    /\ Close(p)
    /\ To(p, "idle")
    /\ UNCHANGED <<path, made, left>>

Kill(p) ==
    /\ p \in Mortal
    /\ pc[p] # "dead"
    /\ Close(p)
    /\ left' = [left EXCEPT ![p] = 0]
    /\ To(p, "dead")
    /\ UNCHANGED <<path, made>>

Next ==
    \E p \in Processes :
        \/ Open(p) \/ Take(p) \/ CheckFile(p) \/ Release(p)
        \/ BeginClear(p) \/ TryTake(p) \/ Look(p) \/ Remove(p) \/ CloseFile(p) \/ Kill(p)

Spec == Init /\ [][Next]_vars

TypeOK ==
    /\ path \in Nat /\ made \in Nat
    /\ fd \in [Processes -> Nat] /\ locked \in [Processes -> {"no", "shared", "exclusive"}]
    /\ left \in [Processes -> 0 .. Calls]

\* Two hold the lock only if both share it.
Exclusion == \A p, q \in Processes : p # q /\ pc[p] = "holds" /\ pc[q] = "holds" => {p, q} \subseteq Sharers

\* Who asks for the lock gets it, also if its holder is killed or clears.
Gets == \A p \in Processes : pc[p] = "take" ~> pc[p] \in {"holds", "dead"}

Goes(p) == Open(p) \/ CheckFile(p) \/ Release(p) \/ TryTake(p) \/ Look(p) \/ Remove(p) \/ CloseFile(p)

FairSpec == Spec /\ \A p \in Processes : WF_vars(Goes(p)) /\ SF_vars(Take(p))
=============================================================================
