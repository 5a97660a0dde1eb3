----------------------------- MODULE MCTransfer -----------------------------
(* What is claimed of Transfer. The configurations beside this file choose the bounds. *)
EXTENDS Transfer

TypeOK ==
    /\ Len(owner) = Len(state) /\ Len(kind) = Len(state) /\ Len(reports) = Len(state) /\ Len(without) = Len(state)
    /\ Len(busy) = Len(state)
    /\ \A n \in Numbers :
           /\ owner[n] \in Clients
           /\ kind[n] \in 1 .. Kinds
           /\ state[n] \in {"queued", "started", "ok", "failed", "cancelled"}
           /\ reports[n] \subseteq [rank : Ranks, ok : BOOLEAN]
           /\ without[n] \subseteq Ranks
           /\ busy[n] \subseteq Ranks
    /\ \A c \in Clients : \A i \in DOMAIN results[c] : results[c][i] \in Numbers
    /\ hand \in [Clients -> {0} \cup Numbers]
    /\ handled \subseteq Numbers
    /\ held \in [Clients -> SUBSET Numbers]
    /\ gone \subseteq Clients
    /\ status \in [Ranks -> {"away", "live", "dead", "lost"}]
    /\ vote \in [Ranks -> {"none", "yes", "no"}]
    /\ phase \in {"run", "stop", "still"}
    /\ pauses \in 0 .. MaxPauses
    /\ open \in [Ranks -> BOOLEAN]
    /\ spare \in [Ranks -> BOOLEAN]
    /\ jobs \in [Ranks -> SUBSET Numbers]
    /\ running \in [Ranks -> SUBSET Numbers]

\* How often the result of a task is somewhere.
Places(n) ==
    LET c == owner[n]
    IN Cardinality({i \in DOMAIN results[c] : results[c][i] = n})
       + (IF hand[c] = n THEN 1 ELSE 0) + (IF n \in handled THEN 1 ELSE 0)

OneResult == \A n \in Numbers :
    IF ~Ended(n) THEN Places(n) = 0
    ELSE Places(n) = 1 \/ (Places(n) = 0 /\ owner[n] \in gone)

OncePerRank == \A n \in Numbers :
    /\ Cardinality(reports[n]) = Cardinality(Reported(n))
    /\ Reported(n) \cap without[n] = {}

CancelledUntouched == \A n \in Numbers : state[n] = "cancelled" =>
    /\ reports[n] = {}
    /\ \A r \in Ranks : n \notin jobs[r]

OkIsWhole == \A n \in Numbers : state[n] = "ok" => reports[n] = [rank : Ranks, ok : {TRUE}]

AllOrNone == Inside => \A n \in Started : \A r \in Ranks : n \in jobs[r] \/ r \in Reported(n) \cup without[n]

StillIsQuiet == phase = "still" =>
    /\ \A r \in Ranks : jobs[r] = {} /\ running[r] = {} /\ ~spare[r]
    /\ Started = {}
    /\ \A n \in Numbers : busy[n] = {}

\* The host knows of every rank that may write.
TargetsHeld == \A r \in Ranks : \A n \in running[r] : r \in busy[n]

\* What its client has been given back, nobody writes to: its result was taken, and said that no rank is at it, or the
\* client was told so later.
FreeIsStill == \A n \in Numbers :
    (hand[owner[n]] = n \/ n \in handled) /\ n \notin held[owner[n]] /\ owner[n] \notin gone
        => \A r \in Ranks : n \notin running[r]

Bounded == Cardinality(Queued) <= Capacity

-----------------------------------------------------------------------------
StartsInOrder ==
    [][\A n \in Queued : state'[n] = "started" => \A m \in Queued : m < n => state'[m] = "started"]_vars

KindInOrder ==
    [][\A n \in Numbers : \A a \in reports'[n] \ reports[n] : a.ok => Older(a.rank, n) = {}]_vars

EndStays ==
    [][\A n \in Numbers : Ended(n) =>
           state'[n] = state[n] /\ reports'[n] = reports[n] /\ without'[n] = without[n]]_vars

-----------------------------------------------------------------------------
(* Fairness: ranks do what they can, handlers end, the host notices, and pauses end. Nothing is assumed of clients. *)
RankGoesOn(r) ==
    /\ WF_vars(Fence(r)) /\ WF_vars(Admit(r)) /\ WF_vars(BackOff(r)) /\ WF_vars(Refuse(r)) /\ WF_vars(Return(r))
    /\ WF_vars(Order(r)) /\ SF_vars(Accept(r)) /\ SF_vars(Release(r))
JobEnds(r, n) ==
    /\ WF_vars(Finish(r, n)) /\ WF_vars(ReportOk(r, n) \/ ReportFailed(r, n))
    /\ WF_vars(Settle(r, n)) /\ WF_vars(JobDone(r, n))

FairSpec ==
    /\ Spec
    /\ WF_vars(Start) /\ WF_vars(Still) /\ WF_vars(Resume)
    /\ \A r \in Ranks : RankGoesOn(r) /\ \A n \in 1 .. MaxIssued : JobEnds(r, n)

Away(n) == state[n] = "queued" /\ \E r \in Ranks : status[r] = "away"
Over(n) == n \in Numbers /\ (Ended(n) \/ Away(n))
TasksEnd == \A n \in 1 .. MaxIssued : (n \in Numbers /\ ~Ended(n)) ~> Over(n)

TasksSettle == \A n \in 1 .. MaxIssued : (n \in Numbers /\ busy[n] # {}) ~> (n \in Numbers /\ busy[n] = {})

PauseComes == phase = "stop" ~> phase # "stop"
=============================================================================
