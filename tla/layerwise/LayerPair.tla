----------------------------- MODULE LayerPair -----------------------------
(***************************************************************************)
(* The words through which a device tells how far it is, store by store    *)
(* and load by load. One report is three stores: the layer and the step    *)
(* into a word each, for readers that know only these, and both together   *)
(* into one aligned word of eight bytes. A reader takes that one.          *)
(*                                                                         *)
(* Report n is about layer (n - 1) % L of step First + (n - 1) \div L. The *)
(* writer may die between two stores; its successor goes on counting.      *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS
    L,          \* layers of a step
    Reports,    \* bound: reports in all
    Modulus,    \* steps are serial numbers modulo this
    First,      \* the first step
    Mortal,     \* may the writer die?
    Reader      \* "packed": ours. "plain": ours on words of a foreign writer. "shipped": the published steps.

CONSTANT LayerFirst

ASSUME /\ {L, Reports} \subseteq Nat \ {0}
       /\ First \in 0 .. Modulus - 1
       /\ Reports \div L + 2 < Modulus
       /\ Reader \in {"packed", "plain", "shipped"}
       /\ {Mortal, LayerFirst} \subseteq BOOLEAN

VARIABLES
    computed,   \* history: reports that were begun; their layers are computed
    words,      \* shared: step, layer, and packed = <<step, layer>>; before the first report -1, -1, <<-1, -1>>
    writing,    \* stores that the writer still has to make, in order
    loads,      \* loads that the reader still has to make, in order
    got,        \* what it has loaded in this read
    again,      \* is it in its second look?
    result      \* what the last read returned: <<step, layer>>

vars == <<computed, words, writing, loads, got, again, result>>

Step(n) == (First + (n - 1) \div L) % Modulus
Pair(n) == <<Step(n), (n - 1) % L>>
Nothing == <<-1, -1>>

Stores == IF LayerFirst THEN <<"layer", "step", "packed">> ELSE <<"step", "layer", "packed">>

Loads == CASE Reader = "packed" -> <<"packed">>
           [] Reader = "plain" -> <<"step", "layer">>
           [] Reader = "shipped" -> <<"layer", "step">>

Init ==
    /\ computed = 0
    /\ words = [step |-> -1, layer |-> -1, packed |-> Nothing]
    /\ writing = <<>>
    /\ loads = <<>>
    /\ got = Nothing
    /\ again = FALSE
    /\ result = Nothing

Compute ==
    /\ writing = <<>>
    /\ computed < Reports
    /\ computed' = computed + 1
    /\ writing' = Stores
    /\ UNCHANGED <<words, loads, got, again, result>>

Store ==
    /\ writing # <<>>
    /\ LET now == Pair(computed) IN
       words' = CASE Head(writing) = "step" -> [words EXCEPT !.step = now[1]]
                  [] Head(writing) = "layer" -> [words EXCEPT !.layer = now[2]]
                  [] Head(writing) = "packed" -> [words EXCEPT !.packed = now]
    /\ writing' = Tail(writing)
    /\ UNCHANGED <<computed, loads, got, again, result>>

Die ==
    /\ Mortal
    /\ writing # <<>>
    /\ writing' = <<>>
    /\ UNCHANGED <<computed, words, loads, got, again, result>>

Read ==
    /\ loads = <<>>
    /\ loads' = Loads
    /\ got' = Nothing
    /\ again' = FALSE
    /\ UNCHANGED <<computed, words, writing, result>>

Loaded ==
    CASE Head(loads) = "step" -> <<words.step, got[2]>>
      [] Head(loads) = "layer" -> <<got[1], words.layer>>
      [] Head(loads) = "packed" -> words.packed

\* The published reader looks twice when it saw the last layer; between the looks it sleeps a millisecond.
LooksAgain == Reader = "shipped" /\ ~again /\ Loaded[2] = L - 1

Load ==
    /\ loads # <<>>
    /\ got' = Loaded
    /\ IF Len(loads) > 1
       THEN loads' = Tail(loads) /\ UNCHANGED <<again, result>>
       ELSE IF LooksAgain
       THEN loads' = Loads /\ again' = TRUE /\ UNCHANGED result
       ELSE loads' = <<>> /\ result' = Loaded /\ UNCHANGED again
    /\ UNCHANGED <<computed, words, writing>>

Next == Compute \/ Store \/ Die \/ Read \/ Load

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
TypeOK ==
    /\ computed \in 0 .. Reports
    /\ words.step \in -1 .. Modulus - 1
    /\ words.layer \in -1 .. L - 1
    /\ Len(writing) <= 3 /\ Len(loads) <= 2

Later(a, b) == LET d == (a + Modulus - b) % Modulus IN d > 0 /\ 2 * d < Modulus

\* Is everything computed that the pair p says is?
IsComputed(p) ==
    \/ p[1] = -1 \/ p[2] = -1
    \/ computed > 0 /\ LET now == Pair(computed) IN Later(now[1], p[1]) \/ (now[1] = p[1] /\ p[2] <= now[2])

\* No read says of a layer that it is computed before it is.
NeverAhead == IsComputed(result)

\* What a read returns was reported as such: the pair is never put together from two reports.
OnePair == result = Nothing \/ \E n \in 1 .. computed : result = Pair(n)

\* Reads of one reader never go back.
NeverBack ==
    [][result # Nothing => result' = result \/ Later(result'[1], result[1])
                           \/ (result'[1] = result[1] /\ result'[2] > result[2])]_vars
=============================================================================
