---------------------------- MODULE BuffersShipped --------------------------
(***************************************************************************)
(* Memory that one process owns and another has mapped, in a clear and an  *)
(* update, as FastDeploy's worker loop and its cache process do it. The    *)
(* worker's loop looks at the word, does its half, and runs steps.         *)
(*                                                                         *)
(* With every constant TRUE it works: BuffersShipped_guarded.cfg. Each     *)
(* BuffersShipped_bug_*.cfg takes one of them away.                        *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS
    MaxAsked        \* bound: requests

CONSTANTS
    LooksAgain,     \* after its half of a change the loop looks at the word before it runs a step
    OwnerWaits,     \* the owner waits for the other's detaching; FALSE: it is the other that waits, for the owner
    BothDetach      \* the clean-up is on both branches, the owner's and the other's

Normal == 0
Updating == 1
Clearing == -1
Cleared == -2

ASSUME MaxAsked \in Nat /\ {LooksAgain, OwnerWaits, BothDetach} \subseteq BOOLEAN

VARIABLES
    word,
    asked,      \* number of requests so far
    there,      \* the memory exists
    mapped,     \* the worker has it mapped
    loaded,     \* the worker has its weights
    pc          \* the worker's loop: "top", "after" its half of a change, "run"

vars == <<word, asked, there, mapped, loaded, pc>>

Init ==
    /\ word = Normal
    /\ asked = 0
    /\ there = TRUE /\ mapped = TRUE /\ loaded = TRUE
    /\ pc = "top"

Ask ==
    /\ asked < MaxAsked
    /\ word \in {Normal, Cleared}
    /\ asked' = asked + 1
    /\ word' = IF word = Normal THEN Clearing ELSE Updating
    /\ UNCHANGED <<there, mapped, loaded, pc>>

-----------------------------------------------------------------------------
(* The owner. *)

Free ==
    /\ word = Clearing
    /\ there
    /\ OwnerWaits => ~mapped
    /\ there' = FALSE
    /\ UNCHANGED <<word, asked, mapped, loaded, pc>>

SayCleared ==
    /\ word = Clearing
    /\ ~there /\ ~mapped /\ ~loaded
    /\ word' = Cleared
    /\ UNCHANGED <<asked, there, mapped, loaded, pc>>

Rebuild ==
    /\ word = Updating
    /\ ~there
    /\ there' = TRUE
    /\ UNCHANGED <<word, asked, mapped, loaded, pc>>

SayNormal ==
    /\ word = Updating
    /\ there /\ mapped /\ loaded
    /\ word' = Normal
    /\ UNCHANGED <<asked, there, mapped, loaded, pc>>

-----------------------------------------------------------------------------
(* The worker. *)

Detach ==
    /\ pc = "top"
    /\ word = Clearing
    /\ loaded
    /\ OwnerWaits \/ ~there
    /\ loaded' = FALSE
    /\ mapped' = (mapped /\ ~BothDetach)
    /\ pc' = "after"
    /\ UNCHANGED <<word, asked, there>>

Load ==
    /\ pc = "top"
    /\ word = Updating
    /\ ~loaded
    /\ loaded' = TRUE
    /\ pc' = "after"
    /\ UNCHANGED <<word, asked, there, mapped>>

Attach ==
    /\ pc = "top"
    /\ word = Updating
    /\ there /\ ~mapped
    /\ mapped' = TRUE
    /\ UNCHANGED <<word, asked, there, loaded, pc>>

GoOn ==
    /\ pc = "after"
    /\ pc' = IF LooksAgain THEN "top" ELSE "run"
    /\ UNCHANGED <<word, asked, there, mapped, loaded>>

Run ==
    /\ pc = "top"
    /\ word = Normal
    /\ pc' = "run"
    /\ UNCHANGED <<word, asked, there, mapped, loaded>>

StepEnds ==
    /\ pc = "run"
    /\ pc' = "top"
    /\ UNCHANGED <<word, asked, there, mapped, loaded>>

-----------------------------------------------------------------------------
Work == Free \/ SayCleared \/ Rebuild \/ SayNormal \/ Detach \/ Load \/ Attach \/ GoOn \/ StepEnds

Next ==
    \/ Ask
    \/ Free
    \/ SayCleared
    \/ Rebuild
    \/ SayNormal
    \/ Detach
    \/ Load
    \/ Attach
    \/ GoOn
    \/ Run
    \/ StepEnds

Spec == Init /\ [][Next]_vars
FairSpec == Spec /\ WF_vars(Work)

TypeOK ==
    /\ word \in {Normal, Updating, Clearing, Cleared}
    /\ asked \in 0 .. MaxAsked
    /\ {there, mapped, loaded} \subseteq BOOLEAN
    /\ pc \in {"top", "after", "run"}

RunsOnMemory == pc = "run" => there /\ mapped /\ loaded

FreedMeansUnmapped == mapped => there

\* A change that is under way goes on.
ChangeGoesOn == word \in {Clearing, Updating} => ENABLED Work

ClearEnds == word = Clearing ~> word = Cleared
=============================================================================
