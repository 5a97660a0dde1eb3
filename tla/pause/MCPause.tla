------------------------------ MODULE MCPause ------------------------------
(* What is claimed of Pause. The configurations beside this file choose the bounds. *)
EXTENDS Pause

TypeOK ==
    /\ order \in 0 .. MaxOrders
    /\ phase \in {"run", "pause"}
    /\ mode \in 0 .. 2
    /\ status \in [Ranks -> {"away", "live", "dead", "lost"}]
    /\ quiet \subseteq Ranks
    /\ seen \in [Ranks -> 0 .. MaxOrders]
    /\ gate \in [Ranks -> {"open", "shut"}]
    /\ told \in [Ranks -> 0 .. 2]
    /\ running \in [Ranks -> 0 .. MaxJobs]
    /\ parked \in [Ranks -> 0 .. MaxJobs]
    /\ holders \subseteq Clients
    /\ waiting \in [Clients -> {"idle", "pause", "resume", "cancel"}]
    /\ awaited \in [Clients -> 0 .. MaxOrders]
    /\ began \in 0 .. order
    /\ promised \in BOOLEAN

QuietMeansShut == \A r \in quiet : Live(r) => gate[r] = "shut" /\ running[r] = 0

Nothing == \A r \in Ranks : running[r] = 0 /\ (Live(r) => gate[r] = "shut")

PausedMeansStill == promised => phase = "pause" /\ Nothing

HeldMeansPaused == holders # {} => phase = "pause" /\ Nothing

-----------------------------------------------------------------------------
OnlyOwnerEnds ==
    [][phase = "pause" /\ phase' = "run" /\ (~Still \/ \E c \in Clients : Expects(c)) =>
          \E c \in Clients : waiting[c] = "idle" /\ waiting'[c] = "cancel"]_vars

-----------------------------------------------------------------------------
(* Fairness: jobs end, ranks take orders and report, the host notices closed connections and wakes who waits, and
   holders let go. Nobody has to pause, resume, cancel, give up, admit, park or crash. *)
Fairness ==
    /\ \A r \in Ranks : WF_vars(Fence(r)) /\ WF_vars(Take(r)) /\ WF_vars(Quiet(r)) /\ WF_vars(Done(r))
    /\ \A c \in Clients : WF_vars(PauseReturns(c)) /\ WF_vars(PauseEnded(c)) /\ WF_vars(ResumeReturns(c))
    /\ \A c \in Clients : WF_vars(LetGo(c))

FairSpec == Spec /\ Fairness

PauseComes == \A c \in Clients : waiting[c] = "pause" ~> waiting[c] # "pause"
ResumeComes == \A c \in Clients : waiting[c] \in {"resume", "cancel"} ~> waiting[c] \notin {"resume", "cancel"}
=============================================================================
