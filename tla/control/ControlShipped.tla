--------------------------- MODULE ControlShipped ---------------------------
(***************************************************************************)
(* Control requests as FastDeploy makes them: a request travels in the     *)
(* list of batches, every rank answers into a pipe of its own, and then    *)
(* meets the others at a barrier. The engine marks itself paused, aborts   *)
(* what runs, looks until the list is empty, puts the request, and reads   *)
(* one message of each pipe within a time limit. One step here is one call *)
(* on a shared object, or one assignment.                                  *)
(*                                                                         *)
(* The constants choose what the environment does. With none of it the     *)
(* protocol works: MCControlShipped_guarded.cfg. Each                      *)
(* MCControlShipped_bug_*.cfg allows one thing and breaks a property.      *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    N,              \* number of ranks
    MaxAsked,       \* bound: requests
    MaxWork,        \* bound: batches that another thread of the engine puts
    Impatient,      \* the engine may stop waiting for a rank that would still answer
    Failing,        \* aborting what runs may fail
    Raisers         \* ranks that may raise once between their answer and the barrier

Ranks == 0 .. N - 1
Nothing == -1

ASSUME /\ {N, MaxAsked} \subseteq Nat \ {0}
       /\ MaxWork \in Nat
       /\ {Impatient, Failing} \subseteq BOOLEAN
       /\ Raisers \subseteq Ranks

VARIABLES
    engine,         \* what it does: "idle", "paused", "aborted", "quiet", "gather"
    paused,         \* its own mark
    asked,          \* requests that were put
    told,           \* what its last call told its caller: "nothing", "ok", "error"
    heard,          \* ranks whose pipe it has read, or given up, in this round
    got,            \* ranks whose answer to this request it has
    late,           \* it has given up a rank in this round
    slot,           \* what each rank has not read: Nothing, 0 (a batch of work), or a request
    work,           \* batches of work so far
    pipe,           \* answers of each rank that were not read
    pc,             \* what each rank does: "loop", "run", "answered", "barrier"
    doing,          \* the request that each rank has read last
    raised,         \* history: ranks that have raised
    fewer,          \* history: a request was a success without the answers of all
    slipped,        \* history: a batch came between the look and the request
    split           \* history: ranks have passed the barrier together from different requests

vars == <<engine, paused, asked, told, heard, got, late, slot, work, pipe, pc, doing, raised, fewer, slipped, split>>
engineVars == <<engine, paused, asked, told, heard, got, late>>
rankVars == <<pipe, pc, doing, raised>>
history == <<fewer, slipped, split>>

Init ==
    /\ engine = "idle"
    /\ paused = FALSE
    /\ asked = 0
    /\ told = "nothing"
    /\ heard = {}
    /\ got = {}
    /\ late = FALSE
    /\ slot = [r \in Ranks |-> Nothing]
    /\ work = 0
    /\ pipe = [r \in Ranks |-> <<>>]
    /\ pc = [r \in Ranks |-> "loop"]
    /\ doing = [r \in Ranks |-> 0]
    /\ raised = {}
    /\ fewer = FALSE
    /\ slipped = FALSE
    /\ split = FALSE

AllRead == \A r \in Ranks : slot[r] = Nothing
Go(r, label) == pc' = [pc EXCEPT ![r] = label]

-----------------------------------------------------------------------------
(* The engine. *)

Mark ==
    /\ engine = "idle"
    /\ asked < MaxAsked
    /\ engine' = "paused"
    /\ paused' = TRUE
    /\ UNCHANGED <<asked, told, heard, got, late, slot, work, rankVars, history>>

Abort ==
    /\ engine = "paused"
    /\ engine' = "aborted"
    /\ UNCHANGED <<paused, asked, told, heard, got, late, slot, work, rankVars, history>>

AbortFails ==
    /\ Failing
    /\ engine = "paused"
    /\ engine' = "idle"
    /\ told' = "error"
    /\ UNCHANGED <<paused, asked, heard, got, late, slot, work, rankVars, history>>

Look ==
    /\ engine = "aborted"
    /\ AllRead
    /\ engine' = "quiet"
    /\ UNCHANGED <<paused, asked, told, heard, got, late, slot, work, rankVars, history>>

\* A put waits until all ranks have read what was put before.
Put ==
    /\ engine = "quiet"
    /\ AllRead
    /\ engine' = "gather"
    /\ asked' = asked + 1
    /\ slot' = [r \in Ranks |-> asked + 1]
    /\ UNCHANGED <<paused, told, heard, got, late, work, rankVars, history>>

\* Another thread of the engine.
PutWork ==
    /\ work < MaxWork
    /\ AllRead
    /\ work' = work + 1
    /\ slot' = [r \in Ranks |-> 0]
    /\ slipped' = (slipped \/ engine = "quiet")
    /\ UNCHANGED <<engineVars, rankVars, fewer, split>>

\* What is not about this request is logged and ignored.
Read(r) ==
    /\ engine = "gather"
    /\ r \notin heard
    /\ pipe[r] # <<>>
    /\ heard' = heard \cup {r}
    /\ got' = IF Head(pipe[r]) = asked THEN got \cup {r} ELSE got
    /\ pipe' = [pipe EXCEPT ![r] = Tail(@)]
    /\ UNCHANGED <<engine, paused, asked, told, late, slot, work, pc, doing, raised, history>>

GiveUp(r) ==
    /\ Impatient
    /\ engine = "gather"
    /\ r \notin heard
    /\ pipe[r] = <<>>
    /\ heard' = heard \cup {r}
    /\ late' = TRUE
    /\ UNCHANGED <<engine, paused, asked, told, got, slot, work, rankVars, history>>

Return ==
    /\ engine = "gather"
    /\ heard = Ranks
    /\ engine' = "idle"
    /\ told' = IF late THEN "error" ELSE "ok"
    /\ fewer' = (fewer \/ (~late /\ got # Ranks))
    /\ heard' = {}
    /\ got' = {}
    /\ late' = FALSE
    /\ UNCHANGED <<paused, asked, slot, work, rankVars, slipped, split>>

-----------------------------------------------------------------------------
(* The ranks. *)

Take(r) ==
    /\ pc[r] = "loop"
    /\ slot[r] # Nothing
    /\ slot' = [slot EXCEPT ![r] = Nothing]
    /\ IF slot[r] = 0
       THEN UNCHANGED <<pc, doing>>
       ELSE Go(r, "run") /\ doing' = [doing EXCEPT ![r] = slot[r]]
    /\ UNCHANGED <<engineVars, work, pipe, raised, history>>

Respond(r) ==
    /\ pc[r] = "run"
    /\ pipe' = [pipe EXCEPT ![r] = Append(@, doing[r])]
    /\ Go(r, "answered")
    /\ UNCHANGED <<engineVars, slot, work, doing, raised, history>>

Raise(r) ==
    /\ r \in Raisers \ raised
    /\ pc[r] = "answered"
    /\ raised' = raised \cup {r}
    /\ Go(r, "loop")
    /\ UNCHANGED <<engineVars, slot, work, pipe, doing, history>>

Arrive(r) ==
    /\ pc[r] = "answered"
    /\ Go(r, "barrier")
    /\ UNCHANGED <<engineVars, slot, work, pipe, doing, raised, history>>

Pass ==
    /\ \A r \in Ranks : pc[r] = "barrier"
    /\ pc' = [r \in Ranks |-> "loop"]
    /\ split' = (split \/ Cardinality({doing[r] : r \in Ranks}) > 1)
    /\ UNCHANGED <<engineVars, slot, work, pipe, doing, raised, fewer, slipped>>

-----------------------------------------------------------------------------
Next ==
    \/ Mark \/ Abort \/ AbortFails \/ Look \/ Put \/ PutWork \/ Return \/ Pass
    \/ \E r \in Ranks : Read(r) \/ GiveUp(r) \/ Take(r) \/ Respond(r) \/ Raise(r) \/ Arrive(r)

Spec == Init /\ [][Next]_vars
=============================================================================
