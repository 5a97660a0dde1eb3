------------------------------- MODULE Signal -------------------------------
(***************************************************************************)
(* The life of one named segment: create, attach, replace, clear. One      *)
(* action is one system call, or a few of which only the last can be seen  *)
(* by others, and a process can die between any two. The contract is       *)
(* spec/signal.toml: same names, same shapes.                              *)
(*                                                                         *)
(* The guard is an exclusive lock on the directory. Who changes the name   *)
(* holds it; an attacher that finds no name takes it shared and looks      *)
(* again. Other software knows neither guard nor trailer.                  *)
(*                                                                         *)
(* Each constant of the second group is TRUE in the protocol. With one of  *)
(* them FALSE this is the faulty protocol that the guard prevents, and the *)
(* property that the contract names for it fails:                          *)
(* MCSignal_bug_<guard>.cfg.                                               *)
(***************************************************************************)
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

-----------------------------------------------------------------------------
(* Calls, and their end. *)

CallCreate(p, i) ==
    /\ pc[p] = "idle"
    /\ p \in Creators
    /\ i => p \in Insisters
    /\ Used + Pending + Second < I
    /\ insist' = [insist EXCEPT ![p] = i]
    /\ Go(p, "wait")
    /\ UNCHANGED <<files, lock, guard, shared, seen, made, owned, attached, crashed>>

CallClear(p, i) ==
    /\ pc[p] = "idle"
    /\ i \in owned[p]
    /\ seen' = [seen EXCEPT ![p] = i]
    /\ Go(p, "clear-wait")
    /\ UNCHANGED <<files, lock, guard, shared, insist, made, owned, attached, crashed>>

CallAttach(p) ==
    /\ pc[p] = "idle"
    /\ p \in Attachers
    /\ Go(p, "open")
    /\ UNCHANGED <<files, lock, guard, shared, insist, seen, made, owned, attached, crashed>>

\* The wait for the guard has a time limit.
GiveUp(p) ==
    /\ pc[p] \in {"wait", "clear-wait", "share"}
    /\ Go(p, "idle")
    /\ insist' = [insist EXCEPT ![p] = FALSE]
    /\ seen' = [seen EXCEPT ![p] = Nothing]
    /\ UNCHANGED <<files, lock, guard, shared, made, owned, attached, crashed>>

Unlocked(i, p) == IF lock[i] = p THEN [lock EXCEPT ![i] = Nobody] ELSE lock

Close(p, i) ==
    /\ \/ pc[p] = "idle" /\ i \in owned[p] \cup attached[p]
       \/ pc[p] = "close" /\ i = seen[p]
    /\ IF pc[p] = "idle" /\ i \in attached[p]
       THEN attached' = [attached EXCEPT ![p] = @ \ {i}] /\ UNCHANGED <<owned, lock>>
       ELSE owned' = [owned EXCEPT ![p] = @ \ {i}] /\ lock' = Unlocked(i, p) /\ UNCHANGED attached
    /\ seen' = [seen EXCEPT ![p] = Nothing]
    /\ Go(p, "idle")
    /\ UNCHANGED <<files, guard, shared, insist, made, crashed>>

-----------------------------------------------------------------------------
(* Create. *)

TakeGuard(p) ==
    /\ pc[p] \in {"wait", "clear-wait"}
    /\ IF GuardTaken THEN guard = Nobody /\ shared = {} /\ guard' = p ELSE UNCHANGED guard
    /\ Go(p, IF pc[p] = "wait" THEN "examine" ELSE "look")
    /\ UNCHANGED <<files, lock, shared, insist, seen, made, owned, attached, crashed>>

\* Another process holds the lock of the file at the name, or the file has none that means anything.
OfAnother(p) ==
    /\ name # Nothing
    /\ \/ content[name] = "foreign"
       \/ lock[name] # Nobody /\ name \notin owned[p]

Examine(p) ==
    /\ pc[p] = "examine"
    /\ seen' = [seen EXCEPT ![p] = name]
    /\ Go(p, IF OwnerChecked /\ OfAnother(p) /\ ~insist[p] THEN "leave" ELSE IF TempDropped THEN "tidy" ELSE "make")
    /\ IF name # Nothing /\ content[name] = "whole"
       THEN /\ lock' = IF lock[name] = Nobody THEN [lock EXCEPT ![name] = p] ELSE lock
            /\ mark' = [mark EXCEPT ![name] = 0]
       ELSE UNCHANGED <<lock, mark>>
    /\ UNCHANGED <<name, temp, content, guard, shared, insist, made, owned, attached, crashed>>

DropTemp(p) ==
    /\ pc[p] \in {"retry", "tidy", "finish"}
    /\ temp' = Nothing
    /\ Go(p, CASE pc[p] = "retry" -> "examine" [] pc[p] = "tidy" -> "make" [] pc[p] = "finish" -> "leave")
    /\ UNCHANGED <<name, content, mark, lock, guard, shared, insist, seen, made, owned, attached, crashed>>

