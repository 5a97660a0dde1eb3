--------------------------- MODULE MCPauseShipped ---------------------------
(* What should hold of the shipped pause, and does in a guarded environment only. *)
EXTENDS PauseShipped

Labels == {"top", "meet 0", "look", "drain", "meet 1", "count", "get", "meet 3", "dead"}

TypeOK ==
    /\ pc \in [Ranks -> Labels]
    /\ sig \in BOOLEAN
    /\ {flag, slot} \subseteq [Ranks -> BOOLEAN]
    /\ {counter, mine, pooled} \subseteq [Ranks -> -1 .. MaxTasks + 1]
    /\ {queued, jobs} \subseteq [Ranks -> 0 .. MaxTasks]
    /\ queue \in 0 .. MaxTasks
    /\ read \subseteq Ranks
    /\ more \in BOOLEAN
    /\ control \in {"run", "pausing", "paused", "resuming", "done"}

\* While nobody is in the middle of a change, the counter is the number of unfinished tasks.
Held(r) == IF At(r, "get") /\ ~CountsAfter THEN 1 ELSE 0
CountExact ==
    \A r \in Ranks :
        ~At(r, "dead") /\ mine[r] = NotLoaded /\ pooled[r] = NotLoaded => counter[r] = jobs[r] + Held(r)

PausedMeansStill == control = "paused" => \A r \in Ranks : jobs[r] = 0 /\ queued[r] = 0

\* No rank has taken a task that another will not take.
PausedInStep == control = "paused" => read = {}

\* Ranks are never at two barriers of one round that both wait for all.
SameRound == ~\E r, q \in Ranks : At(r, "meet 0") /\ At(q, "meet 1")

-----------------------------------------------------------------------------
Fairness ==
    /\ \A r \in Ranks : WF_vars(Loop(r)) /\ WF_vars(Pool(r)) /\ WF_vars(SetFlag(r))
    /\ WF_vars(Meet0) /\ WF_vars(Meet1) /\ WF_vars(Meet3)
    /\ WF_vars(PauseReturns) /\ WF_vars(ResumeReturns)

FairSpec == Spec /\ Fairness

PauseComes == control = "pausing" ~> control # "pausing"
ResumeComes == control = "resuming" ~> control # "resuming"
=============================================================================
