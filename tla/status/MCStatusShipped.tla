-------------------------- MODULE MCStatusShipped --------------------------
(* What should hold of the shipped words, and does in a guarded environment only. *)
EXTENDS StatusShipped

Values == {Normal, Updating, Clearing, Cleared}

TypeOK ==
    /\ {weights, kv, tree} \subseteq Values
    /\ asked \in 0 .. MaxAsked
    /\ code \in {0, 200, 400, 403, 404}
    /\ seen \in [Workers -> Values]
    /\ ready \in [Movers -> {0, 1}]

\* A worker rank that polls for a value can still read it.
PollsForWhatComes == \A w \in Workers : pcW[w] = "poll" => weights \in {seen[w], End(seen[w])}

\* Nobody restores while another rank waits until all have cleared.
AllDownFirst == \A s, q \in Movers : pcS[s] = "all down" => pcS[q] # "all up"

After(v) == CASE v = Normal -> Clearing [] v = Clearing -> Cleared [] v = Cleared -> Updating [] OTHER -> Normal

KvInOrder == [][kv' # kv => kv' = After(kv)]_vars
WeightsInOrder == [][weights' # weights => weights' = After(weights)]_vars

\* Who is told that all is cleared can rely on it.
TruthfulAnswer ==
    [][(asked' # asked \/ pcA' # pcA) /\ pcA' = "idle" /\ code' = 200 /\ goal' = 1 =>
          weights' = Cleared /\ kv' = Cleared /\ tree' = Cleared]_vars

\* Who is told that a request is under way can wait for its end.
RefusedForAReason == [][asked' # asked /\ code' \in {400, 403} => Works]_vars

-----------------------------------------------------------------------------
(* Everybody who can go on does. *)
Fairness ==
    /\ WF_vars(SeeCleared) /\ WF_vars(SeeTreeCleared) /\ WF_vars(SeeTreeNormal) /\ WF_vars(SeeNormal)
    /\ WF_vars(Read) /\ \A w \in Workers : WF_vars(Write(w)) /\ WF_vars(Work(w)) /\ WF_vars(Poll(w))
    /\ WF_vars(Pause) /\ WF_vars(Resume)
    /\ \A s \in Movers : /\ WF_vars(See(s)) /\ WF_vars(Clear(s)) /\ WF_vars(ClearRaises(s))
                         /\ WF_vars(SayCleared(s)) /\ WF_vars(Restore(s)) /\ WF_vars(SayNormal(s))
    /\ WF_vars(ClearTree) /\ WF_vars(ThreadDies) /\ WF_vars(RestoreTree)

FairSpec == Spec /\ Fairness

Answered == pcA # "idle" ~> pcA = "idle"
=============================================================================
