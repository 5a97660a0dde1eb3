---------------------------- MODULE UpdateShipped ---------------------------
(***************************************************************************)
(* Updating weights behind front ends, as SGLang has published it. Each    *)
(* front end has a lock of readers and one writer: its requests read, an   *)
(* update writes, unless there is a pause, which freezes the requests      *)
(* where they are. One client pauses, updates, does a step after the       *)
(* update, and resumes; it may speak to several front ends.                *)
(*                                                                         *)
(* With every constant TRUE it works: UpdateShipped_guarded.cfg. Each      *)
(* UpdateShipped_bug_*.cfg takes one of them away.                         *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS
    Fronts,         \* number of front ends; the client pauses through the first, and updates through the last
    Meddles,        \* another client may resume
    Queues          \* requests that come in a pause wait for its end

CONSTANTS
    Holds,          \* from the look at the pause to the end of the update nobody can resume
    NeedsNoLock,    \* the step after the update asks for no lock that frozen requests hold
    OneAuthority,   \* a pause that has returned is known at every front end
    WaitingMayStay  \* the step after the update needs that nothing runs, not that nothing waits

All == 0 .. Fronts - 1
Last == Fronts - 1

ASSUME /\ Fronts \in Nat \ {0}
       /\ {Meddles, Queues, Holds, NeedsNoLock, OneAuthority, WaitingMayStay} \subseteq BOOLEAN

VARIABLES
    frozen,     \* the engine is paused
    knows,      \* front ends that know of the pause
    request,    \* of each front end: "none", "waits", "reads", "over"
    pc          \* what the client does

vars == <<frozen, knows, request, pc>>

Init ==
    /\ frozen = FALSE
    /\ knows = {}
    /\ request = [f \in All |-> "none"]
    /\ pc = "start"

Queue(f) ==
    /\ Queues
    /\ frozen
    /\ request[f] = "none"
    /\ request' = [request EXCEPT ![f] = "waits"]
    /\ UNCHANGED <<frozen, knows, pc>>

Begin(f) ==
    /\ ~frozen
    /\ request[f] \in {"none", "waits"}
    /\ ~(f = Last /\ pc = "locked update")
    /\ request' = [request EXCEPT ![f] = "reads"]
    /\ UNCHANGED <<frozen, knows, pc>>

End(f) ==
    /\ ~frozen
    /\ request[f] = "reads"
    /\ request' = [request EXCEPT ![f] = "over"]
    /\ UNCHANGED <<frozen, knows, pc>>

-----------------------------------------------------------------------------
(* The client. *)

Free == request[Last] # "reads"

Pause ==
    /\ pc = "start"
    /\ pc' = "paused"
    /\ frozen' = TRUE
    /\ knows' = IF OneAuthority THEN All ELSE {0}
    /\ UNCHANGED request

\* The news of a pause comes to the other front ends, sooner or later.
News(f) ==
    /\ frozen
    /\ f \notin knows
    /\ knows' = knows \cup {f}
    /\ UNCHANGED <<frozen, request, pc>>

\* An update in a pause takes no lock.
Look ==
    /\ pc = "paused"
    /\ pc' = IF Last \in knows THEN "looked" ELSE "wants the lock"
    /\ UNCHANGED <<frozen, knows, request>>

Lock ==
    /\ pc = "wants the lock"
    /\ Free
    /\ pc' = "locked update"
    /\ UNCHANGED <<frozen, knows, request>>

Update ==
    /\ pc = "looked"
    /\ pc' = "update"
    /\ UNCHANGED <<frozen, knows, request>>

Updated ==
    /\ pc \in {"update", "locked update"}
    /\ pc' = "updated"
    /\ UNCHANGED <<frozen, knows, request>>

After ==
    /\ pc = "updated"
    /\ NeedsNoLock \/ Free
    /\ WaitingMayStay \/ \A f \in All : request[f] # "waits"
    /\ pc' = "after"
    /\ UNCHANGED <<frozen, knows, request>>

Resume ==
    /\ pc = "after"
    /\ pc' = "end"
    /\ frozen' = FALSE
    /\ knows' = {}
    /\ UNCHANGED request

\* Another client.
Meddle ==
    /\ Meddles
    /\ frozen
    /\ Holds => pc \notin {"looked", "update"}
    /\ frozen' = FALSE
    /\ knows' = {}
    /\ UNCHANGED <<request, pc>>

-----------------------------------------------------------------------------
Client == Pause \/ Look \/ Lock \/ Update \/ Updated \/ After \/ Resume

Next ==
    \/ \E f \in All : Queue(f) \/ Begin(f) \/ End(f) \/ News(f)
    \/ Pause
    \/ Look
    \/ Lock
    \/ Update
    \/ Updated
    \/ After
    \/ Resume
    \/ Meddle

Spec == Init /\ [][Next]_vars
FairSpec == Spec /\ WF_vars(Client) /\ \A f \in All : WF_vars(End(f)) /\ WF_vars(News(f))

TypeOK ==
    /\ frozen \in BOOLEAN
    /\ knows \subseteq All
    /\ request \in [All -> {"none", "waits", "reads", "over"}]

\* No request of the front end works while the weights change.
UpdatesAlone == pc \in {"update", "locked update"} => frozen \/ Free

\* The client can go on, or something can happen that lets it.
ClientGoesOn == pc # "end" => ENABLED Client \/ ENABLED (\E f \in All : End(f))

UpdateEnds == pc = "paused" ~> pc = "end"
=============================================================================
