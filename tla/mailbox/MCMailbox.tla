----------------------------- MODULE MCMailbox -----------------------------
(* What is claimed of Mailbox. The configurations beside this file choose the bounds. *)
EXTENDS Mailbox

Items == 1 .. MaxItems

TypeOK ==
    /\ clients \in [1 .. Clients -> {"live", "dead", "gone"}]
    /\ owner \in [All -> 0 .. Clients]
    /\ stage \in [All -> {"open", "over", "lost", "late", "expired", "closed"}]
    /\ made \in [All -> 0 .. MaxItems]
    /\ fin \in [All -> BOOLEAN]
    /\ dropped \in [All -> 0 .. MaxItems]
    /\ closed \in BOOLEAN
    /\ \A r \in All :
        /\ \A i \in DOMAIN cached[r] : cached[r][i] \in 1 .. made[r]
        /\ \A i \in DOMAIN flights[r] : flights[r][i] # <<>>
        /\ \A i \in DOMAIN sent[r] : sent[r][i].item \in Items /\ sent[r][i].to \in 1 .. Clients

\* The results of a request are sent in their order, each once.
InOrderOnce == \A r \in All : \A i \in DOMAIN sent[r] : sent[r][i].item = i

\* They all go to one client: whose handle came first.
OneClient == \A r \in All : \A i \in DOMAIN sent[r] : sent[r][i].to = sent[r][1].to

RECURSIVE Flying(_)
Flying(batches) == IF batches = <<>> THEN 0 ELSE Len(Head(batches)) + Flying(Tail(batches))

\* Each result was sent, is being sent, is kept, or somebody was told that it is lost.
NothingVanishes == \A r \in All :
    Len(sent[r]) + Flying(flights[r]) + Len(cached[r]) + dropped[r] = made[r]

\* What waits for a handle, or behind a batch, is bounded.
Bounded == Kept(cached, Requests) <= Capacity

\* A request whose last result was sent is over, and nothing is left of it.
FinishedIsOver == \A r \in All :
    fin[r] /\ Len(sent[r]) = made[r] => stage[r] = "over" /\ cached[r] = <<>> /\ flights[r] = <<>>

-----------------------------------------------------------------------------
\* Nothing is counted as sent to a client of which ZeroMQ knows that it is gone.
NothingToTheGone == [][\A r \in All : sent'[r] # sent[r] => clients[owner[r]] # "gone"]_vars

\* A request that has ended stays ended.
EndedStays == [][\A r \in All : ~Open(r) => stage'[r] = stage[r] /\ owner'[r] = owner[r]]_vars

-----------------------------------------------------------------------------
(* Fairness: sends come to an end, limits are looked at. *)

Flies(r) == WF_vars(Sent(r, 1) \/ Lost(r) \/ Late(r))
FairSpec == Spec /\ \A r \in All : Flies(r) /\ WF_vars(Expire(r))

Behind(r) == Open(r) /\ owner[r] # 0 /\ cached[r] # <<>>
WaitingIsSent == \A r \in All : Behind(r) ~> ~Behind(r)

Unasked(r) == Open(r) /\ owner[r] = 0 /\ cached[r] # <<>>
UnaskedEnds == \A r \in All : Unasked(r) ~> ~Unasked(r)
=============================================================================
