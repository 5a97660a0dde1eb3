-------------------------------- MODULE Link --------------------------------
(***************************************************************************)
(* One session of a handle with a host of another machine, over a          *)
(* connection that breaks and comes back. What was in a connection that    *)
(* broke is lost, or still comes when a newer connection is in use; so the *)
(* handle sends a call again until it has the answer, and the host does    *)
(* each call once. The contract is spec/link.toml: same names, same        *)
(* shapes.                                                                 *)
(*                                                                         *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents, and the property that   *)
(* the contract names for it fails: MCLink_bug_<guard>.cfg.                *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
    Calls,          \* bound: number of calls; they are 1 .. Calls, and call 1 opens the session
    Window,         \* most calls of a handle that are open at once
    MaxLosses,      \* bound: requests and answers that are lost
    MayFence,       \* the host may hear nothing of a live handle for longer than its limit
    Impatient,      \* the handle may hear nothing of a live host for longer than its limit
    ClientMortal,   \* the handle's process may die
    HostMortal,     \* the host may die
    Closes          \* the handle may be closed

CONSTANTS
    Dedups, StaleRefused, KeepsAnswer, Acknowledges, EndedRemembered, FencedTold, StopsAtFence, Resends,
    GivesUp, FencesSilent

All == 1 .. Calls
Guards == <<Dedups, StaleRefused, KeepsAnswer, Acknowledges, EndedRemembered, FencedTold, StopsAtFence,
            Resends, GivesUp, FencesSilent>>

ASSUME /\ {Calls, Window, MaxLosses} \subseteq Nat
       /\ {MayFence, Impatient, ClientMortal, HostMortal, Closes} \subseteq BOOLEAN
       /\ \A i \in DOMAIN Guards : Guards[i] \in BOOLEAN

VARIABLES
    client,         \* "up", "closed", "lost" (it gave up), "fenced" (it was told), "dead"
    calls,          \* of each call, for the handle: "none", "open", "answered", "lost", "fenced"
    wire,           \* requests on their way: [number, open, top]
    late,           \* copies of requests that an older connection still holds
    back,           \* answers on their way: their numbers; 0 says that the session has ended
    serving,        \* the host lives
    session,        \* "new", "open", "closed", "fenced"
    top,            \* highest number that the host has heard of
    known,          \* of each call, for the host: "none", "new", "running", "done"
    ran,            \* history: how often each call has taken effect
    losses          \* history

handle == <<client, calls>>
host == <<serving, session, top, known, ran>>
vars == <<client, calls, wire, late, back, serving, session, top, known, ran, losses>>

Init ==
    /\ client = "up"
    /\ calls = [n \in All |-> "none"]
    /\ wire = {}
    /\ late = {}
    /\ back = {}
    /\ serving = TRUE
    /\ session = "new"
    /\ top = 0
    /\ known = [n \in All |-> "none"]
    /\ ran = [n \in All |-> 0]
    /\ losses = 0

Open(states) == {n \in All : states[n] = "open"}
Highest(states) == Cardinality({n \in All : states[n] # "none"})

\* What a request says: its number, which calls are open, and how many there were.
Request(n, states) == [number |-> n, open |-> Open(states), top |-> Highest(states)]

Ended(how) == [n \in All |-> IF calls[n] = "open" THEN how ELSE calls[n]]

-----------------------------------------------------------------------------
(* The handle. *)

Call(n) ==
    /\ client = "up"
    /\ n = Highest(calls) + 1
    /\ n = 1 \/ calls[1] = "answered"
    /\ Cardinality(Open(calls)) < Window
    /\ calls' = [calls EXCEPT ![n] = "open"]
    /\ wire' = wire \cup {Request(n, calls')}
    /\ UNCHANGED <<client, late, back, host, losses>>

\* A connection that is replaced may still hold what was sent through it.
Resend(n) ==
    /\ Resends
    /\ client = "up"
    /\ calls[n] = "open"
    /\ LET request == Request(n, calls)
       IN /\ ~(request \in wire /\ request \in late)
          /\ wire' = wire \cup {request}
          /\ late' = IF request \in wire THEN late \cup {request} ELSE late
    /\ UNCHANGED <<handle, back, host, losses>>

Receive(n) ==
    /\ n \in back
    /\ client = "up"
    /\ calls' = [calls EXCEPT ![n] = IF @ = "open" THEN "answered" ELSE @]
    /\ back' = back \ {n}
    /\ UNCHANGED <<client, wire, late, host, losses>>

\* The host says that the session has ended.
Hear ==
    /\ 0 \in back
    /\ client = "up"
    /\ client' = "fenced"
    /\ calls' = Ended("fenced")
    /\ back' = back \ {0}
    /\ UNCHANGED <<wire, late, host, losses>>

\* The host was silent for longer than the limit.
GiveUp ==
    /\ GivesUp
    /\ client = "up"
    /\ Open(calls) # {}
    /\ Impatient \/ ~serving
    /\ client' = "lost"
    /\ calls' = Ended("lost")
    /\ UNCHANGED <<wire, late, back, host, losses>>

Close ==
    /\ Closes
    /\ client = "up"
    /\ Highest(calls) > 0
    /\ Open(calls) = {}
    /\ client' = "closed"
    /\ wire' = wire \cup {Request(0, calls)}
    /\ UNCHANGED <<calls, late, back, host, losses>>

Die ==
    /\ ClientMortal
    /\ client = "up"
    /\ client' = "dead"
    /\ UNCHANGED <<calls, wire, late, back, host, losses>>

-----------------------------------------------------------------------------
(* The network. *)

LoseOf(request) ==
    /\ losses < MaxLosses
    /\ losses' = losses + 1
    /\ wire' = IF request \in late THEN wire ELSE wire \ {request}
    /\ late' = late \ {request}
    /\ UNCHANGED <<handle, back, host>>

LoseAnswer(n) ==
    /\ losses < MaxLosses
    /\ n \in back
    /\ losses' = losses + 1
    /\ back' = back \ {n}
    /\ UNCHANGED <<handle, wire, late, host>>

-----------------------------------------------------------------------------
(* The host. *)

Max(a, b) == IF a > b THEN a ELSE b

\* A request is taken from the older connection first.
Take(request) ==
    /\ serving
    /\ wire' = IF request \in late THEN wire ELSE wire \ {request}
    /\ late' = late \ {request}
    /\ UNCHANGED <<handle, losses>>

Before == IF session = "open" THEN known ELSE [n \in All |-> "none"]
Heard == IF session = "open" THEN top ELSE 0

\* What the host knows after a request: calls that it will get, and none that the handle has the answer of.
After(request) ==
    [n \in All |->
        IF n > request.top THEN Before[n]
        ELSE IF n > Heard THEN (IF n \in request.open THEN "new" ELSE "none")
        ELSE IF n \in request.open \/ Before[n] = "running" \/ ~Acknowledges THEN Before[n]
        ELSE "none"]

Accepts(request) ==
    \/ session = "open"
    \/ request.number = 1 /\ (session = "new" \/ ~EndedRemembered)

BeginOf(request) ==
    /\ request.number # 0
    /\ Accepts(request)
    /\ LET n == request.number
           after == After(request)
       IN /\ \/ after[n] = "new"
             \/ after[n] = "none" /\ ~StaleRefused
             \/ after[n] \in {"running", "done", "bare"} /\ ~Dedups
          /\ known' = [after EXCEPT ![n] = "running"]
    /\ top' = Max(Heard, request.top)
    /\ session' = "open"
    /\ Take(request)
    /\ UNCHANGED <<back, serving, ran>>

\* The call has come before. Its answer, if there is one, is sent again.
RepeatOf(request) ==
    /\ request.number # 0
    /\ Accepts(request)
    /\ Dedups
    /\ LET n == request.number
           after == After(request)
       IN /\ after[n] \in {"running", "done", "bare"}
          /\ known' = after
          /\ back' = IF after[n] = "done" THEN back \cup {n} ELSE back
    /\ top' = Max(Heard, request.top)
    /\ Take(request)
    /\ UNCHANGED <<serving, session, ran>>

\* The handle has had the answer: this is a late copy.
StaleOf(request) ==
    /\ request.number # 0
    /\ Accepts(request)
    /\ StaleRefused
    /\ After(request)[request.number] = "none"
    /\ known' = After(request)
    /\ top' = Max(Heard, request.top)
    /\ Take(request)
    /\ UNCHANGED <<back, serving, session, ran>>

RefuseOf(request) ==
    /\ request.number # 0
    /\ ~Accepts(request)
    /\ back' = IF FencedTold THEN back \cup {0} ELSE back
    /\ Take(request)
    /\ UNCHANGED <<serving, session, top, known, ran>>

\* The handle was closed.
DepartOf(request) ==
    /\ request.number = 0
    /\ session' = IF session = "open" THEN "closed" ELSE session
    /\ Take(request)
    /\ UNCHANGED <<back, serving, top, known, ran>>

\* A call takes effect, and its answer is sent.
Finish(n) ==
    /\ serving
    /\ known[n] = "running"
    /\ session = "open" \/ ~StopsAtFence
    /\ known' = [known EXCEPT ![n] = IF KeepsAnswer THEN "done" ELSE "bare"]
    /\ ran' = [ran EXCEPT ![n] = @ + 1]
    /\ back' = IF session = "open" THEN back \cup {n} ELSE back
    /\ UNCHANGED <<handle, wire, late, serving, session, top, losses>>

\* Nothing was heard of the handle for longer than the limit.
Fence ==
    /\ serving
    /\ FencesSilent
    /\ session = "open"
    /\ MayFence \/ client # "up"
    /\ session' = "fenced"
    /\ UNCHANGED <<handle, wire, late, back, serving, top, known, ran, losses>>

HostDies ==
    /\ HostMortal
    /\ serving
    /\ serving' = FALSE
    /\ UNCHANGED <<handle, wire, late, back, session, top, known, ran, losses>>

-----------------------------------------------------------------------------
\* One of the requests that are on their way.
Lose == \E request \in wire \cup late : LoseOf(request)
Begin == \E request \in wire \cup late : BeginOf(request)
Repeat == \E request \in wire \cup late : RepeatOf(request)
Stale == \E request \in wire \cup late : StaleOf(request)
Refuse == \E request \in wire \cup late : RefuseOf(request)
Depart == \E request \in wire \cup late : DepartOf(request)

Next ==
    \/ \E n \in All : Call(n)
    \/ \E n \in All : Resend(n)
    \/ \E n \in All : Receive(n)
    \/ Hear
    \/ GiveUp
    \/ Close
    \/ Die
    \/ Lose
    \/ \E n \in 0 .. Calls : LoseAnswer(n)
    \/ Begin
    \/ Repeat
    \/ Stale
    \/ Refuse
    \/ Depart
    \/ \E n \in All : Finish(n)
    \/ Fence
    \/ HostDies

Spec == Init /\ [][Next]_vars
=============================================================================
