-------------------------- MODULE MCBarrierShipped --------------------------
(* What should hold of BarrierShipped, and does in a guarded environment only. *)
EXTENDS BarrierShipped

TypeOK ==
    /\ state \in [Barriers -> {"filling", "draining", "resetting"}]
    /\ inside \in [Barriers -> SUBSET Ranks]
    /\ pc \in [Ranks -> {"work", "wait", "reset", "error", "gone"}]
    /\ turn \in [Ranks -> Barriers]
    /\ task \in [Ranks -> 1 .. MaxTasks + 1]
    /\ alive \in [Ranks -> BOOLEAN]
    /\ slipped \subseteq Ranks
    /\ {ghost, mixed} \subseteq BOOLEAN

\* P4.2, P4.3, G5: nobody is thrown out of a round because another rank has finished the round before.
NobodyThrownOut == \A r \in Ranks : pc[r] # "error"

\* G2: nobody is released by a rank that is gone.
NoGhostArrival == ~ghost

\* B26: who goes on together has come from the same task.
SameTask == ~mixed

-----------------------------------------------------------------------------
(* Fairness, as kind as it can be: every living rank goes on, and gets in when it can again and again. *)
Fairness ==
    /\ \A r \in Ranks : SF_vars(Arrive(r)) /\ SF_vars(Release(r)) /\ WF_vars(Leave(r)) /\ WF_vars(Reset(r))
    /\ \A r \in Ranks : WF_vars(Recover(r))

FairSpec == Spec /\ Fairness

\* P4.1, C07, B14, B21
WaitReturns == \A r \in Ranks : (alive[r] /\ pc[r] = "wait") ~> (~alive[r] \/ pc[r] # "wait")
=============================================================================
