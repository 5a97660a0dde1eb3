------------------------------ MODULE Answers ------------------------------
(***************************************************************************)
(* What it means to collect answers, whatever it is made of: a request is  *)
(* answered by each party at most once; it has one fate, held when all     *)
(* have answered and called off before that; nobody answers a request that *)
(* is over, and the answers to one request touch no other.                 *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets

CONSTANTS
    Parties,
    Requests,
    Open            \* requests that may be under way at once

VARIABLES
    given,          \* for each request, who has answered it
    fate            \* "open", "held" (all answers were taken together), "off"

answersVars == <<given, fate>>

UnderWay == {q \in Requests : given[q] # {} /\ fate[q] = "open"}

AnswersInit ==
    /\ given = [q \in Requests |-> {}]
    /\ fate = [q \in Requests |-> "open"]

Give(p, q) ==
    /\ fate[q] = "open"
    /\ p \notin given[q]
    /\ given[q] # {} \/ Cardinality(UnderWay) < Open
    /\ given' = [given EXCEPT ![q] = @ \cup {p}]
    /\ UNCHANGED fate

Hold(q) ==
    /\ fate[q] = "open"
    /\ given[q] = Parties
    /\ fate' = [fate EXCEPT ![q] = "held"]
    /\ UNCHANGED given

CallOff(q) ==
    /\ fate[q] = "open"
    /\ given[q] \notin {{}, Parties}
    /\ fate' = [fate EXCEPT ![q] = "off"]
    /\ UNCHANGED given

AnswersNext == \E q \in Requests : (\E p \in Parties : Give(p, q)) \/ Hold(q) \/ CallOff(q)

AnswersSpec == AnswersInit /\ [][AnswersNext]_answersVars

-----------------------------------------------------------------------------
TypeOK == given \in [Requests -> SUBSET Parties] /\ fate \in [Requests -> {"open", "held", "off"}]

AllOrNothing == \A q \in Requests : /\ fate[q] = "held" => given[q] = Parties
                                    /\ fate[q] = "off" => given[q] # Parties

Bounded == Cardinality(UnderWay) <= Open
=============================================================================
