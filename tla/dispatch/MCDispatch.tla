----------------------------- MODULE MCDispatch -----------------------------
(* What is claimed of Dispatch. The configurations beside this file choose the bounds. *)
EXTENDS Dispatch

Increasing(s) == \A i \in 1 .. Len(s) - 1 : s[i] < s[i + 1]

TypeOK ==
    /\ calls \in 0 .. MaxCalls
    /\ \A i \in DOMAIN waiting : waiting[i] \in [producer : Producers, id : 1 .. calls]
    /\ \A i \in DOMAIN log : log[i] \in [id : 1 .. calls, epoch : 0 .. epoch, taken : SUBSET Ranks \ {Ranks}]
    /\ epoch \in 0 .. MaxEpoch
    /\ rankSeen \in [Ranks -> 0 .. epoch]
    /\ prodSeen \in [Producers -> 0 .. epoch]
    /\ status \in [Ranks -> {"away", "live", "dead", "lost"}]
    /\ producer \in [Producers -> {"up", "dead", "down"}]
    /\ exist \in BOOLEAN
    /\ DOMAIN got = Ranks
    /\ \A r \in Ranks : Range(got[r]) \subseteq 1 .. calls

\* Each rank takes each batch at most once, and in the order in which they were put.
ExactlyOnceInOrder == \A r \in Ranks : Increasing(got[r])

Bounded == Len(log) <= Depth

\* No lost wake-up, and no rank is told of work that is not there.
ExistCoherent == exist <=> log # <<>>

\* What one rank has got, every other has got or still can get. Only a rank that crashes may skip.
InStep == \A q \in Ranks, r \in Ranks \ Mortal : Range(got[q]) \subseteq Range(got[r]) \cup Ids(log)

NoGhostCall ==
    \A p \in Producers : /\ Cardinality(CallsOf(p)) <= PerProducer
                         /\ producer[p] = "down" => CallsOf(p) = {}

\* First in, first out.
WaitingInOrder ==
    /\ \A i \in 1 .. Len(waiting) - 1 : waiting[i].id < waiting[i + 1].id
    /\ \A i \in DOMAIN log, j \in DOMAIN waiting : log[i].id < waiting[j].id

-----------------------------------------------------------------------------
Dropped == {i \in DOMAIN log : log[i].id \notin {log'[j].id : j \in DOMAIN log'}}
DropsOnlySeen(seen) == \A i \in Dropped : log[i].epoch <= seen /\ log[i].taken = {}

\* A clear takes away only what its handle can have meant, and nothing that a rank has started.
ClearsOnlySeen ==
    [][ /\ \A r \in Ranks : ClearRank(r) => DropsOnlySeen(rankSeen[r])
        /\ \A p \in Producers : ClearProducer(p) => DropsOnlySeen(prodSeen[p]) ]_vars

OnlyMembersRead == [][\A r \in Ranks : got'[r] # got[r] => status[r] \in {"live", "dead"}]_vars

JoinSkipsStarted ==
    [][\A r \in Ranks : status[r] = "lost" /\ status'[r] = "live" =>
          \A i \in DOMAIN log' : log'[i].taken = {} \/ r \in log'[i].taken]_vars

-----------------------------------------------------------------------------
(***************************************************************************)
(* Fairness. The host looks at its waiting calls after every change, under *)
(* the lock that the change needed, so it cannot pass over a call that can *)
(* be answered again and again: strong. It notices a closed connection.    *)
(* A live rank goes on reading, and one that crashes and comes back again  *)
(* and again does read now and then: strong. Nobody has to call put, to    *)
(* join, to clear, to time out or to crash.                                *)
(***************************************************************************)
Fairness ==
    /\ SF_vars(\E p \in Producers : PutTasks(p))
    /\ SF_vars(\E p \in Producers : PutLost(p))
    /\ \A r \in Ranks : WF_vars(Fence(r)) /\ SF_vars(status[r] = "live" /\ GetTasks(r))
    /\ \A p \in Producers : WF_vars(FenceProducer(p))

FairSpec == Spec /\ Fairness

\* An entry that a live rank has not taken is taken by it or dropped, or the rank does not stay.
Owed(r, id) == status[r] = "live" /\ \E i \in DOMAIN log : log[i].id = id /\ r \notin log[i].taken
Delivered == \A r \in Ranks, id \in 1 .. MaxCalls : Owed(r, id) ~> ~Owed(r, id)

\* A put returns without its time limit, unless a rank has never come or has left.
PutReturns == \A id \in 1 .. MaxCalls : id \in Ids(waiting) ~> (id \notin Ids(waiting) \/ "away" \in Range(status))
=============================================================================
