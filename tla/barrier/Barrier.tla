------------------------------ MODULE Barrier ------------------------------
(***************************************************************************)
(* A group of reusable barriers for N ranks. A rank has at most one wait   *)
(* in the group at a time. One public call is one action, because the host *)
(* runs it in one critical section. The contract is spec/barrier.toml:     *)
(* same names, same shapes.                                                *)
(*                                                                         *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents, and the property that   *)
(* the contract names for it fails: MCBarrier_bug_<guard>.cfg.             *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    N,              \* number of ranks
    B,              \* number of barriers
    L,              \* number of labels
    MaxRounds,      \* bound: passes of each barrier
    MaxAborts,      \* bound: aborts of each barrier
    Named,          \* a wait may say which round it is for
    Leavers,        \* ranks that may leave
    Mortal          \* ranks that may crash

CONSTANTS FenceWithdraws, FenceWakes, ResetHarmless, ResetNamesAbort, RoundsCount, OneWaitPerRank, LabelsChecked,
    RoundsChecked, CrossWaitFound

Ranks == 0 .. N - 1
Barriers == 0 .. B - 1
Labels == 0 .. L - 1
Unsaid == -1
Rounds == {Unsaid} \cup (IF Named THEN 0 .. MaxRounds ELSE {})
Guards == <<FenceWithdraws, FenceWakes, ResetHarmless, ResetNamesAbort, RoundsCount, OneWaitPerRank, LabelsChecked,
    RoundsChecked, CrossWaitFound>>

ASSUME /\ {N, B, L} \subseteq Nat \ {0}
       /\ {MaxRounds, MaxAborts} \subseteq Nat
       /\ Named \in BOOLEAN
       /\ Leavers \cup Mortal \subseteq Ranks
       /\ \A i \in DOMAIN Guards : Guards[i] \in BOOLEAN

VARIABLES
    status,         \* life of each rank
    generation,     \* passes of each barrier so far: the number of the round that is under way
    arrived,        \* who waits in it, in order of arrival, with what the wait said
    broken,         \* aborted, and not yet reset
    aborts,         \* aborts of each barrier so far
    undone,         \* history: the abort that the newest effective reset was about
    passed          \* history: rounds that each rank has passed

vars == <<status, generation, arrived, broken, aborts, undone, passed>>

RanksAt(b) == {arrived[b][i].rank : i \in DOMAIN arrived[b]}
Waits(r) == \E b \in Barriers : r \in RanksAt(b)
Lost == {r \in Ranks : status[r] = "lost"}
Nobody == [b \in Barriers |-> <<>>]
Without(r) == [b \in Barriers |-> SelectSeq(arrived[b], LAMBDA a : a.rank # r)]

Init ==
    /\ status = [r \in Ranks |-> "away"]
    /\ generation = [b \in Barriers |-> 0]
    /\ arrived = Nobody
    /\ broken = [b \in Barriers |-> FALSE]
    /\ aborts = [b \in Barriers |-> 0]
    /\ undone = [b \in Barriers |-> 0]
    /\ passed = [r \in Ranks |-> [b \in Barriers |-> 0]]

-----------------------------------------------------------------------------
(* Life of the ranks. *)

Join(r) ==
    /\ status[r] \in {"away", "lost"}
    /\ status' = [status EXCEPT ![r] = "live"]
    /\ UNCHANGED <<generation, arrived, broken, aborts, undone, passed>>

Leave(r) ==
    /\ status[r] = "live"
    /\ r \in Leavers
    /\ status' = [status EXCEPT ![r] = "away"]
    /\ arrived' = Without(r)
    /\ UNCHANGED <<generation, broken, aborts, undone, passed>>

\* The process is gone. The host cannot see it yet.
Crash(r) ==
    /\ status[r] = "live"
    /\ r \in Mortal
    /\ status' = [status EXCEPT ![r] = "dead"]
    /\ UNCHANGED <<generation, arrived, broken, aborts, undone, passed>>

\* The host sees the connection closed. No round can complete without the rank, so nobody waits any more.
Fence(r) ==
    /\ status[r] = "dead"
    /\ status' = [status EXCEPT ![r] = "lost"]
    /\ arrived' = [b \in Barriers |->
           SelectSeq(arrived[b], LAMBDA a : IF a.rank = r THEN ~FenceWithdraws ELSE ~FenceWakes)]
    /\ UNCHANGED <<generation, broken, aborts, undone, passed>>

-----------------------------------------------------------------------------
(* A wait arrives: rank r, barrier b, label l, round c. A dead rank may be served: its call had arrived. *)

MayArrive(r) == status[r] \in {"live", "dead"} /\ (OneWaitPerRank => ~Waits(r))

Over(b, c) == RoundsChecked /\ c # Unsaid /\ c < generation[b]
ToCome(b, c) == RoundsChecked /\ c > generation[b]
OtherLabel(b, l) == LabelsChecked /\ \E i \in DOMAIN arrived[b] : arrived[b][i].label # l
IsLast(b) == Len(arrived[b]) = N - 1 \/ (~RoundsCount /\ generation[b] > 0)
OthersWait(r) == CrossWaitFound /\ \A q \in Ranks \ {r} : Waits(q)

Refused(b, c) == Lost # {} \/ broken[b] \/ Over(b, c)
Mismatched(r, b, l, c) == ToCome(b, c) \/ OtherLabel(b, l) \/ (~IsLast(b) /\ OthersWait(r))

Served(r, b, c) == MayArrive(r) /\ ~Refused(b, c) /\ generation[b] < MaxRounds

Arrive(r, b, l, c) ==
    /\ Served(r, b, c)
    /\ ~Mismatched(r, b, l, c)
    /\ ~IsLast(b)
    /\ arrived' = [arrived EXCEPT ![b] = Append(@, [rank |-> r, label |-> l, round |-> c])]
    /\ UNCHANGED <<status, generation, broken, aborts, undone, passed>>

Pass(r, b, l, c) ==
    /\ Served(r, b, c)
    /\ ~Mismatched(r, b, l, c)
    /\ IsLast(b)
    /\ generation' = [generation EXCEPT ![b] = @ + 1]
    /\ arrived' = [arrived EXCEPT ![b] = <<>>]
    /\ passed' = [q \in Ranks |-> IF q \in RanksAt(b) \cup {r} THEN [passed[q] EXCEPT ![b] = @ + 1] ELSE passed[q]]
    /\ UNCHANGED <<status, broken, aborts, undone>>

Mismatch(r, b, l, c) ==
    /\ Served(r, b, c)
    /\ Mismatched(r, b, l, c)
    /\ arrived' = Nobody
    /\ UNCHANGED <<status, generation, broken, aborts, undone, passed>>

Refuse(r, b, c) ==
    /\ MayArrive(r)
    /\ Refused(b, c)
    /\ UNCHANGED vars

Timeout(r) ==
    /\ status[r] \in {"live", "dead"}
    /\ Waits(r)
    /\ arrived' = Without(r)
    /\ UNCHANGED <<status, generation, broken, aborts, undone, passed>>

-----------------------------------------------------------------------------
(* Abort and reset. A reset says which abort it is about: 0, if its caller was told of none. *)

Abort(b) ==
    /\ ~broken[b]
    /\ aborts[b] < MaxAborts
    /\ broken' = [broken EXCEPT ![b] = TRUE]
    /\ aborts' = [aborts EXCEPT ![b] = @ + 1]
    /\ arrived' = [arrived EXCEPT ![b] = <<>>]
    /\ UNCHANGED <<status, generation, undone, passed>>

Undo(b, n) ==
    /\ broken[b]
    /\ IF ResetNamesAbort THEN n = aborts[b] ELSE n <= aborts[b]
    /\ broken' = [broken EXCEPT ![b] = FALSE]
    /\ undone' = [undone EXCEPT ![b] = n]
    /\ UNCHANGED arrived

\* Not in the protocol: a reset that hits who waits.
BreakRound(b) ==
    /\ ~ResetHarmless
    /\ ~broken[b]
    /\ arrived[b] # <<>>
    /\ arrived' = [arrived EXCEPT ![b] = <<>>]
    /\ UNCHANGED <<broken, undone>>

Reset(b, n) ==
    /\ Undo(b, n) \/ (n = 0 /\ BreakRound(b))
    /\ UNCHANGED <<status, generation, aborts, passed>>

-----------------------------------------------------------------------------
Next ==
    \/ \E r \in Ranks : Join(r) \/ Leave(r) \/ Crash(r) \/ Fence(r) \/ Timeout(r)
    \/ \E r \in Ranks, b \in Barriers, l \in Labels, c \in Rounds :
           Arrive(r, b, l, c) \/ Pass(r, b, l, c) \/ Mismatch(r, b, l, c)
    \/ \E r \in Ranks, b \in Barriers, c \in Rounds : Refuse(r, b, c)
    \/ \E b \in Barriers : Abort(b)
    \/ \E b \in Barriers, n \in 0 .. MaxAborts : Reset(b, n)

Spec == Init /\ [][Next]_vars
=============================================================================