\* What was seen at the name is told, if it has a word for that.
BeforePublish(p) ==
    IF Supersedes /\ seen[p] # Nothing /\ content[seen[p]] = "whole" THEN "supersede" ELSE "publish"

MakeTemp(p) ==
    /\ pc[p] = "make"
    /\ temp = Nothing
    /\ Next1 \in Files
    /\ temp' = Next1
    /\ made' = [made EXCEPT ![p] = Next1]
    /\ content' = [content EXCEPT ![Next1] = "empty"]
    /\ Go(p, IF FillFirst THEN "allocate" ELSE BeforePublish(p))
    /\ UNCHANGED <<name, mark, lock, guard, shared, insist, seen, owned, attached, crashed>>

Allocate(p) ==
    /\ pc[p] = "allocate"
    /\ content' = [content EXCEPT ![made[p]] = "blank"]
    /\ Go(p, "fill")
    /\ UNCHANGED <<name, temp, mark, lock, guard, shared, insist, seen, made, owned, attached, crashed>>

NoSpace(p) ==
    /\ pc[p] = "allocate"
    /\ Full
    /\ Go(p, "finish")
    /\ UNCHANGED <<files, lock, guard, shared, insist, seen, made, owned, attached, crashed>>

Fill(p) ==
    /\ pc[p] = "fill"
    /\ content' = [content EXCEPT ![made[p]] = "whole"]
    /\ owned' = [owned EXCEPT ![p] = @ \cup {made[p]}]
    /\ Go(p, IF LockFirst THEN "lock" ELSE BeforePublish(p))
    /\ UNCHANGED <<name, temp, mark, lock, guard, shared, insist, seen, made, attached, crashed>>

TakeLock(p) ==
    /\ pc[p] \in {"lock", "late-lock"}
    /\ lock' = IF lock[made[p]] = Nobody THEN [lock EXCEPT ![made[p]] = p] ELSE lock
    /\ IF pc[p] = "lock"
       THEN Go(p, IF FillFirst THEN BeforePublish(p) ELSE "finish") /\ UNCHANGED made
       ELSE Go(p, "idle") /\ made' = [made EXCEPT ![p] = Nothing]
    /\ UNCHANGED <<files, guard, shared, insist, seen, owned, attached, crashed>>

Supersede(p) ==
    /\ pc[p] = "supersede"
    /\ mark' = [mark EXCEPT ![seen[p]] = made[p]]
    /\ Go(p, "publish")
    /\ UNCHANGED <<name, temp, content, lock, guard, shared, insist, seen, made, owned, attached, crashed>>

\* The name is free, as it was when it was examined: it leads to the new file now, which still has its first name too.
Link(p) ==
    /\ name' = temp
    /\ Go(p, IF FillFirst THEN "finish" ELSE "allocate")
    /\ UNCHANGED <<temp, lock, made, owned>>

\* Other software was faster: the file is let go, and all begins again.
Again(p) ==
    /\ Go(p, "retry")
    /\ made' = [made EXCEPT ![p] = Nothing]
    /\ owned' = [owned EXCEPT ![p] = @ \ {made[p]}]
    /\ lock' = Unlocked(made[p], p)
    /\ UNCHANGED <<name, temp>>

Rename(p) ==
    /\ name' = IF temp = Nothing THEN name ELSE temp
    /\ temp' = Nothing
    /\ Go(p, IF FillFirst THEN "leave" ELSE "allocate")
    /\ UNCHANGED <<lock, made, owned>>

Publish(p) ==
    /\ pc[p] = "publish"
    /\ IF seen[p] = Nothing /\ LinkFirst
       THEN IF name = Nothing THEN Link(p) ELSE Again(p)
       ELSE Rename(p)
    /\ UNCHANGED <<content, mark, guard, shared, insist, seen, attached, crashed>>

\* The lock of a stale file that was held while it was replaced.
HoldsStale(p) == seen[p] # Nothing /\ seen[p] \notin owned[p]

LeaveCreate(p) ==
    /\ pc[p] = "leave"
    /\ guard' = IF guard = p THEN Nobody ELSE guard
    /\ lock' = IF HoldsStale(p) THEN Unlocked(seen[p], p) ELSE lock
    /\ insist' = [insist EXCEPT ![p] = FALSE]
    /\ seen' = [seen EXCEPT ![p] = Nothing]
    /\ IF ~LockFirst /\ made[p] # Nothing
       THEN Go(p, "late-lock") /\ UNCHANGED made
       ELSE Go(p, "idle") /\ made' = [made EXCEPT ![p] = Nothing]
    /\ UNCHANGED shared

LeaveClear(p) ==
    /\ pc[p] = "clear-leave"
    /\ guard' = IF guard = p THEN Nobody ELSE guard
    /\ Go(p, "close")
    /\ UNCHANGED <<lock, shared, insist, seen, made>>

