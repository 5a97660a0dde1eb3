---------------------------- MODULE DrainShipped ----------------------------
(***************************************************************************)
(* An engine that pauses: a flag stops the admission of requests, one loop *)
(* launches steps on a device and ends requests, and a client waits until  *)
(* no request is left. FastDeploy, vLLM and tokenspeed have published this *)
(* with one part or another missing.                                       *)
(*                                                                         *)
(* With every constant TRUE it works: DrainShipped_guarded.cfg. Each       *)
(* DrainShipped_bug_*.cfg takes one of them away.                          *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
    Requests,       \* number of requests
    Aborted         \* those that their users abort, at any time

CONSTANTS
    LoopRunsOn,     \* the flag stops admission only, not the loop
    OnlyLive,       \* a pause waits for live requests only, not for the marks of aborts
    WaitsForDevice, \* a pause waits for the step that was launched last
    OwnerEnds       \* a resume that finds nothing to resume leaves the flag of a drain alone

All == 0 .. Requests - 1

ASSUME /\ Requests \in Nat
       /\ Aborted \subseteq All
       /\ {LoopRunsOn, OnlyLive, WaitsForDevice, OwnerEnds} \subseteq BOOLEAN

VARIABLES
    closed,     \* no request is admitted
    request,    \* of each: "out", "live", "over"
    marks,      \* requests that are marked as aborted
    device,     \* a step runs
    control     \* what the client does: "run", "pausing", "paused"

vars == <<closed, request, marks, device, control>>

Live == {r \in All : request[r] = "live"}

Init ==
    /\ closed = FALSE
    /\ request = [r \in All |-> "out"]
    /\ marks = {}
    /\ device = FALSE
    /\ control = "run"

Admit(r) ==
    /\ ~closed
    /\ request[r] = "out"
    /\ request' = [request EXCEPT ![r] = "live"]
    /\ UNCHANGED <<closed, marks, device, control>>

\* A mark on a request that is over is dropped, or stays.
Abort(r) ==
    /\ r \in Aborted \ marks
    /\ request[r] = "live" \/ (~OnlyLive /\ request[r] = "over")
    /\ marks' = marks \cup {r}
    /\ UNCHANGED <<closed, request, device, control>>

-----------------------------------------------------------------------------
(* The loop. *)

LoopGoes == LoopRunsOn \/ ~closed

Launch ==
    /\ LoopGoes
    /\ Live # {}
    /\ ~device
    /\ device' = TRUE
    /\ UNCHANGED <<closed, request, marks, control>>

\* The device's own doing.
StepEnds ==
    /\ device
    /\ device' = FALSE
    /\ UNCHANGED <<closed, request, marks, control>>

\* The loop has read the result of a step, and the request is complete.
Finish(r) ==
    /\ LoopGoes
    /\ request[r] = "live"
    /\ ~device
    /\ request' = [request EXCEPT ![r] = "over"]
    /\ marks' = IF OnlyLive THEN marks \ {r} ELSE marks
    /\ UNCHANGED <<closed, device, control>>

\* The loop ends what is marked, whatever the device does.
EndAborted(r) ==
    /\ LoopGoes
    /\ r \in marks
    /\ request[r] = "live"
    /\ request' = [request EXCEPT ![r] = "over"]
    /\ marks' = marks \ {r}
    /\ UNCHANGED <<closed, device, control>>

-----------------------------------------------------------------------------
(* The client that pauses, and another one. *)

CallPause ==
    /\ control = "run"
    /\ control' = "pausing"
    /\ closed' = TRUE
    /\ UNCHANGED <<request, marks, device>>

PauseReturns ==
    /\ control = "pausing"
    /\ Live = {}
    /\ OnlyLive \/ marks = {}
    /\ WaitsForDevice => ~device
    /\ control' = "paused"
    /\ UNCHANGED <<closed, request, marks, device>>

ResumeNothing ==
    /\ ~OwnerEnds
    /\ control = "pausing"
    /\ closed
    /\ closed' = FALSE
    /\ UNCHANGED <<request, marks, device, control>>

-----------------------------------------------------------------------------
Loop == Launch \/ \E r \in All : Finish(r) \/ EndAborted(r)

Next ==
    \/ \E r \in All : Admit(r) \/ Abort(r)
    \/ Loop
    \/ StepEnds
    \/ CallPause
    \/ PauseReturns
    \/ ResumeNothing

Spec == Init /\ [][Next]_vars
FairSpec ==
    /\ Spec
    /\ WF_vars(StepEnds) /\ WF_vars(PauseReturns)
    /\ \A r \in All : SF_vars(Finish(r)) /\ WF_vars(EndAborted(r))

TypeOK ==
    /\ {closed, device} \subseteq BOOLEAN
    /\ request \in [All -> {"out", "live", "over"}]
    /\ marks \subseteq All
    /\ control \in {"run", "pausing", "paused"}

PausedMeansStill == control = "paused" => Live = {} /\ ~device

\* Nobody waits for what no step can bring.
PauseCanReturn == control = "pausing" => ENABLED (Loop \/ StepEnds \/ PauseReturns)

PauseComes == control = "pausing" ~> control = "paused"
=============================================================================
