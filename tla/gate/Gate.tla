-------------------------------- MODULE Gate --------------------------------
(***************************************************************************)
(* The answers of N ranks to a request are collected together. A round is  *)
(* known by the key of its request; a key may come again when its request  *)
(* is over. One public call is one action, because the host runs it in one *)
(* critical section. The contract is spec/gate.toml: same names and shapes.*)
(*                                                                         *)
(* Which request a rank means is not seen by the host, only the key: the   *)
(* number of the request in an answer is history.                          *)
(*                                                                         *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents, and the property that   *)
(* the contract names for it fails: MCGate_bug_<guard>.cfg.                *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
    N,                  \* number of ranks
    K,                  \* number of keys
    Capacity,           \* rounds that may be open at once
    MaxLate,            \* answers that a rank may owe to ended rounds
    MaxIssues,          \* bound: requests in all
    Overlap,            \* may a key be asked again while its last request is not over?
    Skippers,           \* ranks that may pass over a request
    Leavers,            \* ranks that may leave
    Mortal,             \* ranks that may crash
    Silent              \* ranks whose process may end before it has ever answered

CONSTANTS KeyedRounds, OnePerRank, LateRefused, FenceDooms, FenceForgets, OpenFences, VanishLost, TimeoutEnds, PassesPending

Ranks == 0 .. N - 1
Keys == 1 .. K
Guards == <<KeyedRounds, OnePerRank, LateRefused, FenceDooms, FenceForgets, OpenFences, VanishLost, TimeoutEnds,
            PassesPending>>

ASSUME /\ {N, K, Capacity, MaxLate} \subseteq Nat \ {0}
       /\ MaxIssues \in Nat
       /\ Overlap \in BOOLEAN
       /\ Skippers \cup Leavers \cup Mortal \cup Silent \subseteq Ranks
       /\ \A i \in DOMAIN Guards : Guards[i] \in BOOLEAN

VARIABLES
    issued,     \* the key of each request
    todo,       \* the requests that each rank has before it
    status,     \* life of each rank's answering handle
    rounds,     \* open rounds, in the order of their first answers
    late,       \* what each rank owes to rounds that ended without it
    collected,  \* history: requests with an answer in a collected round
    ended       \* history: requests with an answer in a round that ended

vars == <<issued, todo, status, rounds, late, collected, ended>>

Least(S) == CHOOSE i \in S : \A j \in S : i <= j
Range(s) == {s[i] : i \in DOMAIN s}
Drop(s, i) == SubSeq(s, 1, i - 1) \o SubSeq(s, i + 1, Len(s))
Lost == {r \in Ranks : status[r] = "lost"}

Answered(x) == {a.rank : a \in x.answers}
Issues(x) == {a.issue : a \in x.answers}
Complete(x) == IF OnePerRank THEN Answered(x) = Ranks ELSE Cardinality(x.answers) >= N
Settled(x) == Complete(x) \/ x.without # {}

Init ==
    /\ issued = <<>>
    /\ todo = [r \in Ranks |-> {}]
    /\ status = [r \in Ranks |-> "away"]
    /\ rounds = <<>>
    /\ late = [r \in Ranks |-> <<>>]
    /\ collected = {}
    /\ ended = {}

-----------------------------------------------------------------------------
(* Requests. They reach the ranks by another protocol. *)

IsOver(i) == i \in collected \cup ended

Issue(k) ==
    /\ Len(issued) < MaxIssues
    /\ Overlap \/ \A i \in DOMAIN issued : issued[i] = k => IsOver(i)
    /\ issued' = Append(issued, k)
    /\ todo' = [r \in Ranks |-> IF status[r] = "lost" THEN todo[r] ELSE todo[r] \cup {Len(issued) + 1}]
    /\ UNCHANGED <<status, rounds, late, collected, ended>>

\* A rank answers the requests of one key in their order.
IsNext(r, i) == i \in todo[r] /\ \A j \in todo[r] : issued[j] = issued[i] => i <= j

Skip(r, i) ==
    /\ r \in Skippers
    /\ status[r] = "live"
    /\ IsNext(r, i)
    /\ todo' = [todo EXCEPT ![r] = @ \ {i}]
    /\ UNCHANGED <<issued, status, rounds, late, collected, ended>>

-----------------------------------------------------------------------------
(* Life of the ranks. *)

Join(r) ==
    /\ status[r] \in {"away", "lost"}
    /\ status' = [status EXCEPT ![r] = "live"]
    /\ UNCHANGED <<issued, todo, rounds, late, collected, ended>>

Leave(r) ==
    /\ status[r] = "live"
    /\ r \in Leavers
    /\ status' = [status EXCEPT ![r] = "away"]
    /\ UNCHANGED <<issued, todo, rounds, late, collected, ended>>

\* The process is gone. The host cannot see it yet.
Crash(r) ==
    /\ status[r] = "live"
    /\ r \in Mortal
    /\ status' = [status EXCEPT ![r] = "dead"]
    /\ UNCHANGED <<issued, todo, rounds, late, collected, ended>>

\* What the process of the rank has not answered it never will.
Lose(r) ==
    /\ status' = [status EXCEPT ![r] = "lost"]
    /\ rounds' = [i \in DOMAIN rounds |->
                    IF FenceDooms /\ r \notin Answered(rounds[i])
                    THEN [rounds[i] EXCEPT !.without = @ \cup {r}]
                    ELSE rounds[i]]
    /\ late' = IF FenceForgets THEN [late EXCEPT ![r] = <<>>] ELSE late

