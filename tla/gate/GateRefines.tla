---------------------------- MODULE GateRefines ----------------------------
(***************************************************************************)
(* Gate collects answers: every step is a step of Answers, or changes      *)
(* nothing there. Gate forgets who had answered a request that is over;    *)
(* one history variable keeps it, and restricts nothing.                   *)
(***************************************************************************)
EXTENDS MCGate

VARIABLE given

refVars == <<vars, given>>

Requests == 1 .. MaxIssues

AnsweredNow(q) == {a.rank : a \in {b \in UNION {rounds'[i].answers : i \in DOMAIN rounds'} : b.issue = q}}

RefInit == Init /\ given = [q \in Requests |-> {}]
RefNext == Next /\ given' = [q \in Requests |-> given[q] \cup AnsweredNow(q)]
RefSpec == RefInit /\ [][RefNext]_refVars

Abstract == INSTANCE Answers WITH
    Parties <- Ranks,
    Open <- Capacity,
    fate <- [q \in Requests |-> IF q \in collected THEN "held" ELSE IF q \in ended THEN "off" ELSE "open"]

RefinesAnswers == Abstract!AnswersSpec

AllOrNothing == Abstract!AllOrNothing
=============================================================================
