------------------------------ MODULE Mailbox ------------------------------
(***************************************************************************)
(* The results of requests, on their way to the clients that ask for them. *)
(* Results may come before the client's handle or after it, from one       *)
(* thread, while another thread receives handles. One critical section of  *)
(* the server is one action; sending is outside of it. The contract is     *)
(* spec/mailbox.toml: same names, same shapes.                             *)
(*                                                                         *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents, and the property that   *)
(* the contract names for it fails: MCMailbox_bug_<guard>.cfg.             *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    Requests,       \* number of requests; they are 1 .. Requests
    Clients,        \* number of clients; they are 1 .. Clients
    MaxItems,       \* bound: results of one request
    Capacity,       \* most results that are kept
    Mortal,         \* clients that may die
    Slow,           \* a client may take nothing for longer than the limit
    Idle,           \* a request may be idle for longer than its limit
    Closes          \* the server may be closed

CONSTANTS
    OneSender, LooksAgain, FirstOwner, Mandatory, Bounds, Expires, EndedRefused, FlushEnds, TellsUnsent

All == 1 .. Requests
Guards == <<OneSender, LooksAgain, FirstOwner, Mandatory, Bounds, Expires, EndedRefused, FlushEnds,
            TellsUnsent>>

ASSUME /\ {Requests, Clients, MaxItems, Capacity} \subseteq Nat
       /\ Mortal \subseteq 1 .. Clients
       /\ {Slow, Idle, Closes} \subseteq BOOLEAN
       /\ \A i \in DOMAIN Guards : Guards[i] \in BOOLEAN

VARIABLES
    clients,        \* "live", "dead" (ZeroMQ has not noticed), "gone"
    owner,          \* the client that each request is for; 0: no handle has come
    stage,          \* of each request: "open", or how it ended
    made,           \* results of each request so far, which are numbered from 1
    fin,            \* the last of them was the last one
    cached,         \* results that wait
    flights,        \* batches that are being sent
    sent,           \* history: results that were sent, and to whom
    dropped,        \* results of which was told that they are lost
    closed

vars == <<clients, owner, stage, made, fin, cached, flights, sent, dropped, closed>>

Init ==
    /\ clients = [c \in 1 .. Clients |-> "live"]
    /\ owner = [r \in All |-> 0]
    /\ stage = [r \in All |-> "open"]
    /\ made = [r \in All |-> 0]
    /\ fin = [r \in All |-> FALSE]
    /\ cached = [r \in All |-> <<>>]
    /\ flights = [r \in All |-> <<>>]
    /\ sent = [r \in All |-> <<>>]
    /\ dropped = [r \in All |-> 0]
    /\ closed = FALSE

Open(r) == stage[r] = "open"

RECURSIVE Kept(_, _)
Kept(lists, n) == IF n = 0 THEN 0 ELSE Len(lists[n]) + Kept(lists, n - 1)

\* What is to be sent now: the batch, and what remains in the cache.
Begin(r, items, flying) ==
    IF owner'[r] # 0 /\ items # <<>> /\ (flying = <<>> \/ ~OneSender)
    THEN /\ flights' = [flights EXCEPT ![r] = Append(flying, items)]
         /\ cached' = [cached EXCEPT ![r] = <<>>]
    ELSE /\ flights' = [flights EXCEPT ![r] = flying]
         /\ cached' = [cached EXCEPT ![r] = items]

-----------------------------------------------------------------------------
(* The clients. *)

Die(c) ==
    /\ c \in Mortal
    /\ clients[c] = "live"
    /\ clients' = [clients EXCEPT ![c] = "dead"]
    /\ UNCHANGED <<owner, stage, made, fin, cached, flights, sent, dropped, closed>>

Notice(c) ==
    /\ clients[c] = "dead"
    /\ clients' = [clients EXCEPT ![c] = "gone"]
    /\ UNCHANGED <<owner, stage, made, fin, cached, flights, sent, dropped, closed>>

-----------------------------------------------------------------------------
(* The server. *)

\* The handle of a client has come, which may be dead by now. What has waited for it is sent.
Handle(r, c) ==
    /\ ~closed
    /\ \/ Open(r) /\ (owner[r] = 0 \/ (~FirstOwner /\ owner[r] # c))
       \/ stage[r] = "over" /\ ~EndedRefused
    /\ owner' = [owner EXCEPT ![r] = c]
    /\ stage' = [stage EXCEPT ![r] = "open"]
    /\ Begin(r, cached[r], flights[r])
    /\ UNCHANGED <<clients, made, fin, sent, dropped, closed>>

\* The next result; the cache has room, unless it can be sent at once.
Put(r, last) ==
    /\ ~closed
    /\ Open(r)
    /\ ~fin[r]
    /\ made[r] < MaxItems
    /\ \/ ~Bounds
       \/ owner[r] # 0 /\ flights[r] = <<>>
       \/ Kept(cached, Requests) < Capacity
    /\ made' = [made EXCEPT ![r] = @ + 1]
    /\ fin' = [fin EXCEPT ![r] = (last = 1)]
    /\ UNCHANGED owner
    /\ Begin(r, Append(cached[r], made[r] + 1), flights[r])
    /\ UNCHANGED <<clients, stage, sent, dropped, closed>>

RECURSIVE Labelled(_, _)
Labelled(items, to) ==
    IF items = <<>> THEN <<>> ELSE <<[item |-> Head(items), to |-> to]>> \o Labelled(Tail(items), to)

Without(batches, i) == SubSeq(batches, 1, i - 1) \o SubSeq(batches, i + 1, Len(batches))

\* The socket has taken a batch. With the last result the request is over; else what came meanwhile is next.
Sent(r, i) ==
    /\ i \in DOMAIN flights[r]
    /\ LET batch == flights[r][i]
           rest == Without(flights[r], i)
           ends == fin[r] /\ batch[Len(batch)] = made[r] /\ (FlushEnds \/ Len(batch) = 1)
       IN /\ Mandatory => clients[owner[r]] # "gone"
          /\ sent' = [sent EXCEPT ![r] = @ \o Labelled(batch, owner[r])]
          /\ stage' = [stage EXCEPT ![r] = IF ends THEN "over" ELSE IF closed THEN "closed" ELSE "open"]
          /\ UNCHANGED owner
          /\ IF LooksAgain
             THEN Begin(r, cached[r], rest)
             ELSE flights' = [flights EXCEPT ![r] = rest] /\ UNCHANGED cached
    /\ UNCHANGED <<clients, made, fin, dropped, closed>>

\* Nothing more is sent for the request, and who has made its results is told.
End(r, how, unsent) ==
    /\ stage' = [stage EXCEPT ![r] = how]
    /\ dropped' = [dropped EXCEPT ![r] = @ + (IF TellsUnsent THEN unsent ELSE 0) + Len(cached[r])]
    /\ flights' = [flights EXCEPT ![r] = <<>>]
    /\ cached' = [cached EXCEPT ![r] = <<>>]
    /\ UNCHANGED <<clients, owner, made, fin, sent, closed>>

\* The socket knows no such client any more.
Lost(r) ==
    /\ Len(flights[r]) = 1
    /\ clients[owner[r]] = "gone"
    /\ End(r, "lost", Len(flights[r][1]))

\* The client has taken nothing for too long, or the server was closed.
Late(r) ==
    /\ Len(flights[r]) = 1
    /\ Slow \/ closed
    /\ End(r, "late", Len(flights[r][1]))

\* No handle has come for its results, or no result for its handle.
Expire(r) ==
    /\ Expires
    /\ Idle
    /\ ~closed
    /\ Open(r)
    /\ flights[r] = <<>>
    /\ owner[r] # 0 \/ cached[r] # <<>>
    /\ End(r, "expired", 0)

\* Batches that are being sent may still arrive.
Close ==
    /\ Closes
    /\ ~closed
    /\ closed' = TRUE
    /\ stage' = [r \in All |-> IF Open(r) /\ flights[r] = <<>> THEN "closed" ELSE stage[r]]
    /\ dropped' = [r \in All |-> dropped[r] + Len(cached[r])]
    /\ cached' = [r \in All |-> <<>>]
    /\ UNCHANGED <<clients, owner, made, fin, flights, sent>>

-----------------------------------------------------------------------------
Next ==
    \/ \E c \in 1 .. Clients : Die(c)
    \/ \E c \in 1 .. Clients : Notice(c)
    \/ \E r \in All, c \in 1 .. Clients : Handle(r, c)
    \/ \E r \in All, last \in 0 .. 1 : Put(r, last)
    \/ \E r \in All, i \in 1 .. MaxItems : Sent(r, i)
    \/ \E r \in All : Lost(r)
    \/ \E r \in All : Late(r)
    \/ \E r \in All : Expire(r)
    \/ Close

Spec == Init /\ [][Next]_vars
=============================================================================
