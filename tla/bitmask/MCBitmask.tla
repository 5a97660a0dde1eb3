----------------------------- MODULE MCBitmask -----------------------------
(* What is claimed of Bitmask: as of Dispatch, said of the queue and its masks. *)
EXTENDS Bitmask

Range(s) == {s[i] : i \in DOMAIN s}
Increasing(s) == \A i \in 1 .. Len(s) - 1 : s[i] < s[i + 1]

TypeOK ==
    /\ calls \in 0 .. MaxCalls
    /\ \A i \in DOMAIN waiting : waiting[i] \in [producer : Producers, id : 1 .. calls]
    /\ \A i \in DOMAIN queue : queue[i] \in [id : 1 .. calls, epoch : 0 .. epoch, mask : 0 .. Full - 1]
    /\ epoch \in 0 .. MaxEpoch
    /\ rankSeen \in [Ranks -> 0 .. epoch]
    /\ prodSeen \in [Producers -> 0 .. epoch]
    /\ status \in [Ranks -> {"away", "live", "dead", "lost"}]
    /\ producer \in [Producers -> {"up", "dead", "down"}]
    /\ exist \in BOOLEAN
    /\ DOMAIN got = Ranks
    /\ \A r \in Ranks : Range(got[r]) \subseteq 1 .. calls

ExactlyOnceInOrder == \A r \in Ranks : Increasing(got[r])
Bounded == Len(queue) <= Depth
ExistCoherent == exist <=> queue # <<>>

\* Nobody executes a task that the others never get: only a rank that crashes may skip.
InStep == \A q \in Ranks, r \in Ranks \ Mortal : Range(got[q]) \subseteq Range(got[r]) \cup Ids(queue)

\* A rank's bits are set from the oldest task on, except where a restarted rank has skipped some in between.
MaskIsPrefix == \A r \in Ranks \ Mortal, i, j \in DOMAIN queue :
                    i < j /\ HasBit(queue[j].mask, r) => HasBit(queue[i].mask, r)

NoGhostCall ==
    \A p \in Producers : /\ Cardinality(CallsOf(p)) <= PerProducer
                         /\ producer[p] = "down" => CallsOf(p) = {}

WaitingInOrder ==
    /\ \A i \in 1 .. Len(waiting) - 1 : waiting[i].id < waiting[i + 1].id
    /\ \A i \in DOMAIN queue, j \in DOMAIN waiting : queue[i].id < waiting[j].id

-----------------------------------------------------------------------------
(* Fairness as in MCDispatch. *)
Fairness ==
    /\ SF_vars(\E p \in Producers : PutTasks(p))
    /\ SF_vars(\E p \in Producers : PutLost(p))
    /\ \A r \in Ranks : WF_vars(Fence(r)) /\ SF_vars(status[r] = "live" /\ GetTasks(r))
    /\ \A p \in Producers : WF_vars(FenceProducer(p))

FairSpec == Spec /\ Fairness

Owed(r, id) == status[r] = "live" /\ \E i \in DOMAIN queue : queue[i].id = id /\ ~HasBit(queue[i].mask, r)
Delivered == \A r \in Ranks, id \in 1 .. MaxCalls : Owed(r, id) ~> ~Owed(r, id)
PutReturns == \A id \in 1 .. MaxCalls : id \in Ids(waiting) ~> (id \notin Ids(waiting) \/ "away" \in Range(status))

\* The mask of the oldest task becomes whole, or the task goes, or a rank is away: B10 leaves it half for good.
HeadEnds == \A id \in 1 .. MaxCalls :
    (queue # <<>> /\ Head(queue).id = id /\ Head(queue).mask # 0)
        ~> (id \notin Ids(queue) \/ \E r \in Ranks : status[r] \in {"away", "dead", "lost"})
=============================================================================
