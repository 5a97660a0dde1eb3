-------------------------------- MODULE Fmq --------------------------------
(***************************************************************************)
(* The FMQ queue: producers put numbered messages, one consumer takes      *)
(* them, is done with them, and acknowledges. Large messages have their    *)
(* payload in shared memory; only their number travels.                    *)
(*                                                                         *)
(* A connection is used once. It begins with everything that its producer  *)
(* has not been told to be done, in order. flow[p][c] is what the consumer *)
(* has not yet read of connection c of producer p, wherever it is: what a  *)
(* broken connection loses is a suffix of it. The contract is              *)
(* spec/fmq.toml: same names, same shapes.                                 *)
(*                                                                         *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents.                         *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    P,              \* number of producers
    MaxSent,        \* bound: messages of each producer
    Window,         \* most messages of a producer that are not acknowledged
    Large,          \* numbers of the messages with a payload in shared memory
    MaxStarts,      \* bound: consumers, one after the other
    MaxCuts,        \* bound: connections that break although both ends live
    Mortal,         \* producers that may end, orderly or not
    Keep            \* TRUE: what is not acknowledged is sent again; FALSE: it counts as dropped

CONSTANTS Dedups, KeepsUntilAcked, AcksDone, Resends, FreshLink, Outlives, DrainsFirst, Reclaims

Producers == 0 .. P - 1
Numbers == 1 .. MaxSent
Guards == <<Dedups, KeepsUntilAcked, AcksDone, Resends, FreshLink, Outlives, DrainsFirst, Reclaims>>

ASSUME /\ {P, Window, MaxStarts} \subseteq Nat \ {0}
       /\ {MaxSent, MaxCuts} \subseteq Nat
       /\ Large \subseteq Nat \ {0}
       /\ Mortal \subseteq Producers
       /\ Keep \in BOOLEAN
       /\ \A i \in DOMAIN Guards : Guards[i] \in BOOLEAN

VARIABLES
    sent,           \* messages that each producer has put
    base,           \* up to here it was told that they are done, or dropped them
    life,           \* of each producer: "live", "gone"
    linked,         \* it has a connection
    flow,           \* of each connection: messages that the consumer has not read
    pipe,           \* what is left of a broken connection at its producer: nothing, if a connection is used once
    ack,            \* acknowledgements under way to the producer
    consumer,       \* which consumer lives; 0 is none
    starts,         \* consumers so far
    cuts,           \* broken connections so far
    last,           \* what the consumer has read of each producer in order; -1: nothing yet
    done,           \* up to here it is done with them
    told,           \* up to here it has acknowledged
    peer,           \* the connection that it answers to
    there,          \* payloads in shared memory
    given,          \* what this consumer was given of each producer
    finished,       \* history: messages that some consumer was done with
    skipped         \* history: messages that were passed over because their payload was gone

vars == <<sent, base, life, linked, flow, pipe, ack, consumer, starts, cuts, last, done, told, peer, there, given,
          finished, skipped>>
knowledge == <<last, done, told, peer, given>>
history == <<finished, skipped>>
counts == <<consumer, starts, cuts>>

Init ==
    /\ sent = [p \in Producers |-> 0]
    /\ base = [p \in Producers |-> 0]
    /\ life = [p \in Producers |-> "live"]
    /\ linked = [p \in Producers |-> FALSE]
    /\ flow = [p \in Producers |-> <<>>]
    /\ pipe = [p \in Producers |-> <<>>]
    /\ ack = [p \in Producers |-> <<>>]
    /\ consumer = 0
    /\ starts = 0
    /\ cuts = 0
    /\ last = [p \in Producers |-> -1]
    /\ done = [p \in Producers |-> 0]
    /\ told = [p \in Producers |-> 0]
    /\ peer = [p \in Producers |-> 0]
    /\ there = [p \in Producers |-> {}]
    /\ given = [p \in Producers |-> <<>>]
    /\ finished = [p \in Producers |-> {}]
    /\ skipped = [p \in Producers |-> {}]

Max(a, b) == IF a > b THEN a ELSE b
Min(a, b) == IF a < b THEN a ELSE b
Items(s) == {s[i] : i \in DOMAIN s}
Current(p) == Len(flow[p])
Upto(s, k) == SubSeq(s, 1, k)
After(s, k) == SubSeq(s, k + 1, Len(s))

-----------------------------------------------------------------------------
(* A producer. *)

Room(p) == life[p] = "live" /\ sent[p] < MaxSent /\ sent[p] - base[p] < Window

\* The payload is in shared memory before its message is put.
Write(p) ==
    /\ Room(p)
    /\ sent[p] + 1 \in Large \ there[p]
    /\ there' = [there EXCEPT ![p] = @ \cup {sent[p] + 1}]
    /\ UNCHANGED <<sent, base, life, linked, flow, pipe, ack, counts, knowledge, history>>

Put(p) ==
    /\ Room(p)
    /\ sent[p] + 1 \in Large => sent[p] + 1 \in there[p]
    /\ sent' = [sent EXCEPT ![p] = @ + 1]
    /\ base' = IF linked[p] /\ ~KeepsUntilAcked THEN [base EXCEPT ![p] = sent[p] + 1] ELSE base
    /\ flow' = IF linked[p]
               THEN [flow EXCEPT ![p][Current(p)] = Append(@, [n |-> sent[p] + 1, base |-> base[p]])]
               ELSE flow
    /\ UNCHANGED <<life, linked, pipe, ack, counts, knowledge, there, history>>

Again(p) == [i \in 1 .. sent[p] - base[p] |-> [n |-> base[p] + i, base |-> base[p]]]

Connect(p) ==
    /\ life[p] = "live"
    /\ ~linked[p]
    /\ consumer > 0
    /\ linked' = [linked EXCEPT ![p] = TRUE]
    /\ flow' = [flow EXCEPT ![p] = Append(@, pipe[p] \o (IF Keep /\ Resends THEN Again(p) ELSE <<>>))]
    /\ pipe' = [pipe EXCEPT ![p] = <<>>]
    /\ base' = IF Keep THEN base ELSE [base EXCEPT ![p] = sent[p]]
    /\ ack' = [ack EXCEPT ![p] = <<>>]
    /\ UNCHANGED <<sent, life, counts, knowledge, there, history>>

\* The connection breaks, which its producer notices: of what the consumer has not read, it still gets the first k.
Cut(p, k) ==
    /\ linked[p]
    /\ cuts < MaxCuts
    /\ k \in 0 .. Len(flow[p][Current(p)])
    /\ cuts' = cuts + 1
    /\ linked' = [linked EXCEPT ![p] = FALSE]
    /\ flow' = [flow EXCEPT ![p][Current(p)] = Upto(@, k)]
    /\ pipe' = [pipe EXCEPT ![p] = IF FreshLink THEN <<>> ELSE After(flow[p][Current(p)], k)]
    /\ UNCHANGED <<sent, base, life, ack, consumer, starts, knowledge, there, history>>

\* The producer's process ends, orderly or not. What is under way may still arrive, and its payloads stay.
End(p, k) ==
    /\ p \in Mortal
    /\ life[p] = "live"
    /\ k \in IF linked[p] THEN 0 .. Len(flow[p][Current(p)]) ELSE {0}
    /\ life' = [life EXCEPT ![p] = "gone"]
    /\ linked' = [linked EXCEPT ![p] = FALSE]
    /\ flow' = IF linked[p] THEN [flow EXCEPT ![p][Current(p)] = Upto(@, k)] ELSE flow
    /\ pipe' = [pipe EXCEPT ![p] = <<>>]
    /\ ack' = [ack EXCEPT ![p] = <<>>]
    /\ there' = IF Outlives THEN there ELSE [there EXCEPT ![p] = {}]
    /\ UNCHANGED <<sent, base, counts, knowledge, history>>

\* Also what a broken connection has brought, until there is another one.
HearAck(p) ==
    /\ life[p] = "live"
    /\ ack[p] # <<>>
    /\ base' = [base EXCEPT ![p] = Max(@, Head(ack[p]))]
    /\ ack' = [ack EXCEPT ![p] = Tail(@)]
    /\ UNCHANGED <<sent, life, linked, flow, pipe, counts, knowledge, there, history>>

-----------------------------------------------------------------------------
(* The consumer. *)

StartConsumer ==
    /\ consumer = 0
    /\ starts < MaxStarts
    /\ consumer' = starts + 1
    /\ starts' = starts + 1
    /\ last' = [p \in Producers |-> -1]
    /\ done' = [p \in Producers |-> 0]
    /\ told' = [p \in Producers |-> 0]
    /\ peer' = [p \in Producers |-> 0]
    /\ given' = [p \in Producers |-> <<>>]
    /\ UNCHANGED <<sent, base, life, linked, flow, pipe, ack, cuts, there, history>>

\* Another one can start.
EndConsumer ==
    /\ consumer > 0
    /\ starts < MaxStarts
    /\ consumer' = 0
    /\ linked' = [p \in Producers |-> FALSE]
    /\ pipe' = [p \in Producers |-> IF linked[p] /\ ~FreshLink THEN flow[p][Current(p)] ELSE <<>>]
    /\ flow' = [p \in Producers |-> <<>>]
    /\ UNCHANGED <<sent, base, life, ack, starts, cuts, knowledge, there, history>>

Readable(p, c) == consumer > 0 /\ c \in DOMAIN flow[p] /\ flow[p][c] # <<>>
First(p, c) == Head(flow[p][c])

\* Up to here nothing is missing, when a message with that base arrives.
Before(p, b) == Max(last[p], b)
Next1(p, f) == f.n = Before(p, f.base) + 1
Present(p, f) == f.n \in Large => f.n \in there[p]

\* The message is read: number n is the last one in order.
Read(p, c) ==
    LET f == First(p, c)
    IN /\ flow' = [flow EXCEPT ![p][c] = Tail(@)]
       /\ last' = [last EXCEPT ![p] = f.n]
       /\ done' = IF last[p] = -1 THEN [done EXCEPT ![p] = f.base] ELSE done
       /\ told' = IF last[p] = -1 THEN [told EXCEPT ![p] = f.base] ELSE told
       /\ peer' = [peer EXCEPT ![p] = Max(@, c)]
       \* What an unknown producer has dropped before does not come any more.
       /\ there' = IF last[p] = -1 THEN [there EXCEPT ![p] = @ \ (1 .. f.base)] ELSE there
       /\ UNCHANGED <<sent, base, life, linked, pipe, ack, counts, finished>>

Take(p, c) ==
    /\ Readable(p, c)
    /\ Dedups => Next1(p, First(p, c))
    /\ Present(p, First(p, c))
    /\ Read(p, c)
    /\ given' = [given EXCEPT ![p] = Append(@, First(p, c).n)]
    /\ UNCHANGED skipped

\* Its payload is gone, so some consumer was done with it.
Skip(p, c) ==
    /\ Readable(p, c)
    /\ Next1(p, First(p, c))
    /\ ~Present(p, First(p, c))
    /\ Read(p, c)
    /\ skipped' = [skipped EXCEPT ![p] = @ \cup {First(p, c).n}]
    /\ UNCHANGED given

\* Its producer may not have heard that it is done: it is told again.
Drop(p, c) ==
    /\ Readable(p, c)
    /\ Dedups
    /\ last[p] >= 0
    /\ First(p, c).n <= Before(p, First(p, c).base)
    /\ flow' = [flow EXCEPT ![p][c] = Tail(@)]
    /\ told' = [told EXCEPT ![p] = Min(@, First(p, c).n - 1)]
    /\ peer' = [peer EXCEPT ![p] = Max(@, c)]
    /\ UNCHANGED <<sent, base, life, linked, pipe, ack, counts, last, done, there, given, history>>

\* The consumer has handled what it was given: first the payloads go, then it is acknowledged.
Finish(p) ==
    /\ consumer > 0
    /\ last[p] > done[p]
    /\ done' = [done EXCEPT ![p] = last[p]]
    /\ there' = [there EXCEPT ![p] = @ \ (1 .. last[p])]
    /\ finished' = [finished EXCEPT ![p] = @ \cup Items(given[p])]
    /\ UNCHANGED <<sent, base, life, linked, flow, pipe, ack, counts, last, told, peer, given, skipped>>

Acknowledge(p) ==
    /\ consumer > 0
    /\ LET upto == IF AcksDone THEN done[p] ELSE last[p]
       IN /\ told[p] < upto
          /\ told' = [told EXCEPT ![p] = upto]
          /\ ack' = IF linked[p] /\ peer[p] = Current(p) THEN [ack EXCEPT ![p] = Append(@, upto)] ELSE ack
    /\ UNCHANGED <<sent, base, life, linked, flow, pipe, counts, last, done, peer, there, given, history>>

\* The producer is gone and everything that it had sent was read: what is left of it nobody will ever ask for.
Reclaim(p) ==
    /\ Reclaims
    /\ consumer > 0
    /\ life[p] = "gone"
    /\ last[p] >= 0
    /\ done[p] = last[p]
    /\ DrainsFirst => \A c \in DOMAIN flow[p] : flow[p][c] = <<>>
    /\ there' = [there EXCEPT ![p] = {}]
    /\ last' = [last EXCEPT ![p] = -1]
    /\ done' = [done EXCEPT ![p] = 0]
    /\ told' = [told EXCEPT ![p] = 0]
    /\ peer' = [peer EXCEPT ![p] = 0]
    /\ UNCHANGED <<sent, base, life, linked, flow, pipe, ack, counts, given, history>>

\* While nobody serves the queue, nobody can ask for what is left of producers that are gone.
Sweep ==
    /\ Reclaims
    /\ consumer = 0
    /\ \E p \in Producers : life[p] = "gone" /\ there[p] # {}
    /\ there' = [p \in Producers |-> IF life[p] = "gone" THEN {} ELSE there[p]]
    /\ UNCHANGED <<sent, base, life, linked, flow, pipe, ack, counts, knowledge, history>>

-----------------------------------------------------------------------------
\* More than MaxSent only without FreshLink.
MostUnread == MaxSent * (MaxCuts + MaxStarts + 1)

Next ==
    \/ \E p \in Producers : Write(p)
    \/ \E p \in Producers : Put(p)
    \/ \E p \in Producers : Connect(p)
    \/ \E p \in Producers, k \in 0 .. MostUnread : Cut(p, k)
    \/ \E p \in Producers, k \in 0 .. MostUnread : End(p, k)
    \/ \E p \in Producers : HearAck(p)
    \/ StartConsumer
    \/ EndConsumer
    \/ \E p \in Producers, c \in 1 .. MaxCuts + 1 : Take(p, c)
    \/ \E p \in Producers, c \in 1 .. MaxCuts + 1 : Skip(p, c)
    \/ \E p \in Producers, c \in 1 .. MaxCuts + 1 : Drop(p, c)
    \/ \E p \in Producers : Finish(p)
    \/ \E p \in Producers : Acknowledge(p)
    \/ \E p \in Producers : Reclaim(p)
    \/ Sweep

Spec == Init /\ [][Next]_vars
=============================================================================
