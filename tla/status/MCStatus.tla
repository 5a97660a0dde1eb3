------------------------------ MODULE MCStatus -----------------------------
(* What is claimed of Status. The configurations beside this file choose the bounds. *)
EXTENDS Status

TypeOK ==
    /\ asked \in 0 .. MaxAsked
    /\ goals \in [1 .. asked -> {"clear", "update"}]
    /\ outcome \in [1 .. asked -> {"open", "done", "failed", "late"}]
    /\ word \in [Components -> {Normal, Updating, Clearing, Cleared}]
    /\ partial \in [Components -> BOOLEAN]
    /\ changing \subseteq Real
    /\ \A k \in Components : reports[k] \subseteq [part : PartsOf(k), ok : BOOLEAN]
    /\ status \in [Components -> [Parts -> {"away", "live", "dead", "lost"}]]
    /\ doing \in [Components -> [Parts -> 0 .. asked]]
    /\ holds \in [Components -> [Parts -> {"full", "empty", "mixed"}]]

Lives(k, p) == status[k][p] = "live"

NormalMeansFull == \A k \in Components : word[k] = Normal /\ ~partial[k] =>
    \A p \in Parts : Lives(k, p) => holds[k][p] = "full"

ClearedMeansEmpty == \A k \in Components : word[k] = Cleared /\ ~partial[k] =>
    \A p \in Parts : Lives(k, p) => holds[k][p] = "empty"

Before(j, k, goal) == IF goal = "clear" THEN Stage(j) < Stage(k) ELSE Stage(j) > Stage(k)
ChangesForOne ==
    /\ changing # {} => Open
    /\ \A n \in 1 .. asked - 1 : outcome[n] # "open"

-----------------------------------------------------------------------------
\* When a part of an earlier stage is started anew meanwhile, the request comes back to that stage.
InStages ==
    [][\A k \in changing' \ changing, j \in Real :
          Before(j, k, goals'[asked']) => Done(j, goals'[asked'])]_vars

DoneIsDone ==
    [][\A n \in 1 .. asked : outcome[n] = "open" /\ outcome'[n] = "done" =>
          \A k \in Real : word[k] = End(goals[n]) /\ ~partial[k]]_vars

EndStays == [][\A n \in 1 .. asked : outcome'[n] # outcome[n] => outcome[n] = "open" /\ asked' = asked]_vars

-----------------------------------------------------------------------------
(* Fairness: the host notices closed connections and does what follows from reports. *)
Follows ==
    /\ \A k \in Components : WF_vars(Settle(k))
    /\ WF_vars(NextStage) /\ WF_vars(Finish) /\ WF_vars(Fail)
    /\ \A k \in Components, p \in Parts : WF_vars(Fence(k, p))

FairSpec == Spec /\ Follows /\ WF_vars(Expire)

\* Without time limits, parts have to be there, to take and to report.
Works == \A k \in Components, p \in Parts :
    WF_vars(Join(k, p)) /\ WF_vars(Take(k, p)) /\ WF_vars(Report(k, p, 0) \/ Report(k, p, 1))
UntimedSpec == Spec /\ Follows /\ Works

IsOpen(n) == n <= asked /\ outcome[n] = "open"
RequestsEnd == \A n \in 1 .. MaxAsked : IsOpen(n) ~> ~IsOpen(n)
WorkEnds == \A n \in 1 .. MaxAsked : IsOpen(n) ~> ~IsOpen(n)
=============================================================================
