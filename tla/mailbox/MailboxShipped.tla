-------------------------- MODULE MailboxShipped --------------------------
(***************************************************************************)
(* The results of one request as FastDeploy sends them. The thread of the  *)
(* tokens looks whether the request has a handle; without one it appends   *)
(* to the cache, with one it sends the cache and the new result together   *)
(* and then empties the cache. The thread of the handles stores a handle,  *)
(* and flushes the cache if it ends with the last result. One step here is *)
(* one access to a shared object.                                          *)
(*                                                                         *)
(* The constants choose what the environment does. With none of it the     *)
(* protocol works: MCMailboxShipped_guarded.cfg. Each                      *)
(* MCMailboxShipped_bug_*.cfg allows one thing and breaks a property.      *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS
    MaxItems,       \* results of the request; the last one has this number
    Capacity,       \* what should be the most that is cached
    HandleComes,    \* when the handle comes: "first" before any result, "any" at any time, "never"
    Dies            \* the client may die

ASSUME /\ {MaxItems, Capacity} \subseteq Nat
       /\ HandleComes \in {"first", "any", "never"}
       /\ Dies \in BOOLEAN

VARIABLES
    token,          \* what the token thread does: "idle", "append", "send", "drop", "end"
    handler,        \* what the handle thread does: "wait", "look", "flush", "drop", "done"
    known,          \* the handle is stored
    made,           \* results so far
    cached,         \* results in the cache
    sent,           \* results that the client has got
    gone,           \* the client is gone
    swallowed       \* history: a send to a client that is gone was a success

vars == <<token, handler, known, made, cached, sent, gone, swallowed>>

Init ==
    /\ token = "idle"
    /\ handler = IF HandleComes = "never" THEN "done" ELSE "wait"
    /\ known = FALSE
    /\ made = 0
    /\ cached = <<>>
    /\ sent = <<>>
    /\ gone = FALSE
    /\ swallowed = FALSE

Deliver(items) ==
    /\ sent' = IF gone THEN sent ELSE sent \o items
    /\ swallowed' = (swallowed \/ gone)

-----------------------------------------------------------------------------
(* The token thread. *)

\* send_response: is there a handle?
Look ==
    /\ token = "idle"
    /\ made < MaxItems
    /\ handler # "wait" \/ HandleComes # "first"
    /\ made' = made + 1
    /\ token' = IF known THEN "send" ELSE "append"
    /\ UNCHANGED <<handler, known, cached, sent, gone, swallowed>>

Append1 ==
    /\ token = "append"
    /\ cached' = Append(cached, made)
    /\ token' = "idle"
    /\ UNCHANGED <<handler, known, made, sent, gone, swallowed>>

Send ==
    /\ token = "send"
    /\ Deliver(Append(cached, made))
    /\ token' = "drop"
    /\ UNCHANGED <<handler, known, made, cached, gone>>

\* The cache is emptied; with the last result the handle is dropped, too.
Drop ==
    /\ token = "drop"
    /\ cached' = <<>>
    /\ known' = IF made = MaxItems THEN FALSE ELSE known
    /\ token' = IF made = MaxItems THEN "end" ELSE "idle"
    /\ UNCHANGED <<handler, made, sent, gone, swallowed>>

-----------------------------------------------------------------------------
(* The handle thread. *)

Store ==
    /\ handler = "wait"
    /\ HandleComes # "first" \/ made = 0
    /\ known' = TRUE
    /\ handler' = "look"
    /\ UNCHANGED <<token, made, cached, sent, gone, swallowed>>

LookCache ==
    /\ handler = "look"
    /\ handler' = IF cached # <<>> /\ cached[Len(cached)] = MaxItems THEN "flush" ELSE "done"
    /\ UNCHANGED <<token, known, made, cached, sent, gone, swallowed>>

Flush ==
    /\ handler = "flush"
    /\ Deliver(cached)
    /\ handler' = "drop"
    /\ UNCHANGED <<token, known, made, cached, gone>>

DropHandle ==
    /\ handler = "drop"
    /\ cached' = <<>>
    /\ known' = FALSE
    /\ handler' = "done"
    /\ UNCHANGED <<token, made, sent, gone, swallowed>>

Die ==
    /\ Dies
    /\ ~gone
    /\ gone' = TRUE
    /\ UNCHANGED <<token, handler, known, made, cached, sent, swallowed>>

-----------------------------------------------------------------------------
Next ==
    \/ Look \/ Append1 \/ Send \/ Drop
    \/ Store \/ LookCache \/ Flush \/ DropHandle
    \/ Die

Spec == Init /\ [][Next]_vars
=============================================================================
