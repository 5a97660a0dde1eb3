----------------------------- MODULE FmqShipped -----------------------------
(***************************************************************************)
(* A queue as FastDeploy makes it: a PUSH socket, a PULL socket that binds *)
(* a path, and payloads over 1 MiB in segments that the producer's         *)
(* resource tracker removes at its end. A message that was sent is         *)
(* forgotten.                                                              *)
(*                                                                         *)
(* The constants choose what the environment does. With none of it the     *)
(* queue works: FmqShipped_guarded.cfg. Each FmqShipped_bug_*.cfg allows   *)
(* one thing and breaks a property.                                        *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    MaxSent,        \* bound: messages
    Large,          \* numbers of the messages with a payload in shared memory
    Bad,            \* numbers of the messages that cannot be decoded
    Exits,          \* the producer may end
    Kills,          \* consumers may be killed
    Second          \* a second consumer may start while the first lives

ASSUME /\ MaxSent \in Nat
       /\ {Exits, Kills, Second} \subseteq BOOLEAN

VARIABLES
    sent,           \* messages so far
    live,           \* the producer lives
    there,          \* payloads in shared memory
    alive,          \* consumers that live
    path,           \* the consumer that the path leads to; 0 is none
    inbox,          \* what each consumer has not read
    got,            \* messages that a consumer was given
    empty,          \* messages that a consumer was given without their payload
    lost,           \* messages that were gone with a consumer
    closed          \* a consumer was closed by a message

vars == <<sent, live, there, alive, path, inbox, got, empty, lost, closed>>

Consumers == 1 .. 2
Items(s) == {s[i] : i \in DOMAIN s}

Init ==
    /\ sent = 0
    /\ live = TRUE
    /\ there = {}
    /\ alive = {}
    /\ path = 0
    /\ inbox = [c \in Consumers |-> <<>>]
    /\ got = {}
    /\ empty = {}
    /\ lost = {}
    /\ closed = FALSE

\* A put waits for a consumer.
Put ==
    /\ live
    /\ sent < MaxSent
    /\ path > 0
    /\ sent' = sent + 1
    /\ there' = IF sent + 1 \in Large THEN there \cup {sent + 1} ELSE there
    /\ inbox' = [inbox EXCEPT ![path] = Append(@, sent + 1)]
    /\ UNCHANGED <<live, alive, path, got, empty, lost, closed>>

Exit ==
    /\ Exits
    /\ live
    /\ live' = FALSE
    /\ there' = {}
    /\ UNCHANGED <<sent, alive, path, inbox, got, empty, lost, closed>>

\* Binding a path that is bound takes it over.
Start(c) ==
    /\ c \notin alive
    /\ c = 1 \/ Second
    /\ c = 1 => alive = {}
    /\ alive' = alive \cup {c}
    /\ path' = c
    /\ UNCHANGED <<sent, live, there, inbox, got, empty, lost, closed>>

Gone(c) ==
    /\ alive' = alive \ {c}
    /\ path' = IF path = c THEN 0 ELSE path
    /\ inbox' = [inbox EXCEPT ![c] = <<>>]

Get(c) ==
    /\ c \in alive
    /\ inbox[c] # <<>>
    /\ LET n == Head(inbox[c])
       IN /\ n \notin Bad
          /\ inbox' = [inbox EXCEPT ![c] = Tail(@)]
          /\ IF n \in Large \ there
             THEN empty' = empty \cup {n} /\ UNCHANGED got
             ELSE got' = got \cup {n} /\ UNCHANGED empty
          /\ there' = there \ {n}
    /\ UNCHANGED <<sent, live, alive, path, lost, closed>>

\* The error ends the consumer's task.
Fail(c) ==
    /\ c \in alive
    /\ inbox[c] # <<>>
    /\ Head(inbox[c]) \in Bad
    /\ Gone(c)
    /\ lost' = lost \cup Items(Tail(inbox[c]))
    /\ closed' = TRUE
    /\ UNCHANGED <<sent, live, there, got, empty>>

Kill(c) ==
    /\ Kills
    /\ c \in alive
    /\ Gone(c)
    /\ lost' = lost \cup Items(inbox[c])
    /\ UNCHANGED <<sent, live, there, got, empty, closed>>

Next ==
    \/ Put
    \/ Exit
    \/ \E c \in Consumers : Start(c)
    \/ \E c \in Consumers : Get(c)
    \/ \E c \in Consumers : Fail(c)
    \/ \E c \in Consumers : Kill(c)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
TypeOK ==
    /\ sent \in 0 .. MaxSent
    /\ {live, closed} \subseteq BOOLEAN
    /\ there \subseteq Large
    /\ alive \subseteq Consumers
    /\ path \in {0} \cup alive
    /\ \A c \in Consumers : Items(inbox[c]) \subseteq 1 .. sent
    /\ got \cup empty \cup lost \subseteq 1 .. sent

\* payload-lost: a message is given with its payload.
PayloadThere == empty = {}

\* path-stolen: one consumer serves the path.
OneServes == Cardinality(alive) <= 1

\* one-bad-message: a message that cannot be decoded costs that message alone.
StaysOpen == ~closed

\* sent-is-forgotten: what was put is given, or can still be.
NothingLost == lost = {}
=============================================================================
