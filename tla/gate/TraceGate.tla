----------------------------- MODULE TraceGate -----------------------------
(***************************************************************************)
(* Is a recorded run a behaviour of Gate? The host numbers its events      *)
(* inside the critical section, so a run is one sequence, and each event   *)
(* must be one action, with the result and the state that were recorded.   *)
(* Nobody has seen the requests: a rank may answer any key at any time.    *)
(*                                                                         *)
(* TraceData is generated for each run of TLC:                             *)
(*   Traces   sequence of runs; an event is a tuple <<action, rank, key,   *)
(*            result, open rounds as <<key, answered, without>>, how many  *)
(*            answers each rank owes>>                                     *)
(*                                                                         *)
(* A run is accepted if its last event is explained. <<"AT", k, i>> says   *)
(* that run k is explained up to event i - 1.                              *)
(***************************************************************************)
EXTENDS MCGate, TraceData, TLC

VARIABLES
    k,      \* which run
    at      \* its next event

traceVars == <<k, at, vars>>

TraceInit == Init /\ k \in DOMAIN Traces /\ at = 1

Event == Traces[k][at]
Name == Event[1]
Who == Event[2]
Key == Event[3]
Found == Event[4]

\* The variables that the host recorded after the action.
Post == /\ [i \in DOMAIN rounds' |-> <<rounds'[i].key, Answered(rounds'[i]), rounds'[i].without>>] = Event[5]
        /\ [i \in 1 .. N |-> Len(late'[i - 1])] = Event[6]

\* An answer to the key, whatever request was meant.
Answer(r) ==
    /\ MayAnswer(r)
    /\ ~IsLate(r, Key)
    /\ Put(r, Key, 0)
    /\ Found = <<\E i \in DOMAIN rounds' : rounds'[i].key = Key /\ Complete(rounds'[i])>>
    /\ UNCHANGED <<issued, todo, status, late, collected, ended>>

LateAnswer(r) ==
    /\ MayAnswer(r)
    /\ IsLate(r, Key)
    /\ Refuse(r, Key)
    /\ UNCHANGED <<issued, todo, status, rounds, collected, ended>>

Leaves(i) == rounds' = Drop(rounds, i) /\ Found[1] = rounds[i].key
Missing(i) == Found[2] = Ranks \ Answered(rounds[i])

Observed ==
    \/ Name = "Join" /\ Join(Who)
    \/ Name = "Leave" /\ Leave(Who)
    \/ Name = "Fence" /\ Fence(Who)
    \/ Name = "Vanish" /\ Vanish(Who)
    \/ Name = "Reappear" /\ Reappear(Who)
    \/ Name = "PutAnswer" /\ Answer(Who)
    \/ Name = "RefuseLate" /\ LateAnswer(Who)
    \/ Name = "Collect" /\ Collect /\ Leaves(Least(Settlements))
    \/ Name = "EndLost" /\ EndLost /\ Leaves(Least(Settlements)) /\ Missing(Least(Settlements))
    \/ Name = "EndTimeout" /\ EndTimeout /\ Leaves(1) /\ Missing(1)

\* A host cannot see a process die, only that its connection closed: the death is allowed directly before that.
Unseen == Name = "Fence" /\ Crash(Who)

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
