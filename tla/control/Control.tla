------------------------------ MODULE Control ------------------------------
(***************************************************************************)
(* One request to all N ranks, and their combined answer. One public call  *)
(* is one action, because the host runs it in one critical section. The    *)
(* contract is spec/control.toml: same names, same shapes.                 *)
(*                                                                         *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents, and the property that   *)
(* the contract names for it fails: MCControl_bug_<guard>.cfg.             *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    N,              \* number of ranks
    MaxAsked,       \* bound: requests
    Capacity,       \* most requests that are open at once
    Leavers,        \* ranks that may leave
    Mortal,         \* ranks that may crash
    Silent          \* ranks whose process may end before its first take

CONSTANTS Keyed, LateRefused, SkipsEnded, FenceDooms, TimeoutEnds

Ranks == 0 .. N - 1
Guards == <<Keyed, LateRefused, SkipsEnded, FenceDooms, TimeoutEnds>>

ASSUME /\ {N, Capacity} \subseteq Nat \ {0}
       /\ MaxAsked \in Nat
       /\ Leavers \cup Mortal \cup Silent \subseteq Ranks
       /\ \A i \in DOMAIN Guards : Guards[i] \in BOOLEAN

VARIABLES
    asked,          \* number of requests so far
    state,          \* of each request
    answers,        \* to each request, with the request that was meant
    without,        \* ranks that will not answer it
    status,         \* life of each rank
    served,         \* the latest request that each rank has taken
    doing           \* the one that it has taken and not answered; 0 is none

vars == <<asked, state, answers, without, status, served, doing>>
requests == <<asked, state, answers, without>>

Init ==
    /\ asked = 0
    /\ state = <<>>
    /\ answers = <<>>
    /\ without = <<>>
    /\ status = [r \in Ranks |-> "away"]
    /\ served = [r \in Ranks |-> 0]
    /\ doing = [r \in Ranks |-> 0]

Numbers == 1 .. asked
Open(n) == state[n] = "open"
Answered(n) == {a.rank : a \in answers[n]}

\* Ranks that may still answer.
Awaited(n) == Ranks \ (Answered(n) \cup without[n])

-----------------------------------------------------------------------------
(* Life of the ranks. *)

Join(r) ==
    /\ status[r] \in {"away", "lost"}
    /\ status' = [status EXCEPT ![r] = "live"]
    /\ UNCHANGED <<requests, served, doing>>

Leave(r) ==
    /\ status[r] = "live"
    /\ r \in Leavers
    /\ status' = [status EXCEPT ![r] = "away"]
    /\ without' = [n \in Numbers |-> IF n = doing[r] /\ Open(n) THEN without[n] \cup {r} ELSE without[n]]
    /\ doing' = [doing EXCEPT ![r] = 0]
    /\ UNCHANGED <<asked, state, answers, served>>

\* The process is gone. The host cannot see it yet.
Crash(r) ==
    /\ status[r] = "live"
    /\ r \in Mortal
    /\ status' = [status EXCEPT ![r] = "dead"]
    /\ UNCHANGED <<requests, served, doing>>

\* What is open will not be answered by the rank.
Doom(r) == without' = [n \in Numbers |->
    IF FenceDooms /\ Open(n) /\ r \notin Answered(n) THEN without[n] \cup {r} ELSE without[n]]

Fence(r) ==
    /\ status[r] = "dead"
    /\ status' = [status EXCEPT ![r] = "lost"]
    /\ Doom(r)
    /\ doing' = [doing EXCEPT ![r] = 0]
    /\ UNCHANGED <<asked, state, answers, served>>

\* The process is gone, and had not taken anything here.
Vanish(r) ==
    /\ status[r] = "away"
    /\ r \in Silent
    /\ status' = [status EXCEPT ![r] = "lost"]
    /\ Doom(r)
    /\ UNCHANGED <<asked, state, answers, served, doing>>

\* A process acts for the rank again.
Reappear(r) ==
    /\ status[r] = "lost"
    /\ status' = [status EXCEPT ![r] = "away"]
    /\ UNCHANGED <<requests, served, doing>>

-----------------------------------------------------------------------------
(* Requests. *)

Ask ==
    /\ asked < MaxAsked
    /\ Cardinality({n \in Numbers : Open(n)}) < Capacity
    /\ asked' = asked + 1
    /\ state' = Append(state, "open")
    /\ answers' = Append(answers, {})
    /\ without' = Append(without, IF FenceDooms THEN {r \in Ranks : status[r] = "lost"} ELSE {})
    /\ UNCHANGED <<status, served, doing>>

Waiting(r) == {n \in Numbers : n > served[r] /\ r \notin without[n] /\ (SkipsEnded => Open(n))}
First(numbers) == CHOOSE n \in numbers : \A m \in numbers : n <= m

Take(r) ==
    /\ status[r] = "live"
    /\ doing[r] = 0
    /\ Waiting(r) # {}
    /\ doing' = [doing EXCEPT ![r] = First(Waiting(r))]
    /\ served' = [served EXCEPT ![r] = First(Waiting(r))]
    /\ UNCHANGED <<requests, status>>

\* Where the answer of a rank goes.
Target(r) ==
    LET lacking == {n \in Numbers : Open(n) /\ r \notin Answered(n) \cup without[n]}
    IN IF Keyed \/ lacking = {} THEN doing[r] ELSE First(lacking)

Answer(r) ==
    /\ status[r] \in {"live", "dead"}
    /\ doing[r] > 0
    /\ LET n == Target(r)
       IN /\ LateRefused => Open(n)
          /\ r \notin without[n]
          /\ answers' = [answers EXCEPT ![n] = @ \cup {[rank |-> r, meant |-> doing[r]]}]
    /\ doing' = [doing EXCEPT ![r] = 0]
    /\ UNCHANGED <<asked, state, without, status, served>>

RefuseLate(r) ==
    /\ status[r] \in {"live", "dead"}
    /\ doing[r] > 0
    /\ ~Open(Target(r))
    /\ LateRefused
    /\ doing' = [doing EXCEPT ![r] = 0]
    /\ UNCHANGED <<requests, status, served>>

\* A conjunction, so that TLC labels the step with the name of the action and not with End.
End(n, how) ==
    /\ n \in Numbers
    /\ Open(n)
    /\ state' = [state EXCEPT ![n] = how]
    /\ UNCHANGED <<asked, answers, without, status, served, doing>>

Collect(n) == End(n, "done") /\ Answered(n) = Ranks
EndLost(n) == End(n, "lost") /\ Awaited(n) = {} /\ without[n] # {}
EndTimeout(n) == TimeoutEnds /\ End(n, "late") /\ Awaited(n) # {}
Withdraw(n) == n \in Numbers /\ End(n, "withdrawn")

-----------------------------------------------------------------------------
Next ==
    \/ \E r \in Ranks : Join(r)
    \/ \E r \in Ranks : Leave(r)
    \/ \E r \in Ranks : Crash(r)
    \/ \E r \in Ranks : Fence(r)
    \/ \E r \in Ranks : Vanish(r)
    \/ \E r \in Ranks : Reappear(r)
    \/ Ask
    \/ \E r \in Ranks : Take(r)
    \/ \E r \in Ranks : Answer(r)
    \/ \E r \in Ranks : RefuseLate(r)
    \/ \E n \in 1 .. MaxAsked : Collect(n)
    \/ \E n \in 1 .. MaxAsked : EndLost(n)
    \/ \E n \in 1 .. MaxAsked : EndTimeout(n)
    \/ \E n \in 1 .. MaxAsked : Withdraw(n)

Spec == Init /\ [][Next]_vars
=============================================================================
