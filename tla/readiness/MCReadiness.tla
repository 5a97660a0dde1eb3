---------------------------- MODULE MCReadiness ---------------------------
(* What is claimed of Readiness. The configurations beside this file choose the bounds. *)
EXTENDS Readiness

TypeOK ==
    /\ status \in [All -> {"away", "live", "dead", "lost"}]
    /\ \A p \in All : /\ inc[p] \in 0 .. MaxInc
                      /\ stamps[p] \subseteq 1 .. inc[p]
                      /\ ghost[p] \in 0 .. inc[p]
                      /\ serves[p] \in {0, inc[p]}
    /\ said \in [All -> {"nothing", "starting", "ready", "failed"}]
    /\ stuck \in [All -> BOOLEAN]
    /\ \A w \in DOMAIN waits : waits[w] \in
           [by : Askers, mask : Masks, patient : Patience, outcome : {"open", "done", "failed", "late", "gone"}]

SaidIsSo == \A p \in Parts : status[p] = "live" /\ said[p] = "ready" => serves[p] = inc[p]

GoneIsNotReady == \A p \in All : ~Here(p) => said[p] = "nothing"

\* Parts that wait, of which each waits for another one of them.
WaitsFor(p, q) == \E w \in DOMAIN waits : waits[w].by = 1 + p /\ IsOpen(w) /\ In(Of(q), waits[w].mask)
NotReady == {p \in Parts : said[p] # "ready"}
NoCircle == \A ps \in SUBSET NotReady : ps # {} => \E p \in ps : \A q \in ps : ~WaitsFor(p, q)

-----------------------------------------------------------------------------
Becomes(w, how) == IsOpen(w) /\ waits'[w].outcome = how

\* A process may have died in the moment before: nobody can know that.
DoneIsReady ==
    [][\A w \in DOMAIN waits : Becomes(w, "done") =>
          \A p \in Awaited(w) : Here(p) /\ (serves[p] = inc[p] \/ status[p] = "dead")]_vars

DoneIsFresh ==
    [][\A w \in DOMAIN waits : Becomes(w, "done") => \A p \in Awaited(w) : inc[p] \in stamps[p]]_vars

Trouble(w) == \E p \in Awaited(w) : said[p] = "failed" \/ status[p] = "lost"

FailedIsTrue == [][\A w \in DOMAIN waits : Becomes(w, "failed") => waits[w].patient = 0 /\ Trouble(w)]_vars

EndStays == [][\A w \in DOMAIN waits : waits'[w] # waits[w] => IsOpen(w)]_vars

-----------------------------------------------------------------------------
(* Fairness: the host notices closed connections and does what follows. *)
Follows ==
    /\ \A p \in All : WF_vars(Fence(p)) /\ WF_vars(Stall(p)) /\ WF_vars(Recover(p))
    /\ \A w \in 1 .. MaxWaits : WF_vars(Complete(w)) /\ WF_vars(GiveUp(w))

FairSpec == Spec /\ Follows /\ \A w \in 1 .. MaxWaits : WF_vars(Expire(w))
UntimedSpec == Spec /\ Follows

WaitsEnd == \A w \in 1 .. MaxWaits : IsOpen(w) ~> ~IsOpen(w)

\* Without time limits, and where nobody comes back: who waits for a part that has failed or is gone is told.
TroubleTells == \A w \in 1 .. MaxWaits : IsOpen(w) /\ waits[w].patient = 0 /\ Trouble(w) ~> ~IsOpen(w)
=============================================================================
