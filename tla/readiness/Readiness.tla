----------------------------- MODULE Readiness ----------------------------
(***************************************************************************)
(* K components with N parts each come up, serve, and go. A part says when *)
(* it is ready; its loop leaves stamps of time in a shared word; clients   *)
(* and parts wait for whole components. One public call is one action,     *)
(* because the host runs it in one critical section; what follows from it  *)
(* (Stall, Recover, Complete, GiveUp) comes in the same section. The       *)
(* contract is spec/readiness.toml: same names, same shapes.               *)
(*                                                                         *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents, and the property that   *)
(* the contract names for it fails: MCReadiness_bug_<guard>.cfg.           *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    K,              \* number of components
    N,              \* parts of each component: those of component k are k * N .. k * N + N - 1
    Without,        \* parts that are left out
    Needs,          \* launch order: k * K + j says that component k needs component j first
    MaxInc,         \* bound: processes of each part, one after the other
    MaxWaits,       \* bound: waits
    Askers,         \* who may wait: 0 is a client, 1 + p is part p
    Masks,          \* for what: component k is bit k
    Patience,       \* how: 0 ends when a part fails or is lost, 1 waits for its successor
    Mortal,         \* parts that may crash
    Cuts,           \* parts that may lose their connection, and run on
    Hangs,          \* parts whose loop may stand still
    Failing,        \* parts that may say that they cannot serve
    Reloading,      \* parts that may take their readiness back
    Leavers         \* parts that may leave in peace

CONSTANTS EveryPart, FenceResets, WordsKeyed, BeatsKeyed, AgeCounts, FailureTells, LossTells, Ordered

Components == 0 .. K - 1
All == 0 .. K * N - 1
Parts == All \ Without
Of(p) == p \div N
PartsOf(k) == {p \in Parts : Of(p) = k}
Guards == <<EveryPart, FenceResets, WordsKeyed, BeatsKeyed, AgeCounts, FailureTells, LossTells, Ordered>>

ASSUME /\ {K, N} \subseteq Nat \ {0}
       /\ {MaxInc, MaxWaits} \subseteq Nat
       /\ Without \subseteq All
       /\ Needs \subseteq 0 .. K * K - 1
       /\ Askers \subseteq 0 .. K * N
       /\ Masks \subseteq 1 .. 2 ^ K - 1
       /\ Patience \subseteq {0, 1}
       /\ Mortal \cup Cuts \cup Hangs \cup Failing \cup Reloading \cup Leavers \subseteq All
       /\ \A i \in DOMAIN Guards : Guards[i] \in BOOLEAN

VARIABLES
    status,         \* life of each part's process, as far as the host can know it: dead is gone, and not noticed
    inc,            \* number of processes that have acted for each part: the incarnation of the present one
    said,           \* what the present process has said
    stuck,          \* the host has seen that the loop of a ready part stands still
    stamps,         \* incarnations whose stamp in the shared words is younger than the limit
    ghost,          \* the incarnation of a process that was fenced and runs on; 0 is none
    serves,         \* history: the incarnation that can really serve; 0 is none
    waits           \* who waits for what

vars == <<status, inc, said, stuck, stamps, ghost, serves, waits>>

Init ==
    /\ status = [p \in All |-> "away"]
    /\ inc = [p \in All |-> 0]
    /\ said = [p \in All |-> "nothing"]
    /\ stuck = [p \in All |-> FALSE]
    /\ stamps = [p \in All |-> {}]
    /\ ghost = [p \in All |-> 0]
    /\ serves = [p \in All |-> 0]
    /\ waits = <<>>

Here(p) == status[p] \in {"live", "dead"}
Fresh(p) == IF BeatsKeyed THEN inc[p] \in stamps[p] ELSE stamps[p] # {}
Says(p, what) == said' = [said EXCEPT ![p] = what]
NotStuck(p) == stuck' = [stuck EXCEPT ![p] = FALSE]
Serves(p, i) == serves' = [serves EXCEPT ![p] = i]

In(k, mask) == (mask \div 2 ^ k) % 2 = 1
Awaited(w) == {p \in Parts : In(Of(p), waits[w].mask)}
IsOpen(w) == w \in DOMAIN waits /\ waits[w].outcome = "open"

\* The waits of a part end with it.
Bereft(p) == [w \in DOMAIN waits |->
    IF waits[w].by = 1 + p /\ waits[w].outcome = "open" THEN [waits[w] EXCEPT !.outcome = "gone"] ELSE waits[w]]

-----------------------------------------------------------------------------
(* Life of the parts. *)

\* A word of shared memory is used by every second process of a part: the one before keeps its own.
Join(p) ==
    /\ p \in Parts
    /\ status[p] \in {"away", "lost"}
    /\ inc[p] < MaxInc
    /\ status' = [status EXCEPT ![p] = "live"]
    /\ inc' = [inc EXCEPT ![p] = @ + 1]
    /\ Says(p, IF FenceResets THEN "starting" ELSE IF said[p] = "nothing" THEN "starting" ELSE said[p])
    /\ NotStuck(p)
    /\ stamps' = [stamps EXCEPT ![p] = @ \cap {inc[p]}]
    /\ UNCHANGED <<ghost, serves, waits>>

\* The process is gone. The host cannot see it yet.
Crash(p) ==
    /\ status[p] = "live"
    /\ p \in Mortal
    /\ status' = [status EXCEPT ![p] = "dead"]
    /\ Serves(p, 0)
    /\ UNCHANGED <<inc, said, stuck, stamps, ghost, waits>>

\* Its connection is gone, and it runs on for a while.
Cut(p) ==
    /\ status[p] = "live"
    /\ p \in Cuts
    /\ ghost[p] = 0
    /\ status' = [status EXCEPT ![p] = "dead"]
    /\ ghost' = [ghost EXCEPT ![p] = inc[p]]
    /\ Serves(p, 0)
    /\ UNCHANGED <<inc, said, stuck, stamps, waits>>

Fence(p) ==
    /\ status[p] = "dead"
    /\ status' = [status EXCEPT ![p] = "lost"]
    /\ IF FenceResets THEN Says(p, "nothing") ELSE UNCHANGED said
    /\ NotStuck(p)
    /\ waits' = Bereft(p)
    /\ UNCHANGED <<inc, stamps, ghost, serves>>

Leave(p) ==
    /\ status[p] = "live"
    /\ p \in Leavers
    /\ status' = [status EXCEPT ![p] = "away"]
    /\ Says(p, "nothing")
    /\ NotStuck(p)
    /\ Serves(p, 0)
    /\ waits' = Bereft(p)
    /\ UNCHANGED <<inc, stamps, ghost>>

-----------------------------------------------------------------------------
(* What a part says. *)

Ready(p) ==
    /\ status[p] = "live"
    /\ said[p] = "starting"
    /\ Says(p, "ready")
    /\ stamps' = [stamps EXCEPT ![p] = @ \cup {inc[p]}]
    /\ Serves(p, inc[p])
    /\ UNCHANGED <<status, inc, stuck, ghost, waits>>

Fail(p) ==
    /\ status[p] = "live"
    /\ p \in Failing
    /\ said[p] \in {"starting", "ready"}
    /\ Says(p, "failed")
    /\ NotStuck(p)
    /\ Serves(p, 0)
    /\ UNCHANGED <<status, inc, stamps, ghost, waits>>

\* It serves no more for a while, or tries again.
Withdraw(p) ==
    /\ status[p] = "live"
    /\ p \in Reloading
    /\ said[p] \in {"ready", "failed"}
    /\ Says(p, "starting")
    /\ NotStuck(p)
    /\ Serves(p, 0)
    /\ UNCHANGED <<status, inc, stamps, ghost, waits>>

\* A process that was fenced says that it is ready, and hears that it was fenced.
LateWord(p) ==
    /\ ghost[p] # 0
    /\ status[p] # "dead"
    /\ ghost' = [ghost EXCEPT ![p] = 0]
    /\ IF ~WordsKeyed /\ status[p] = "live" THEN Says(p, "ready") ELSE UNCHANGED said
    /\ UNCHANGED <<status, inc, stuck, stamps, serves, waits>>

-----------------------------------------------------------------------------
(* The loop of a ready part, and time. *)

\* The limit has passed without a stamp.
Age(p) ==
    /\ p \in Hangs
    /\ Here(p)
    /\ said[p] = "ready"
    /\ stamps[p] # {}
    /\ stamps' = [stamps EXCEPT ![p] = {}]
    /\ UNCHANGED <<status, inc, said, stuck, ghost, serves, waits>>

Beat(p) ==
    /\ status[p] = "live"
    /\ said[p] = "ready"
    /\ inc[p] \notin stamps[p]
    /\ stamps' = [stamps EXCEPT ![p] = @ \cup {inc[p]}]
    /\ UNCHANGED <<status, inc, said, stuck, ghost, serves, waits>>

\* A process that was fenced, and does not know it, goes on with its loop.
GhostBeat(p) ==
    /\ ghost[p] # 0
    /\ ghost[p] >= inc[p] - 1
    /\ said[p] = "ready"
    /\ ghost[p] \notin stamps[p]
    /\ stamps' = [stamps EXCEPT ![p] = @ \cup {ghost[p]}]
    /\ UNCHANGED <<status, inc, said, stuck, ghost, serves, waits>>

\* The host looks at the word.
Stall(p) ==
    /\ AgeCounts
    /\ Here(p)
    /\ said[p] = "ready"
    /\ ~stuck[p]
    /\ ~Fresh(p)
    /\ stuck' = [stuck EXCEPT ![p] = TRUE]
    /\ UNCHANGED <<status, inc, said, stamps, ghost, serves, waits>>

Recover(p) ==
    /\ stuck[p]
    /\ Fresh(p)
    /\ NotStuck(p)
    /\ UNCHANGED <<status, inc, said, stamps, ghost, serves, waits>>

-----------------------------------------------------------------------------
(* Waits. *)

RECURSIVE Below(_, _)
Below(ks, n) == IF n = 0 THEN ks ELSE Below(ks \cup {j \in Components : \E k \in ks : k * K + j \in Needs}, n - 1)
\* All that a component needs, directly or not.
AllNeeds(k) == Below({j \in Components : k * K + j \in Needs}, K)

InOrder(p, mask) == \A k \in Components : In(k, mask) => k # Of(p) /\ Of(p) \notin AllNeeds(k)

Wait(by, mask, patient) ==
    /\ Len(waits) < MaxWaits
    /\ by > 0 => /\ by - 1 \in Parts
                 /\ status[by - 1] = "live"
                 /\ said[by - 1] # "ready"
                 /\ Ordered => InOrder(by - 1, mask)
    /\ waits' = Append(waits, [by |-> by, mask |-> mask, patient |-> patient, outcome |-> "open"])
    /\ UNCHANGED <<status, inc, said, stuck, stamps, ghost, serves>>

EndWith(w, how) ==
    /\ waits' = [waits EXCEPT ![w].outcome = how]
    /\ UNCHANGED <<status, inc, said, stuck, stamps, ghost, serves>>

Counts(p) == said[p] = "ready" /\ ~stuck[p] /\ (AgeCounts => Fresh(p))
First(k) == CHOOSE p \in PartsOf(k) : \A q \in PartsOf(k) : p <= q

Complete(w) ==
    /\ IsOpen(w)
    /\ IF EveryPart THEN \A p \in Awaited(w) : Counts(p) ELSE \A p \in Awaited(w) : p = First(Of(p)) => Counts(p)
    /\ EndWith(w, "done")

GiveUp(w) ==
    /\ IsOpen(w)
    /\ waits[w].patient = 0
    /\ \E p \in Awaited(w) : (FailureTells /\ said[p] = "failed") \/ (LossTells /\ status[p] = "lost")
    /\ EndWith(w, "failed")

\* The time is over, the call is cancelled, or its client is gone.
Expire(w) ==
    /\ IsOpen(w)
    /\ EndWith(w, "late")

-----------------------------------------------------------------------------
Next ==
    \/ \E p \in All : Join(p)
    \/ \E p \in All : Crash(p)
    \/ \E p \in All : Cut(p)
    \/ \E p \in All : Fence(p)
    \/ \E p \in All : Leave(p)
    \/ \E p \in All : Ready(p)
    \/ \E p \in All : Fail(p)
    \/ \E p \in All : Withdraw(p)
    \/ \E p \in All : LateWord(p)
    \/ \E p \in All : Age(p)
    \/ \E p \in All : Beat(p)
    \/ \E p \in All : GhostBeat(p)
    \/ \E p \in All : Stall(p)
    \/ \E p \in All : Recover(p)
    \/ \E by \in Askers, mask \in Masks, patient \in Patience : Wait(by, mask, patient)
    \/ \E w \in 1 .. MaxWaits : Complete(w)
    \/ \E w \in 1 .. MaxWaits : GiveUp(w)
    \/ \E w \in 1 .. MaxWaits : Expire(w)

Spec == Init /\ [][Next]_vars
=============================================================================
