------------------------------- MODULE MCFmq -------------------------------
(* What is claimed of Fmq. The configurations beside this file choose the bounds. *)
EXTENDS Fmq

Frames == [n : Numbers, base : 0 .. MaxSent]

TypeOK ==
    /\ sent \in [Producers -> 0 .. MaxSent]
    /\ life \in [Producers -> {"live", "gone"}]
    /\ linked \in [Producers -> BOOLEAN]
    /\ consumer \in {0, starts}
    /\ starts \in 0 .. MaxStarts
    /\ cuts \in 0 .. MaxCuts
    /\ \A p \in Producers :
           /\ base[p] \in 0 .. sent[p]
           /\ \A c \in DOMAIN flow[p] : Items(flow[p][c]) \subseteq Frames
           /\ Items(pipe[p]) \subseteq Frames
           /\ Items(ack[p]) \subseteq 1 .. sent[p]
           /\ last[p] \in -1 .. sent[p]
           /\ done[p] \in 0 .. Max(last[p], 0)
           /\ told[p] \in -1 .. Max(last[p], 0)
           /\ peer[p] \in 0 .. Len(flow[p])  \/ consumer = 0
           /\ there[p] \subseteq Numbers \cap Large
           /\ Items(given[p]) \cup finished[p] \cup skipped[p] \subseteq 1 .. sent[p]

Increasing(s) == \A i, j \in DOMAIN s : i < j => s[i] < s[j]

\* A consumer is given each message of a producer at most once, in order.
InOrder == \A p \in Producers : Increasing(given[p])

\* Nothing is missing before a message that is read.
NoHole == \A p \in Producers : \A c \in DOMAIN flow[p] :
    Readable(p, c) => First(p, c).n <= Before(p, First(p, c).base) + 1

\* What a producer has forgotten, a consumer was done with.
AckedWasDone == Keep => \A p \in Producers : 1 .. base[p] \subseteq finished[p]

\* What is passed over because its payload is gone, a consumer was done with.
SkipsOnlyDone == \A p \in Producers : skipped[p] \subseteq finished[p]

\* What the consumer was given and is not done with is there.
HeldThere == consumer > 0 => \A p \in Producers : \A n \in Items(given[p]) \cap Large :
    done[p] < n /\ n <= last[p] => n \in there[p]

Bounded == \A p \in Producers : sent[p] - base[p] <= Window

-----------------------------------------------------------------------------
\* What its producer knows to be done is not given again.
AckedStays ==
    [][\A p \in Producers : Keep /\ Len(given'[p]) > Len(given[p]) => given'[p][Len(given'[p])] > base[p]]_vars

\* While its producer lives, a payload goes only when its message is done, or was dropped.
GoesWhenDone ==
    [][\A p \in Producers : life[p] = "live" => there[p] \ there'[p] \subseteq finished'[p] \cup 1 .. (IF Keep THEN 0 ELSE base[p])]_vars

-----------------------------------------------------------------------------
(* Fairness: who is there goes on. *)
Reads(p, c) == WF_vars(Take(p, c)) /\ WF_vars(Skip(p, c)) /\ WF_vars(Drop(p, c))

FairSpec ==
    /\ Spec
    /\ WF_vars(StartConsumer)
    /\ \A p \in Producers :
           /\ WF_vars(Connect(p)) /\ WF_vars(HearAck(p))
           /\ WF_vars(Finish(p)) /\ WF_vars(Acknowledge(p)) /\ WF_vars(Reclaim(p))
           /\ \A c \in 1 .. MaxCuts + 1 : Reads(p, c)

\* Every message of a producer that lives is done in the end, and its producer hears it.
Settles == \A p \in Producers, n \in Numbers : sent[p] >= n ~> (base[p] >= n \/ life[p] = "gone")

\* A consumer that knows a producer which is gone removes what it has left.
Known(p) == consumer > 0 /\ life[p] = "gone" /\ last[p] >= 0
LeftoversGo == \A p \in Producers : Known(p) ~> (there[p] = {} \/ consumer = 0)
=============================================================================
