---------------------------- MODULE MCLayerwise ----------------------------
(* What is claimed of Layerwise. The configurations beside this file choose the bounds. *)
EXTENDS Layerwise

Range(s) == {s[i] : i \in DOMAIN s}
Steps == 0 .. Modulus - 1

TypeOK ==
    /\ computed \in [Ranks -> [Tasks -> 0 .. L]]
    /\ ended \in [Ranks -> SUBSET Aborted]
    /\ given \in [Ranks -> 0 .. Infos]
    /\ DOMAIN tasks = Ranks /\ \A r \in Ranks :
          Range(tasks[r]) \subseteq [task : Tasks \ Lost, sent : 0 .. L, ready : 0 .. L, failed : BOOLEAN]
    /\ DOMAIN early = Ranks /\ \A r \in Ranks :
          DOMAIN early[r] = Slots /\ Range(early[r]) \subseteq {<<>>} \cup (Steps \X (0 .. L - 1))
    /\ seen \in [Ranks -> [Slots -> {-1} \cup Steps]]
    /\ gone \in [Ranks -> [Slots -> SUBSET Steps]]
    /\ told \in [Ranks -> SUBSET Tasks]
    /\ DOMAIN done = Ranks /\ \A r \in Ranks : 
          Range(done[r]) \subseteq [task : Tasks \ Lost, sent : 0 .. L, failed : BOOLEAN]

\* Nothing is sent, or taken for ready, that the device has not computed.
NeverUncomputed ==
    \A r \in Ranks :
        /\ \A x \in Range(tasks[r]) : x.sent <= x.ready /\ x.ready <= computed[r][x.task]
        /\ \A x \in Range(done[r]) : x.sent <= computed[r][x.task] /\ (x.failed \/ x.sent = L)

InTable(r) == [i \in DOMAIN tasks[r] |-> tasks[r][i].task]
Finished(r) == [i \in DOMAIN done[r] |-> done[r][i].task]

\* Tasks are finished in the order of their infos, each once.
InOrder == \A r \in Ranks : Finished(r) \o InTable(r) = [i \in 1 .. given[r] |-> InfoNumber(i)]

\* The ranks make the same collective calls, whatever happens on one of them alone.
SameCollectives ==
    \A r, q \in Ranks : \A i \in DOMAIN done[r] \cap DOMAIN done[q] : done[r][i].task = done[q][i].task

\* Kept progress is about a task that is not over, and whose info has not come.
NoLeftover ==
    \A r \in Ranks, s \in Slots : early[r][s] # <<>> =>
        LET t == TaskOf(early[r][s][1]) IN
        /\ t \notin ended[r] \cup told[r]
        /\ t \notin Range(InTable(r)) \cup Range(Finished(r))

\* A task whose info was called missing, or that was ended before its info came, is not finished as if nothing had been.
OneFate ==
    \A r \in Ranks :
        /\ \A x \in Range(tasks[r]) : x.task \in told[r] => x.failed
        /\ \A x \in Range(done[r]) : x.task \in told[r] => x.failed

Bounded == \A r \in Ranks : Len(tasks[r]) <= Capacity

-----------------------------------------------------------------------------
\* What was sent stays sent: a layer is sent once, and in order.
NoLayerTwice ==
    [][\A r \in Ranks : \A x \in Range(tasks[r]), y \in Range(tasks'[r]) : x.task = y.task => x.sent <= y.sent]_vars

\* Early progress is replaced by later progress, and leaves when its task is known or over; never otherwise.
EarlyKept ==
    [][\A r \in Ranks, s \in Slots : LET e == early[r][s] IN
        \/ e = <<>>
        \/ early'[r][s] = e
        \/ early'[r][s] # <<>> /\ Newer(early'[r][s], e)
        \/ early'[r][s] = <<>> /\ (TaskOf(e[1]) \in ended'[r] \cup told'[r] \cup Range(InTable(r)'))]_vars

\* A task fails by itself: no step about one task makes another one fail.
FailsAlone ==
    [][\A r \in Ranks : \A y \in Range(tasks'[r]) :
        (y.failed /\ \A x \in Range(tasks[r]) : x.task = y.task => ~x.failed) =>
            \/ ExpireTask(r, y.task)
            \/ y.task \in ended'[r] \cup told[r]]_vars

-----------------------------------------------------------------------------
(***************************************************************************)
(* Fairness. The sender goes on, infos that are there are taken, and the   *)
(* device goes on (ComputeSpec), or time limits pass in the end            *)
(* (TimedSpec): nobody has to compute anything there.                      *)
(***************************************************************************)
Sending == \A r \in Ranks : WF_vars(NextReady(r)) /\ WF_vars(NextDone(r)) /\ WF_vars(OnCacheInfo(r))

News(r, t) == \E layer \in 0 .. L - 1 : layer >= computed[r][t] /\ OnProgress(r, t, layer)

Computing == \A r \in Ranks, t \in Tasks : WF_vars(News(r, t))

Timing == \A r \in Ranks : (\A t \in Tasks : WF_vars(ExpireTask(r, t))) /\ (\A s \in Slots : WF_vars(ExpireEarly(r, s)))

ComputeSpec == Spec /\ Sending /\ Computing
TimedSpec == Spec /\ Sending /\ Timing

\* Every computed layer of a task with an info is sent.
EveryLayerSent == \A r \in Ranks, t \in Tasks \ Lost : 
    computed[r][t] = L ~> [task |-> t, sent |-> L, failed |-> FALSE] \in Range(done[r])

\* Every task in the table is finished, sent or failed: also when others wait for what never comes.
OthersGoOn == \A r \in Ranks, t \in Tasks \ Lost : t \in Range(InTable(r)) ~> t \in Range(Finished(r))

\* Early progress does not wait for an info without an end.
EarlyEnds ==
    \A r \in Ranks, s \in Slots, t \in Tasks :
        (early[r][s] # <<>> /\ early[r][s][1] = Step(t)) ~> ~(early[r][s] # <<>> /\ early[r][s][1] = Step(t))
=============================================================================
