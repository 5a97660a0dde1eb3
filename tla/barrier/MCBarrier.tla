------------------------------ MODULE MCBarrier -----------------------------
(* What is claimed of Barrier. The configurations beside this file choose the bounds. *)
EXTENDS Barrier

TypeOK ==
    /\ status \in [Ranks -> {"away", "live", "dead", "lost"}]
    /\ generation \in [Barriers -> 0 .. MaxRounds]
    /\ DOMAIN arrived = Barriers
    /\ \A b \in Barriers : \A i \in DOMAIN arrived[b] :
           arrived[b][i] \in [rank : Ranks, label : Labels, round : Rounds]
    /\ broken \in [Barriers -> BOOLEAN]
    /\ aborts \in [Barriers -> 0 .. MaxAborts]
    /\ undone \in [Barriers -> 0 .. MaxAborts]
    /\ passed \in [Ranks -> [Barriers -> 0 .. MaxRounds]]

\* Every rank has passed the same rounds, also one that has died and come back.
Together == \A r \in Ranks, b \in Barriers : passed[r][b] = generation[b]

NoGhostArrival == \A b \in Barriers : \A r \in RanksAt(b) : status[r] \in {"live", "dead"}

OneArrival ==
    /\ \A b \in Barriers : Cardinality(RanksAt(b)) = Len(arrived[b])
    /\ \A b, d \in Barriers : b # d => RanksAt(b) \cap RanksAt(d) = {}

OneLabel == \A b \in Barriers : \A i, j \in DOMAIN arrived[b] : arrived[b][i].label = arrived[b][j].label

RoundAsNamed == \A b \in Barriers : \A i \in DOMAIN arrived[b] : arrived[b][i].round \in {Unsaid, generation[b]}

\* If everybody waits, nobody can come.
NoCrossWait == \E r \in Ranks : ~Waits(r)

AbortsHold == \A b \in Barriers : broken[b] <=> undone[b] < aborts[b]

-----------------------------------------------------------------------------
PassNeedsAll ==
    [][\A b \in Barriers : generation'[b] # generation[b] =>
          /\ generation'[b] = generation[b] + 1
          /\ Cardinality(RanksAt(b)) = Len(arrived[b])
          /\ Len(arrived[b]) = N - 1
          /\ \A r \in Ranks : passed'[r][b] = passed[r][b] + 1]_vars

ResetBreaksNobody == [][\A b \in Barriers, n \in 0 .. MaxAborts : Reset(b, n) => arrived' = arrived]_vars

Gone(b) == {arrived[b][i].rank : i \in DOMAIN arrived[b]} \ {arrived'[b][i].rank : i \in DOMAIN arrived'[b]}
EndsForAReason ==
    [][\A b \in Barriers : Gone(b) # {} =>
          \/ generation'[b] = generation[b] + 1
          \/ broken'[b] /\ ~broken[b]
          \/ \E r \in Ranks : Fence(r)
          \/ \E r \in Gone(b) : Gone(b) = {r} /\ (Timeout(r) \/ Leave(r))
          \/ \E r \in Ranks, d \in Barriers, l \in Labels, c \in Rounds : Mismatch(r, d, l, c)]_vars

-----------------------------------------------------------------------------
(* Fairness: the host notices a closed connection. Nobody has to arrive, to give up, to abort or to crash. *)
Fairness == \A r \in Ranks : WF_vars(Fence(r))

FairSpec == Spec /\ Fairness

MayStillCome(r) == status[r] \in {"live", "away"} /\ ~Waits(r)
WaitReturns == \A r \in Ranks : Waits(r) ~> (~Waits(r) \/ \E q \in Ranks : MayStillCome(q))
=============================================================================
