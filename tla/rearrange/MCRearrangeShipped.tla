------------------------- MODULE MCRearrangeShipped -------------------------
(* What should hold of the shipped rearrangement, and does in a guarded environment only. *)
EXTENDS RearrangeShipped

TypeOK ==
    /\ size \in {0, 2}
    /\ status \in 0 .. 3
    /\ cells \in [1 .. 2 -> 0 .. M]
    /\ {disk, told, job, infos} \subseteq [Ranks -> 0 .. M]
    /\ result \in [Ranks -> -1 .. 1]
    /\ tensor \in {0, 1}

\* What the manager works with is what one requester wrote.
AddressesWhole == manager = "start" => list[1] # 0 /\ list[1] = list[2]

Accepted(i) == asking[i] \in {"size", "cell 1", "cell 2", "done"}

OneAtATime == Cardinality({i \in Requesters : Accepted(i) /\ i \notin served}) <= 1

\* Only what has been read is erased.
NotErased == [][(manager = "clear" /\ manager' = "start") => cells = list]_vars

\* A loader lowers only the flag that it has seen.
FlagKept == [][\A r \in Ranks : (disk[r] = 1 /\ disk'[r] = 0) => told[r] = job[r]]_vars

LoadedByAll == manager = "declare" => \A r \in Ranks : infos[r] = list[1]

AllTold == manager = "declare" => \A r \in Ranks : told[r] = list[1]

NoFailedUpdate == status = 2 => \A r \in Ranks : result[r] # -1

NoReset == worker = "swap" => status # 0

\* A table that nobody has used is not replaced.
TablesKept == [][\A r \in Ranks : infos[r] # 0 => infos'[r] \in {0, infos[r]}]_vars

-----------------------------------------------------------------------------
Fairness ==
    /\ \A i \in Requesters : WF_vars(AskStep(i))
    /\ WF_vars(ManagerStep) /\ WF_vars(WorkStep)
    /\ \A r \in Ranks : WF_vars(LoadStep(r))

FairSpec == Spec /\ Fairness

WaitsEnd == worker = "wait" ~> worker # "wait"
=============================================================================