LeaveAttach(p) ==
    /\ pc[p] = "attach-leave"
    /\ shared' = shared \ {p}
    /\ Go(p, IF seen[p] # Nothing THEN "check" ELSE "idle")
    /\ UNCHANGED <<lock, guard, insist, seen, made>>

DropGuard(p) ==
    /\ LeaveCreate(p) \/ LeaveClear(p) \/ LeaveAttach(p)
    /\ UNCHANGED <<files, owned, attached, crashed>>

-----------------------------------------------------------------------------
(* Clear, by the owner. *)

Look(p) ==
    /\ pc[p] = "look"
    /\ Go(p, IF name # seen[p] /\ InodeChecked THEN "clear-leave" ELSE IF ClearMarks THEN "mark" ELSE "unlink")
    /\ UNCHANGED <<files, lock, guard, shared, insist, seen, made, owned, attached, crashed>>

MarkGone(p) ==
    /\ pc[p] = "mark"
    /\ mark' = [mark EXCEPT ![seen[p]] = Removed]
    /\ Go(p, "unlink")
    /\ UNCHANGED <<name, temp, content, lock, guard, shared, insist, seen, made, owned, attached, crashed>>

Unlink(p) ==
    /\ pc[p] = "unlink"
    /\ name' = Nothing
    /\ Go(p, "clear-leave")
    /\ UNCHANGED <<temp, content, mark, lock, guard, shared, insist, seen, made, owned, attached, crashed>>

-----------------------------------------------------------------------------
(* Attach. *)

Open(p) ==
    /\ pc[p] \in {"open", "again"}
    /\ seen' = [seen EXCEPT ![p] = name]
    /\ Go(p, IF pc[p] = "again" THEN "attach-leave" ELSE IF name = Nothing THEN "share" ELSE "check")
    /\ UNCHANGED <<files, lock, guard, shared, insist, made, owned, attached, crashed>>

ShareGuard(p) ==
    /\ pc[p] = "share"
    /\ guard = Nobody
    /\ shared' = shared \cup {p}
    /\ Go(p, "again")
    /\ UNCHANGED <<files, lock, guard, insist, seen, made, owned, attached, crashed>>

Validate(p) ==
    /\ pc[p] = "check"
    /\ attached' = [attached EXCEPT ![p] = IF content[seen[p]] = "whole" THEN @ \cup {seen[p]} ELSE @]
    /\ seen' = [seen EXCEPT ![p] = Nothing]
    /\ Go(p, "idle")
    /\ UNCHANGED <<files, lock, guard, shared, insist, made, owned, crashed>>

-----------------------------------------------------------------------------
(* The environment. *)

\* The kernel takes back every lock and every handle. Files and names stay.
Crash(p) ==
    /\ pc[p] # "dead"
    /\ p \in Mortal
    /\ Go(p, "dead")
    /\ lock' = [i \in Files |-> IF lock[i] = p THEN Nobody ELSE lock[i]]
    /\ guard' = IF guard = p THEN Nobody ELSE guard
    /\ shared' = shared \ {p}
    /\ insist' = [insist EXCEPT ![p] = FALSE]
    /\ seen' = [seen EXCEPT ![p] = Nothing]
    /\ made' = [made EXCEPT ![p] = Nothing]
    /\ owned' = [owned EXCEPT ![p] = {}]
    /\ attached' = [attached EXCEPT ![p] = {}]
    /\ crashed' = TRUE
    /\ UNCHANGED files

Restart(p) ==
    /\ pc[p] = "dead"
    /\ Go(p, "idle")
    /\ UNCHANGED <<files, lock, guard, shared, insist, seen, made, owned, attached, crashed>>

ForeignCreate ==
    /\ Foreign
    /\ name = Nothing
    /\ \A i \in Files : content[i] # "foreign"
    /\ Used + Pending + Second < I
    /\ name' = Next1
    /\ content' = [content EXCEPT ![Next1] = "foreign"]
    /\ UNCHANGED <<temp, mark, lock, guard, shared, pc, insist, seen, made, owned, attached, crashed>>

-----------------------------------------------------------------------------
Calls(p) == (\E i \in BOOLEAN : CallCreate(p, i)) \/ (\E i \in Files : CallClear(p, i)) \/ CallAttach(p) \/ GiveUp(p)
Create(p) ==
    \/ TakeGuard(p) \/ Examine(p) \/ DropTemp(p) \/ MakeTemp(p) \/ Allocate(p) \/ NoSpace(p) \/ Fill(p)
    \/ TakeLock(p) \/ Supersede(p) \/ Publish(p) \/ DropGuard(p)
Clear(p) == Look(p) \/ MarkGone(p) \/ Unlink(p) \/ (\E i \in Files : Close(p, i))
Attach(p) == Open(p) \/ ShareGuard(p) \/ Validate(p)

Next == ForeignCreate \/ \E p \in Processes : Calls(p) \/ Create(p) \/ Clear(p) \/ Attach(p) \/ Crash(p) \/ Restart(p)

Spec == Init /\ [][Next]_vars
=============================================================================
