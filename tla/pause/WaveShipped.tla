----------------------------- MODULE WaveShipped ----------------------------
(***************************************************************************)
(* Pausing engines that step together (data parallel), as vLLM has         *)
(* published it. A wake-up is a message to every rank; a rank that runs    *)
(* waits in the collective of its step for all others. Ranks take part in  *)
(* another collective for a resume.                                        *)
(*                                                                         *)
(* With every constant TRUE it works: WaveShipped_guarded.cfg. Each        *)
(* WaveShipped_bug_*.cfg takes one of them away.                           *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS
    N,              \* ranks
    MaxWaves,       \* bound: wake-ups
    Pauses,         \* a client pauses
    ResumesAgain    \* a client resumes what runs already

CONSTANTS
    TwoPhases,      \* ranks stop together, when none has to step any more; until then they serve the others
    Epochs,         \* a wake-up from before the pause is dropped
    Agreed          \* whether there is something to resume is decided once, for all ranks

Ranks == 0 .. N - 1
None == -1

ASSUME /\ N \in Nat \ {0}
       /\ MaxWaves \in Nat
       /\ {Pauses, ResumesAgain, TwoPhases, Epochs, Agreed} \subseteq BOOLEAN

VARIABLES
    running,    \* of each rank: it has work, as far as it knows
    at,         \* where it is: "loop", or in the collective of a "step" or a "resume"
    stopped,    \* it is paused
    wave,       \* the wake-up that is under way to it, as the number of pauses before; or None
    order,      \* a resume is under way to it
    waves,      \* number of wake-ups so far
    epoch,      \* number of pauses so far
    resumed,    \* the second resume was asked for
    control     \* what the client does: "run", "pausing", "paused"

vars == <<running, at, stopped, wave, order, waves, epoch, resumed, control>>

Init ==
    /\ running = [r \in Ranks |-> FALSE]
    /\ at = [r \in Ranks |-> "loop"]
    /\ stopped = [r \in Ranks |-> FALSE]
    /\ wave = [r \in Ranks |-> None]
    /\ order = [r \in Ranks |-> FALSE]
    /\ waves = 0 /\ epoch = 0
    /\ resumed = FALSE
    /\ control = "run"

\* Work has come: every rank is woken, and the next wake-up waits until that is over.
Wake ==
    /\ control = "run"
    /\ waves < MaxWaves
    /\ \A r \in Ranks : wave[r] = None /\ ~running[r]
    /\ waves' = waves + 1
    /\ wave' = [r \in Ranks |-> epoch]
    /\ UNCHANGED <<running, at, stopped, order, epoch, resumed, control>>

Hear(r) ==
    /\ wave[r] # None
    /\ at[r] = "loop"
    /\ wave' = [wave EXCEPT ![r] = None]
    /\ running' = [running EXCEPT ![r] = ~(Epochs /\ wave[r] < epoch /\ stopped[r])]
    /\ UNCHANGED <<at, stopped, order, waves, epoch, resumed, control>>

Step(r) ==
    /\ at[r] = "loop"
    /\ running[r]
    /\ at' = [at EXCEPT ![r] = "step"]
    /\ UNCHANGED <<running, stopped, wave, order, waves, epoch, resumed, control>>

\* All are there; the work is done.
Stepped ==
    /\ \A r \in Ranks : at[r] = "step"
    /\ at' = [r \in Ranks |-> "loop"]
    /\ running' = [r \in Ranks |-> FALSE]
    /\ UNCHANGED <<stopped, wave, order, waves, epoch, resumed, control>>

-----------------------------------------------------------------------------
(* A pause. *)

CallPause ==
    /\ Pauses
    /\ control = "run"
    /\ control' = "pausing"
    /\ epoch' = epoch + 1
    /\ UNCHANGED <<running, at, stopped, wave, order, waves, resumed>>

\* Each rank by itself.
Stop(r) ==
    /\ ~TwoPhases
    /\ control = "pausing"
    /\ ~stopped[r]
    /\ at[r] = "loop"
    /\ stopped' = [stopped EXCEPT ![r] = TRUE]
    /\ running' = [running EXCEPT ![r] = FALSE]
    /\ UNCHANGED <<at, wave, order, waves, epoch, resumed, control>>

StopTogether ==
    /\ TwoPhases
    /\ control = "pausing"
    /\ \A r \in Ranks : at[r] = "loop" /\ ~running[r] /\ ~stopped[r]
    /\ stopped' = [r \in Ranks |-> TRUE]
    /\ UNCHANGED <<running, at, wave, order, waves, epoch, resumed, control>>

PauseReturns ==
    /\ control = "pausing"
    /\ \A r \in Ranks : stopped[r]
    /\ control' = "paused"
    /\ UNCHANGED <<running, at, stopped, wave, order, waves, epoch, resumed>>

-----------------------------------------------------------------------------
(* A second resume: there is nothing to resume. *)

ResumeAgain ==
    /\ ResumesAgain
    /\ control = "run"
    /\ ~resumed
    /\ resumed' = TRUE
    /\ order' = IF Agreed THEN order ELSE [r \in Ranks |-> TRUE]
    /\ UNCHANGED <<running, at, stopped, wave, waves, epoch, control>>

\* A rank that runs has nothing to do for it; another one takes part.
TakeResume(r) ==
    /\ order[r]
    /\ at[r] = "loop"
    /\ order' = [order EXCEPT ![r] = FALSE]
    /\ at' = [at EXCEPT ![r] = IF running[r] THEN "loop" ELSE "resume"]
    /\ UNCHANGED <<running, stopped, wave, waves, epoch, resumed, control>>

ResumedAgain ==
    /\ \A r \in Ranks : at[r] = "resume"
    /\ at' = [r \in Ranks |-> "loop"]
    /\ UNCHANGED <<running, stopped, wave, order, waves, epoch, resumed, control>>

-----------------------------------------------------------------------------
Next ==
    \/ Wake
    \/ \E r \in Ranks : Hear(r) \/ Step(r) \/ Stop(r) \/ TakeResume(r)
    \/ Stepped
    \/ CallPause
    \/ StopTogether
    \/ PauseReturns
    \/ ResumeAgain
    \/ ResumedAgain

Spec == Init /\ [][Next]_vars
FairSpec ==
    /\ Spec
    /\ \A r \in Ranks : WF_vars(Hear(r)) /\ WF_vars(Step(r)) /\ WF_vars(Stop(r)) /\ WF_vars(TakeResume(r))
    /\ WF_vars(Stepped) /\ WF_vars(StopTogether) /\ WF_vars(PauseReturns) /\ WF_vars(ResumedAgain)

TypeOK ==
    /\ {running, stopped, order} \subseteq [Ranks -> BOOLEAN]
    /\ at \in [Ranks -> {"loop", "step", "resume"}]
    /\ wave \in [Ranks -> {None} \cup 0 .. epoch]
    /\ waves \in 0 .. MaxWaves
    /\ control \in {"run", "pausing", "paused"}

PausedMeansStill == control = "paused" => \A r \in Ranks : at[r] = "loop" /\ ~running[r]

\* No rank is in a step that a paused one will not join.
StepsWhole == \A r, q \in Ranks : at[r] = "step" => ~stopped[q]

\* No two ranks wait for each other in two collectives.
SameCollective == \A r, q \in Ranks : ~(at[r] = "step" /\ at[q] = "resume")

PauseComes == control = "pausing" ~> control = "paused"
=============================================================================
