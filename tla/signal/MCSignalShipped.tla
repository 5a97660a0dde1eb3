-------------------------- MODULE MCSignalShipped --------------------------
(* What should hold of SignalShipped, and does in a guarded environment only. *)
EXTENDS SignalShipped

TypeOK ==
    /\ name \in 0 .. I
    /\ content \in [Objects -> {"none", "empty", "blank", "whole"}]
    /\ pc \in [Processes -> {"idle", "find", "remove", "make", "size", "fill", "attach", "map", "hold", "clear", "cleared",
                             "failed", "gone"}]
    /\ seen \in [Processes -> 0 .. I]
    /\ held \in [Processes -> 0 .. I]
    /\ maker \in [Objects -> -1 .. P - 1]
    /\ told \in [Trackers -> BOOLEAN]

\* B61: nobody meets an object of size 0, or an error between two of his own steps.
NobodyFails == \A p \in Processes : pc[p] # "failed"

\* B69: what is used has been filled.
OnlyWhole == \A p \in Processes : held[p] # Nothing => content[held[p]] = "whole"

\* G10, B56: all who use the name use one memory.
OneWorld == Cardinality({held[p] : p \in Processes} \ {Nothing}) <= 1

\* B59: while its maker lives, somebody will remove the name if all processes are killed.
NetKept ==
    \A p \in Processes :
        (pc[p] = "hold" /\ held[p] = name /\ maker[name] = p) => told[TrackerOf(p)]

-----------------------------------------------------------------------------
Lives(i) == maker[i] # -1 /\ i \in {held[maker[i]], seen[maker[i]]}
Acts(p) == pc'[p] # pc[p]

\* B58, C11, C12: a name leaves the object of a living maker only by the maker's own step.
LiveIsKept == [][name # Nothing /\ name' # name /\ Lives(name) => Acts(maker[name])]_vars

\* B62: the same, while it is being made.
MakingIsKept ==
    [][name # Nothing /\ name' # name /\ Lives(name) /\ content[name] # "whole" => Acts(maker[name])]_vars

\* G10: who clears removes what it holds.
ClearsItsOwn ==
    [][\A p \in Processes : Acts(p) /\ pc[p] = "clear" /\ name' # name => name = held[p]]_vars
=============================================================================
