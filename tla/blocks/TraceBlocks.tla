---------------------------- MODULE TraceBlocks ----------------------------
(***************************************************************************)
(* Is a recorded run a behaviour of Blocks? The lists number their events  *)
(* inside the critical section, so a run is one sequence, and each event   *)
(* must be one action, with the state that was recorded.                   *)
(*                                                                         *)
(* TraceData is generated for each run of TLC:                             *)
(*   Traces   sequence of runs; an event is a tuple <<action, parameter,   *)
(*            second parameter, outcome, result, gen, phase, free, leases, *)
(*            tasks in flight>>; leases are sets of blocks, and a result   *)
(*            is a set of numbers; of a Handle the second parameter is 1   *)
(*            when its result says that ranks are at the task              *)
(*                                                                         *)
(* A run is accepted if its last event is explained. <<"AT", k, i>> says   *)
(* that run k is explained up to event i - 1.                              *)
(***************************************************************************)
EXTENDS MCBlocks, TraceData, TLC

VARIABLES
    k,      \* which run
    at      \* its next event

traceVars == <<k, at, vars>>

TraceInit == Init /\ k \in DOMAIN Traces /\ at = 1

Event == Traces[k][at]
Name == Event[1]
X == Event[2]
Y == Event[3]
Outcome == Event[4]
Found == Event[5]

\* The variables that were recorded after the action.
Post ==
    /\ gen' = Event[6]
    /\ phase' = Event[7]
    /\ free' = Event[8]
    /\ {l.ids : l \in {m \in leases' : m.gen = gen'}} = Event[9]
    /\ {t \in 1 .. Len(tasks') : tasks'[t].stage \notin Over} = Event[10]

Told == {t \in Numbers : tasks'[t].told # tasks[t].told}
New == leases' \ leases

Observed ==
    \/ Name = "Allocate" /\ Allocate(X, Y) /\ Ids(New) = Found
    \/ Name = "Free" /\ Free(X)
    \/ Name = "FreeStale" /\ FreeStale(X, Y)
    \/ Name = "Reserve" /\ Reserve(X, Y) /\ Found = {Len(tasks')}
    \/ Name = "Register" /\ Register(X)
    \/ Name = "Refuse" /\ Refuse(X) /\ Found = {IF Waits(X) THEN 1 ELSE 0}
    \/ Name = "Handle" /\ Handle(X) /\ tasks[X].out = Outcome /\ tasks[X].late = (Y = 1) /\ Found = {First(l.ids) : l \in New}
    \/ Name = "Settle" /\ Settle(X)
    \/ Name = "Cancel" /\ Cancel(X)
    \/ Name = "BeginReset" /\ BeginReset /\ Told = Found
    \/ Name = "Rebuild" /\ Rebuild
    \/ Name = "Lose" /\ Lose /\ Told = Found
    \/ Name = "Close" /\ Close /\ Told = Found

\* What the port and the ranks do is not recorded. It may be thought of as late as it is needed.
Unseen ==
    \/ Name = "Register" /\ Accept(X)
    \/ Name = "Handle" /\ Outcome = "cancelled" /\ Withdraw(X)
    \/ Name = "Handle" /\ Outcome \in {"ok", "failed"} /\ Pull(X)
    \/ Name = "Handle" /\ Outcome = "ok" /\ Succeed(X)
    \/ Name = "Handle" /\ Outcome = "failed" /\ (IF Y = 1 THEN Overrun(X) ELSE Fail(X))
    \/ Name = "Handle" /\ Receive(X)
    \/ Name = "Settle" /\ Quiet(X)

More == at <= Len(Traces[k])

TraceNext ==
    /\ More
    /\ UNCHANGED k
    /\ \/ Observed /\ Post /\ at' = at + 1
       \/ Unseen /\ UNCHANGED at

TraceSpec == TraceInit /\ [][TraceNext]_traceVars

\* Never false: it only tells how far each run is explained.
Progress == PrintT(<<"AT", k, at>>)
=============================================================================
