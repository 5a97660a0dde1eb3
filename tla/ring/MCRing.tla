------------------------------- MODULE MCRing -------------------------------
(* What is claimed of the ring, and what is assumed for what has to happen in the end. *)
EXTENDS Ring

SetOf(s) == {s[i] : i \in DOMAIN s}

TypeOK ==
    /\ \A s \in Slots : mem.seq[s] \in -Puts .. Puts /\ mem.data[s] \in 0 .. Puts
    /\ \A w \in Words : mem.begun[w] \in 0 .. Puts /\ mem.cursor[w] \in 0 .. Puts
    /\ \A p \in Lines : pos[p] \in 0 .. Puts
    /\ \A r \in Ranks : mem.life[r] \in 0 .. 5 /\ known[r] \in 0 .. 5
    /\ mem.gate[0] \in 0 .. 2 * Clears /\ \A p \in Lines : saw[p] \in 0 .. 2 * Clears
    /\ head \in 0 .. Puts /\ room \in Nat /\ top \in 0 .. Puts /\ alive \in [All -> BOOLEAN]

\* What a reader is about to give to its caller is the message whose turn it is.
NoTornRead == \A p \in Lines : At(p, "release") => took[p] = pos[p] + 1

\* Each reader gets its messages in order, and a rank gets none twice.
ExactlyOnceInOrder ==
    /\ \A p \in Lines : \A i, j \in DOMAIN got[p] : i < j => got[p][i] < got[p][j]
    /\ \A p, q \in Lines : p < q /\ RankOf(p) = RankOf(q) => SetOf(got[p]) \cap SetOf(got[q]) = {}

\* Nothing is missing that was not taken back.
Complete == \A p \in Lines : \A m \in start[p] + 1 .. pos[p] : m \in SetOf(got[p]) \/ m \in dropped

\* What somebody was given is not taken back from the others.
OneFate == \A p \in Lines : SetOf(got[p]) \cap dropped = {}

\* Only who was given up is told so: nobody's next message is overwritten.
HonestFence == \A p \in Lines : At(p, "fenced") => mem.life[RankOf(p)] # Incarnation(p)

\* A put finds the ring full only where the message in its slot was not taken back: no reader has to come after a clear.
GivesUp == pc[Writer] \in {"scan", "lives", "voids"} /\ pc'[Writer] = "idle"
Stays == Load(Writer, "seq", Slot(head + 1)) > 0 \/ \A r \in Ranks : ~Counts(known', r)
MakesRoom == [][GivesUp => Stays]_vars

\* Everything is put, and everybody who is counted has got all; or nobody is counted any more.
Done ==
    \/ \A r \in Ranks : mem.life[r] % 2 = 1
    \/ sent = Puts /\ \A p \in Lines : mem.life[RankOf(p)] = Incarnation(p) => pos[p] = Puts
Delivers == []<>Done

Goes(p) ==
    \/ StartPut(p) \/ LoadCursor(p) \/ LoadLife(p) \/ SeeVoid(p) \/ Fill(p) \/ Publish(p) \/ TakeOver(p)
    \/ SeeSeq(p) \/ SeeFence(p) \/ StoreBegun(p) \/ SeeGate(p) \/ CopyData(p) \/ SeeLife(p) \/ StoreCursor(p)
    \/ StoreSkip(p)
    \/ BarrierReaches(p) \/ SeeBegun(p) \/ StoreStart(p)
    \/ SeeHead(p) \/ SeeMark(p) \/ StoreVoid(p) \/ OpenGate(p) \/ ClearAgain(p)

FairSpec ==
    /\ Spec
    /\ \A p \in All : WF_vars(Flush(p)) /\ WF_vars(Goes(p))
    /\ \A r \in Ranks : WF_vars(Fence(r))
=============================================================================
