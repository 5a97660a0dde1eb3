------------------------------ MODULE MCBlocks ------------------------------
(* What holds of Blocks. *)
EXTENDS Blocks

TypeOK ==
    /\ gen \in 0 .. MaxGen
    /\ phase \in {"open", "resetting", "lost", "closed"}
    /\ free \subseteq Blocks
    /\ \A l \in leases : l.ids \subseteq Blocks /\ l.ids # {} /\ l.gen \in 0 .. gen
    /\ \A t \in Numbers :
        /\ tasks[t].source \cup tasks[t].target \subseteq Blocks
        /\ tasks[t].stage \in {"issuing", "queued", "taken", "posted", "hand", "late", "done", "refused"}
        /\ tasks[t].out \in {"", "ok", "failed", "cancelled"}
        /\ tasks[t].told \in {"", "ok", "failed", "cancelled", "refused", "lost", "closed"}
        /\ {tasks[t].known, tasks[t].at, tasks[t].late} \subseteq BOOLEAN
    /\ hand \in 0 .. Len(tasks)
    /\ alive \in BOOLEAN

\* Every block is in exactly one place: free, leased to somebody in this generation, or in a task in flight.
Places(b) ==
    (IF b \in free THEN 1 ELSE 0)
    + Cardinality({l \in leases : l.gen = gen /\ b \in l.ids})
    + Cardinality({t \in Numbers : InFlight(t) /\ b \in Held(t)})

Conservation == \A b \in Blocks : Places(b) = 1

\* What a rank may write to is nobody's but its task's.
Others(t) == free \cup Ids({l \in leases : l.gen = gen}) \cup UNION {Held(u) : u \in {v \in Numbers \ {t} : InFlight(v)}}
WritersOwn == \A t \in Numbers : tasks[t].at => Written(t) \cap Others(t) = {}

\* A reset, a loss or a close leaves nobody waiting.
NobodyIsLeft == phase # "open" => \A t \in Numbers : ~Waits(t)

\* What somebody was told stays, and a task ends once.
AnswersStay == [][\A t \in Numbers :
    /\ ~Waits(t) => tasks'[t].told = tasks[t].told
    /\ ~InFlight(t) => tasks'[t].stage = tasks[t].stage]_vars

\* What was leased before a reset moves no block.
StaleMovesNothing == [][\A l \in leases : l.gen < gen /\ l \notin leases' => free' = free]_vars

-----------------------------------------------------------------------------
(* Calls of the port return, ranks end what they have taken, and the receiver goes on. No task has to be taken. *)

Goes(t) ==
    /\ WF_vars(Accept(t) \/ Refuse(t))
    /\ WF_vars(Register(t))
    /\ WF_vars(Succeed(t) \/ Fail(t) \/ Overrun(t))
    /\ WF_vars(Quiet(t))
    /\ WF_vars(Settle(t))
    /\ WF_vars(Receive(t))
    /\ WF_vars(Handle(t))
    /\ WF_vars(phase = "resetting" /\ Withdraw(t))

FairSpec == Spec /\ WF_vars(Rebuild) /\ \A t \in 1 .. MaxTasks : Goes(t)

HasResult(t) == t \in Numbers /\ Waits(t) /\ tasks[t].stage \in {"posted", "hand"}
NobodyWaitsForEver == \A t \in 1 .. MaxTasks : HasResult(t) ~> ~HasResult(t)

ResetEnds == phase = "resetting" ~> phase # "resetting"
=============================================================================