\* The host sees the rank's connection closed.
Fence(r) ==
    /\ status[r] \in {"dead", "heir"}
    /\ Lose(r)
    /\ todo' = [todo EXCEPT ![r] = {}]
    /\ UNCHANGED <<issued, collected, ended>>

\* The process of a rank ends that has not answered yet, and that the host knows from elsewhere.
Vanish(r) ==
    /\ status[r] = "away"
    /\ r \in Silent
    /\ IF VanishLost THEN Lose(r) ELSE UNCHANGED <<status, rounds, late>>
    /\ todo' = [todo EXCEPT ![r] = {}]
    /\ UNCHANGED <<issued, collected, ended>>

\* A handle opens that may answer for the rank. If the host has not noticed the end of the process before it, it does
\* now, by Fence. Without that ("heir"), the Fence comes later, and is held against the handle that is open.
Reappear(r) ==
    /\ \/ status[r] = "lost" /\ status' = [status EXCEPT ![r] = "away"]
       \/ ~OpenFences /\ status[r] = "dead" /\ status' = [status EXCEPT ![r] = "heir"]
    /\ UNCHANGED <<issued, todo, rounds, late, collected, ended>>

-----------------------------------------------------------------------------
(* An answer. A dead rank may be served: its call had arrived. *)

MayAnswer(r) == status[r] \in {"live", "dead"}

Fits(r, k, i) ==
    /\ rounds[i].key = k \/ ~KeyedRounds
    /\ ~Complete(rounds[i])
    /\ r \notin Answered(rounds[i]) \/ ~OnePerRank
    /\ r \notin rounds[i].without

\* The answer of rank r to request i, for which the host knows the key k. If r has answered the open round of k, it waits.
Put(r, k, i) ==
    LET fits == {j \in DOMAIN rounds : Fits(r, k, j)}
        answer == [rank |-> r, issue |-> i]
    IN  IF fits # {}
        THEN rounds' = [rounds EXCEPT ![Least(fits)].answers = @ \cup {answer}]
        ELSE /\ \A j \in DOMAIN rounds : rounds[j].key # k \/ ~KeyedRounds
             /\ Len(rounds) < Capacity
             /\ rounds' = Append(rounds, [key |-> k, answers |-> {answer}, without |-> IF FenceDooms THEN Lost ELSE {}])

IsLate(r, k) == LateRefused /\ k \in Range(late[r])

PutAnswer(r, i) ==
    /\ MayAnswer(r)
    /\ IsNext(r, i)
    /\ ~IsLate(r, issued[i])
    /\ Put(r, issued[i], i)
    /\ todo' = [todo EXCEPT ![r] = @ \ {i}]
    /\ UNCHANGED <<issued, status, late, collected, ended>>

\* A round with this key ended without the rank. If that was another request, the rank knows it, and puts again.
Refuse(r, k) == late' = [late EXCEPT ![r] = Drop(@, Least({j \in DOMAIN @ : @[j] = k}))]

RefuseLate(r, i) ==
    /\ MayAnswer(r)
    /\ IsNext(r, i)
    /\ IsLate(r, issued[i])
    /\ Refuse(r, issued[i])
    /\ todo' = IF i \in ended THEN [todo EXCEPT ![r] = @ \ {i}] ELSE todo
    /\ UNCHANGED <<issued, status, rounds, collected, ended>>

-----------------------------------------------------------------------------
(* The engine takes the oldest round that is settled; a round that waits for answers does not hold up later ones. *)

Settlements == {i \in DOMAIN rounds : Settled(rounds[i]) /\ (i = 1 \/ PassesPending)}

Collect ==
    /\ Settlements # {}
    /\ LET i == Least(Settlements) IN
        /\ Complete(rounds[i])
        /\ rounds' = Drop(rounds, i)
        /\ collected' = collected \cup Issues(rounds[i])
    /\ UNCHANGED <<issued, todo, status, late, ended>>

Newest(s) == IF Len(s) > MaxLate THEN Tail(s) ELSE s

\* A round ends. The ranks that have not answered it, and still may, will be too late.
End(i) ==
    /\ rounds' = Drop(rounds, i)
    /\ ended' = ended \cup Issues(rounds[i])
    /\ late' = [r \in Ranks |-> IF r \in Answered(rounds[i]) \cup rounds[i].without
                                THEN late[r]
                                ELSE Newest(Append(late[r], rounds[i].key))]
    /\ UNCHANGED <<issued, todo, status, collected>>

EndLost ==
    /\ Settlements # {}
    /\ ~Complete(rounds[Least(Settlements)])
    /\ End(Least(Settlements))

\* The oldest round is the first one whose time limit passes.
EndTimeout ==
    /\ TimeoutEnds
    /\ rounds # <<>>
    /\ ~Settled(rounds[1])
    /\ End(1)

-----------------------------------------------------------------------------
Next ==
    \/ \E k \in Keys : Issue(k)
    \/ \E r \in Ranks, i \in 1 .. MaxIssues : Skip(r, i) \/ PutAnswer(r, i) \/ RefuseLate(r, i)
    \/ \E r \in Ranks : Join(r) \/ Leave(r) \/ Crash(r) \/ Fence(r) \/ Vanish(r) \/ Reappear(r)
    \/ Collect \/ EndLost \/ EndTimeout

Spec == Init /\ [][Next]_vars
=============================================================================
