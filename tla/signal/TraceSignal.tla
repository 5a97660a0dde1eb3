---------------------------- MODULE TraceSignal ----------------------------
(***************************************************************************)
(* Is a recorded run of real processes a behaviour of Signal?              *)
(*                                                                         *)
(* Nobody saw the steps of all processes in one order: each process noted  *)
(* its own, after it had taken it. So a step was taken between the note    *)
(* before and its own, and TLC looks for an order of all steps that        *)
(* respects these spans.                                                   *)
(*                                                                         *)
(* TraceData is generated for each run of TLC:                             *)
(*   Traces   sequence of runs; a run is a sequence of steps; a step is a  *)
(*            tuple <<process, action, start, end, file, insist, error>>.  *)
(*            start and end are places in the order of all moments of the  *)
(*            run; file is the inode that was opened, made or closed;      *)
(*            error is how the call ended, of the last step of a call, and *)
(*            "-" of the others                                            *)
(*                                                                         *)
(* A run is accepted if some order explains all of its steps.              *)
(* <<"AT", k, i>> says that some order explains i - 1 steps of run k.      *)
(***************************************************************************)
EXTENDS MCSignal, Sequences, TraceData, TLC

VARIABLES
    k,          \* which run
    at,         \* one more than the number of steps that were taken
    taken,      \* how many each process has taken
    inodes      \* of each file that was made: files have numbers here, and inodes there

traceVars == <<k, at, taken, inodes, vars>>

Of == [j \in DOMAIN Traces |-> [p \in Processes |-> SelectSeq(Traces[j], LAMBDA step : step[1] = p)]]

TraceInit ==
    /\ Init
    /\ k \in DOMAIN Traces
    /\ at = 1
    /\ taken = [p \in Processes |-> 0]
    /\ inodes = <<>>

Left == {p \in Processes : taken[p] < Len(Of[k][p])}
Step(p) == Of[k][p][taken[p] + 1]
Action(p) == Step(p)[2]
Inode(p) == Step(p)[5]

\* It has begun before any other step that is left was over.
InTime(p) == \A q \in Left : Step(p)[3] <= Step(q)[4]

Named(inode) == {i \in DOMAIN inodes : inodes[i] = inode}

Observed(p) ==
    \/ Action(p) = "CallCreate" /\ CallCreate(p, Step(p)[6])
    \/ Action(p) = "CallClear" /\ \E i \in Named(Inode(p)) : CallClear(p, i)
    \/ Action(p) = "CallAttach" /\ CallAttach(p)
    \/ Action(p) = "GiveUp" /\ GiveUp(p)
    \* At the end of a clear it is the file that was cleared.
    \/ Action(p) = "Close" /\ \E i \in IF pc[p] = "close" THEN {seen[p]} ELSE Named(Inode(p)) : Close(p, i)
    \/ Action(p) = "TakeGuard" /\ TakeGuard(p)
    \/ Action(p) = "Examine" /\ Examine(p)
    \/ Action(p) = "DropTemp" /\ DropTemp(p)
    \/ Action(p) = "MakeTemp" /\ MakeTemp(p)
    \/ Action(p) = "Allocate" /\ Allocate(p)
    \/ Action(p) = "NoSpace" /\ NoSpace(p)
    \/ Action(p) = "Fill" /\ Fill(p)
    \/ Action(p) = "TakeLock" /\ TakeLock(p)
    \/ Action(p) = "Supersede" /\ Supersede(p)
    \/ Action(p) = "Publish" /\ Publish(p)
    \/ Action(p) = "DropGuard" /\ DropGuard(p)
    \/ Action(p) = "Look" /\ Look(p)
    \/ Action(p) = "MarkGone" /\ MarkGone(p)
    \/ Action(p) = "Unlink" /\ Unlink(p)
    \/ Action(p) = "Open" /\ Open(p)
    \/ Action(p) = "ShareGuard" /\ ShareGuard(p)
    \/ Action(p) = "Validate" /\ Validate(p)
    \/ Action(p) = "Crash" /\ Crash(p)
    \/ Action(p) = "Restart" /\ Restart(p)

\* What an open found.
Found(p) ==
    Action(p) \in {"Examine", "Open"} =>
        Inode(p) = IF seen'[p] = Nothing THEN 0 ELSE inodes[seen'[p]]

\* The error that a call ends with; "": none.
Ending(p) ==
    CASE Action(p) = "GiveUp" -> "CommTimeoutError"
      [] Action(p) = "Validate" /\ content[seen[p]] # "whole" -> "SignalMismatchError"
      [] Action(p) = "DropGuard" /\ pc[p] = "attach-leave" -> "SignalNotFoundError"
      [] Action(p) = "DropGuard" /\ pc[p] = "leave" /\ made[p] = Nothing -> "SignalInUseError"
      [] Action(p) = "DropGuard" /\ pc[p] = "leave" /\ made[p] # name -> "SignalSpaceError"
      [] OTHER -> ""

Ended(p) == Step(p)[7] # "-" => pc'[p] = "idle" /\ Step(p)[7] = Ending(p)

TraceNext ==
    \E p \in Left :
        /\ InTime(p)
        /\ Observed(p)
        /\ inodes' = IF Action(p) = "MakeTemp" THEN Append(inodes, Inode(p)) ELSE inodes
        /\ Found(p)
        /\ Ended(p)
        /\ taken' = [taken EXCEPT ![p] = @ + 1]
        /\ at' = at + 1
        /\ UNCHANGED k

TraceSpec == TraceInit /\ [][TraceNext]_traceVars

\* Never false: it only tells how far each run is explained.
Progress == PrintT(<<"AT", k, at>>)
=============================================================================
