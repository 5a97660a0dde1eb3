-------------------------- MODULE MCControlShipped --------------------------
(* What should hold of ControlShipped, and does in a guarded environment only. *)
EXTENDS ControlShipped

TypeOK ==
    /\ engine \in {"idle", "paused", "aborted", "quiet", "gather"}
    /\ told \in {"nothing", "ok", "error"}
    /\ asked \in 0 .. MaxAsked
    /\ heard \subseteq Ranks
    /\ got \subseteq heard
    /\ slot \in [Ranks -> Nothing .. asked]
    /\ work \in 0 .. MaxWork
    /\ \A r \in Ranks : \A i \in DOMAIN pipe[r] : pipe[r][i] \in 1 .. asked
    /\ pc \in [Ranks -> {"loop", "run", "answered", "barrier"}]
    /\ doing \in [Ranks -> 0 .. asked]
    /\ raised \subseteq Raisers
    /\ {paused, late, fewer, slipped, split} \subseteq BOOLEAN

\* P14.1: a request is a success only with the answers of all ranks to it.
SuccessIsWhole == ~fewer

\* P14.2: no batch is put after the engine has seen that none is left, and before its request.
NothingSlips == ~slipped

\* P14.4: an engine whose call failed is not paused.
PausedAsTold == engine = "idle" /\ told = "error" => ~paused

\* P14.5: ranks go on together only from the same request.
SameRequest == ~split
=============================================================================
