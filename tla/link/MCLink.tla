------------------------------- MODULE MCLink -------------------------------
(* What is claimed of Link. The configurations beside this file choose the bounds. *)
EXTENDS Link

Requests == [number : 0 .. Calls, open : SUBSET All, top : 0 .. Calls]

TypeOK ==
    /\ client \in {"up", "closed", "lost", "fenced", "dead"}
    /\ calls \in [All -> {"none", "open", "answered", "lost", "fenced"}]
    /\ wire \subseteq Requests
    /\ late \subseteq Requests
    /\ back \subseteq 0 .. Calls
    /\ serving \in BOOLEAN
    /\ session \in {"new", "open", "closed", "fenced"}
    /\ top \in 0 .. Calls
    /\ known \in [All -> {"none", "new", "running", "done"}]
    /\ ran \in [All -> Nat]
    /\ losses \in 0 .. MaxLosses

\* No call takes effect twice, however often it was sent.
AtMostOnce == \A n \in All : ran[n] <= 1

\* A call that has an answer has taken effect.
AnsweredRan == \A n \in All : calls[n] = "answered" => ran[n] = 1

\* What the host keeps of a session is bounded.
Bounded == Cardinality({n \in All : known[n] # "none"}) <= Window

-----------------------------------------------------------------------------
\* A session that has ended stays ended.
EndedStays == [][session \notin {"closed", "fenced"} \/ session' = session]_vars

\* Nothing takes effect for a session that has ended.
NothingAfterTheEnd == [][ran' # ran => session = "open"]_vars

\* The end of a call is its only one.
CallsStay == [][\A n \in All : calls[n] \notin {"none", "open"} => calls'[n] = calls[n]]_vars

-----------------------------------------------------------------------------
(* Fairness: what is sent again arrives in the end, calls come to an end, limits are looked at. *)

Arrive(n) == \E request \in wire \cup late :
    /\ request.number = n
    /\ BeginOf(request) \/ RepeatOf(request) \/ StaleOf(request) \/ RefuseOf(request) \/ DepartOf(request)
FenceGone == client # "up" /\ Fence

FairSpec ==
    /\ Spec
    /\ \A n \in All : WF_vars(Resend(n)) /\ WF_vars(Receive(n)) /\ WF_vars(Finish(n))
    /\ \A n \in 0 .. Calls : WF_vars(Arrive(n))
    /\ WF_vars(Hear) /\ WF_vars(GiveUp) /\ WF_vars(FenceGone)

Waits(n) == client = "up" /\ calls[n] = "open"
CallEnds == \A n \in All : Waits(n) ~> ~Waits(n)

Held == client # "up" /\ session = "open" /\ serving
GoneIsFenced == Held ~> ~Held
=============================================================================
