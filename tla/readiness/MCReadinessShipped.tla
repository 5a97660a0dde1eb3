------------------------ MODULE MCReadinessShipped ------------------------
(* What should hold of the shipped words, and does in a guarded environment only. *)
EXTENDS ReadinessShipped

TypeOK ==
    /\ word \in [Ranks -> {0, 1}]
    /\ state \in [Ranks -> {"new", "starting", "up", "busy", "hung", "dead"}]
    /\ beat \in [Ranks -> {"zero", "fresh", "old"}]
    /\ late \in [Ranks -> BOOLEAN]
    /\ {launched, accepted} \subseteq BOOLEAN
    /\ health \in {"none", "good", "bad"}

Launches == ~launched /\ launched'
Answers(what) == health' # health /\ health' = what
\* What a check could know.
Long(r, what) == state[r] = what /\ late[r]

LaunchedIsReady == [][Launches => \A r \in Ranks : state[r] \notin {"new", "starting"}]_vars
LaunchedIsAlive == [][Launches => \A r \in Ranks : state[r] # "dead"]_vars
GoodIsAlive == [][Answers("good") => \A r \in Ranks : ~Long(r, "dead")]_vars
GoodIsMoving == [][Answers("good") => \A r \in Ranks : ~Long(r, "hung")]_vars
BadIsBad == [][Answers("bad") => \E r \in Ranks : state[r] \in {"dead", "hung"}]_vars
AcceptedIsServed == [][~accepted /\ accepted' => \A r \in Ranks : ~Long(r, "dead")]_vars

-----------------------------------------------------------------------------
(* Everybody who can go on does. *)
FairSpec == Spec /\ WF_vars(Launch) /\ \A r \in Ranks : WF_vars(Start(r)) /\ WF_vars(Up(r))

LaunchEnds == ~launched ~> launched
=============================================================================
