--------------------------- MODULE TraceTransfer ---------------------------
(***************************************************************************)
(* Is a recorded run a behaviour of Transfer? The host numbers its events  *)
(* inside the critical section, so a run is one sequence, and each event   *)
(* must be one action, with the state that was recorded. The inside of the *)
(* ranks is not seen.                                                      *)
(*                                                                         *)
(* TraceData is generated for each run of TLC:                             *)
(*   Traces   sequence of runs; an event is a tuple <<action, who, kind or *)
(*            task, answered numbers, issued, queued numbers, started      *)
(*            tasks, votes, results, lost ranks, busy tasks, held tasks>>; *)
(*            a started task is <<number, ranks that did it, that failed,  *)
(*            without>>; results are pairs <<client, sequence of <<number, *)
(*            state>>>>; a busy task is <<number, ranks>>; held tasks are  *)
(*            pairs <<client, set of numbers>>                             *)
(*                                                                         *)
(* A run is accepted if its last event is explained. <<"AT", k, i>> says   *)
(* that run k is explained up to event i - 1.                              *)
(***************************************************************************)
EXTENDS MCTransfer, TraceData, TLC

VARIABLES
    k,      \* which run
    at      \* its next event

traceVars == <<k, at, vars>>

TraceInit == Init /\ k \in DOMAIN Traces /\ at = 1

Event == Traces[k][at]
Name == Event[1]
Who == Event[2]
What == Event[3]
Answer == Event[4]

QueuedNow == {n \in DOMAIN state' : state'[n] = "queued"}
StartedNow == {n \in DOMAIN state' : state'[n] = "started"}
Said(n, ok) == {a.rank : a \in {b \in reports'[n] : b.ok = ok}}
Posted(c) == [i \in DOMAIN results'[c] |-> <<results'[c][i], state'[results'[c][i]]>>]
Known == {owner'[n] : n \in DOMAIN owner'} \ gone'

\* The variables that the host recorded after the action.
PostState ==
    /\ Len(state') = Event[5]
    /\ InOrderOf(QueuedNow) = Event[6]
    /\ {<<n, Said(n, TRUE), Said(n, FALSE), without'[n]>> : n \in StartedNow} = Event[7]
    /\ \A r \in Ranks : vote'[r] = Event[8][r + 1]
    /\ {<<c, Posted(c)>> : c \in Known} = Event[9]
    /\ {r \in Ranks : status'[r] = "lost"} = Event[10]
    /\ {<<n, busy'[n]>> : n \in {m \in DOMAIN busy' : busy'[m] # {}}} = Event[11]
    /\ {<<c, held'[c]>> : c \in Known} = Event[12]

\* The tasks that the action takes from the queue, in order.
Taken == InOrderOf({n \in Queued : state'[n] # "queued"})

Observed ==
    \/ Name = "Join" /\ Join(Who)
    \/ Name = "Leave" /\ Leave(Who)
    \/ Name = "Fence" /\ Fence(Who)
    \/ Name = "Vanish" /\ Vanish(Who)
    \/ Name = "Reappear" /\ Reappear(Who)
    \/ Name = "Issue" /\ Who \in Clients /\ What \in 1 .. Kinds /\ Issue(Who, What) /\ <<Len(state')>> = Answer
    \/ Name = "Withdraw" /\ Who \in Clients /\ Withdraw(Who) /\ Taken = Answer
    \/ Name = "Clear" /\ Clear /\ Taken = Answer
    \/ Name = "Abandon" /\ What \in Numbers /\ Abandon(What)
    \/ Name = "HandOut" /\ Who \in Clients /\ HandOut(Who) /\ <<hand'[Who]>> = Answer
    \/ Name = "Acknowledge" /\ Who \in Clients /\ Acknowledge(Who)
    \/ Name = "Settled" /\ Who \in Clients /\ What \in Numbers /\ Settled(Who, What)
    \/ Name = "Gone" /\ Who \in Clients /\ Gone(Who)
    \/ Name = "Accept" /\ Accept(Who)
    \/ Name = "Refuse" /\ Refuse(Who)
    \/ Name = "Return" /\ Return(Who)
    \/ Name = "BackOff" /\ BackOff(Who)
    \/ Name = "Start" /\ Start /\ Taken = Answer
    \/ Name = "ReportOk" /\ ReportOk(Who, What)
    \/ Name = "ReportFailed" /\ ReportFailed(Who, What)
    \/ Name = "Overdue" /\ Overdue(Who, What)
    \/ Name = "Settle" /\ Settle(Who, What)

\* A host cannot see a process die, only that its connection closed: the death is allowed directly before that.
Unseen == Name = "Fence" /\ Crash(Who)

More == at <= Len(Traces[k])

TraceNext ==
    /\ More
    /\ UNCHANGED k
    /\ \/ Observed /\ PostState /\ at' = at + 1
       \/ Unseen /\ UNCHANGED at

TraceSpec == TraceInit /\ [][TraceNext]_traceVars

\* Never false: it only tells how far each run is explained.
Progress == PrintT(<<"AT", k, at>>)
=============================================================================
