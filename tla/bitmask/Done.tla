-------------------------------- MODULE Done --------------------------------
(***************************************************************************)
(* The done queue beside the transfer tasks. Results are numbered by their *)
(* posting, and each is handed to one taker. A taker has handled what it   *)
(* took when it asks again, or when it goes. "Empty" is asked by those who *)
(* are about to drop the records that the results are for, so it means     *)
(* that every result was handled, not that the list is empty.              *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
    Takers,         \* handles that take
    MaxDone,        \* bound: results in all
    Most,           \* results that one call may take
    CountsInHand    \* TRUE in the protocol; FALSE: "empty" looks at the list only

ASSUME MaxDone \in Nat /\ Most \in Nat \ {0} /\ CountsInHand \in BOOLEAN

VARIABLES
    results,    \* posted and not taken, oldest first
    inHand,     \* what each taker took last and has not come back from
    handled     \* history: what takers came back from, as a set

vars == <<results, inHand, handled>>

Elements(s) == {s[i] : i \in DOMAIN s}
Held == UNION {Elements(inHand[t]) : t \in Takers}
Known == Elements(results) \cup Held \cup handled
Posted == IF Known = {} THEN 0 ELSE CHOOSE n \in Known : \A m \in Known : m <= n
Least(a, b) == IF a < b THEN a ELSE b

Empty == results = <<>> /\ (CountsInHand => \A t \in Takers : inHand[t] = <<>>)

Init == results = <<>> /\ inHand = [t \in Takers |-> <<>>] /\ handled = {}

Post ==
    /\ Posted < MaxDone
    /\ results' = Append(results, Posted + 1)
    /\ UNCHANGED <<inHand, handled>>

\* Also with nothing to take: the taker has come back.
Take(t, most) ==
    LET count == Least(most, Len(results))
    IN /\ handled' = handled \cup Elements(inHand[t])
       /\ inHand' = [inHand EXCEPT ![t] = SubSeq(results, 1, count)]
       /\ results' = SubSeq(results, count + 1, Len(results))

\* A taker closes, or its process ends: nobody handles what it had any more.
Gone(t) ==
    /\ inHand[t] # <<>>
    /\ handled' = handled \cup Elements(inHand[t])
    /\ inHand' = [inHand EXCEPT ![t] = <<>>]
    /\ UNCHANGED results

Next == Post \/ \E t \in Takers : Gone(t) \/ \E most \in 1 .. Most : Take(t, most)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
TypeOK ==
    /\ Elements(results) \cup handled \subseteq 1 .. MaxDone
    /\ \A t \in Takers : Len(inHand[t]) <= Most

\* Every posted result is in exactly one place, and they are handed out in order.
OnePlace ==
    /\ Known = 1 .. Posted
    /\ Elements(results) \cap (Held \cup handled) = {}
    /\ Held \cap handled = {}
    /\ \A t, u \in Takers : t # u => Elements(inHand[t]) \cap Elements(inHand[u]) = {}
    /\ \A n \in Held \cup handled, i \in DOMAIN results : n < results[i]
    /\ \A i \in 1 .. Len(results) - 1 : results[i] < results[i + 1]

\* B11
EmptyMeansHandled == Empty => handled = 1 .. Posted

FairSpec == Spec /\ \A t \in Takers : WF_vars(\E most \in 1 .. Most : Take(t, most))

\* With takers that come back, every result is handled.
GetsHandled == \A n \in 1 .. MaxDone : (n \in Known) ~> (n \in handled)
=============================================================================
