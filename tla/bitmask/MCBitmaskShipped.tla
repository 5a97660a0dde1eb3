------------------------- MODULE MCBitmaskShipped -------------------------
(* What should hold of BitmaskShipped, and does only when the number is looked at again and nobody is killed. *)
EXTENDS BitmaskShipped

Range(s) == {s[i] : i \in DOMAIN s}
Increasing(s) == \A i \in 1 .. Len(s) - 1 : s[i] < s[i + 1]

TypeOK ==
    /\ lock \in Processes \cup {Nobody}
    /\ Range(tasks) \subseteq 1 .. calls
    /\ sync \in 0 .. Full
    /\ calls \in 0 .. MaxCalls /\ clears \in 0 .. MaxClears
    /\ alive \in [Processes -> BOOLEAN]
    /\ DOMAIN got = Ranks

\* P3.1, C01
ExactlyOnceInOrder == \A r \in Ranks : Increasing(got[r])

\* P3.4: what one rank has taken, the others have taken or still can take.
InStep == \A q, r \in Ranks : Range(got[q]) \subseteq Range(got[r]) \cup Range(tasks)

\* As kind as it can be: whoever asks again and again for the lock gets it, and every living rank goes on reading.
Fairness ==
    /\ \A p \in Producers : SF_vars(Acquire(p)) /\ WF_vars(ProducerStep(p))
    /\ \A r \in Ranks : SF_vars(GetAcquire(r)) /\ WF_vars(GetStep(r))
    /\ \A x \in Processes : WF_vars(Release(x))

FairSpec == Spec /\ Fairness

Putting == {"put", "put: look", "put: wait", "put: poll", "put again", "put: reset", "put: append"}
Clearing == {"clear", "clear: look", "clear: wait", "clear: poll", "clear again", "clear: reset", "clear: empty"}

\* P3.3
PutReturns == \A p \in Producers : (pc[p] \in Putting) ~> (pc[p] \notin Putting)

\* B09
ClearReturns == \A p \in Producers : (pc[p] \in Clearing) ~> (pc[p] \notin Clearing)
=============================================================================
