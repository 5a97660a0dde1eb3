-------------------------------- MODULE Ring --------------------------------
(***************************************************************************)
(* One writer and a reader of each rank share N slots in memory. One step  *)
(* is one aligned load or store, or one system call. The contract is       *)
(* spec/ring.toml: same names and shapes.                                  *)
(*                                                                         *)
(* Message m is in slot (m-1) % N; it is published by the store of m in    *)
(* the slot's word seq. A reader announces what it begins (begun), copies, *)
(* looks whether it was given up meanwhile (life), and gives the slot back *)
(* (cursor). Each word has one storer at a time, so nothing is locked.     *)
(* The writer fills a slot when the cursors of all counted ranks are past  *)
(* it; whether a rank is counted it looks at after the cursors.            *)
(* A clear closes the gate, runs a barrier on the readers' processors,     *)
(* and marks what nobody has begun then: the number in the slot becomes    *)
(* negative. That one store takes the message back for everybody, and      *)
(* frees the slot: a reader passes over a mark, and over what was put in   *)
(* the place of a marked message. Who has seen the number before the mark  *)
(* finds another gate than before it looked, and looks again.              *)
(*                                                                         *)
(* Memory is that of x86-64: stores wait in a buffer of their process and  *)
(* reach memory in order (Flush). With Ordered = FALSE they reach it in    *)
(* any order of different words, and PublishFence is needed.               *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents.                         *)
(***************************************************************************)
EXTENDS RingWriter

-----------------------------------------------------------------------------
(* A reader. *)

Mine(p) == Load(p, "life", RankOf(p)) = Incarnation(p)

\* The next message is there; or it was taken back, and its slot perhaps used again; or the reader was given up.
SeeSeq(p) ==
    /\ p \in Lines /\ At(p, "idle")
    /\ LET seen == Load(p, "seq", Slot(pos[p] + 1))
           next == seen = pos[p] + 1
       IN  /\ Abs(seen) > pos[p]
           /\ low' = IF next \/ (Abs(seen) > pos[p] + 1 /\ ~PassesOver) THEN low
                     ELSE Set(low, p, Max(pos[p] + 1, Abs(seen) - N))
           /\ To(p, IF next THEN (IF AnnouncesBegin THEN "begin" ELSE "gate")
                    ELSE IF Abs(seen) > pos[p] + 1 /\ ~PassesOver THEN "fenced" ELSE "void")
    /\ UNCHANGED <<mem, buf, at, top, writers, pos, took, saw, history, alive>>

\* A reader that waits looks whether it was given up.
SeeFence(p) ==
    /\ p \in Lines /\ At(p, "idle")
    /\ Abs(Load(p, "seq", Slot(pos[p] + 1))) <= pos[p]
    /\ ~Mine(p)
    /\ To(p, "fenced")
    /\ UNCHANGED <<mem, buf, at, low, top, writers, pos, took, saw, history, alive>>

StoreBegun(p) ==
    /\ p \in Lines /\ At(p, "begin")
    /\ Put(p, "begun", Line(p), pos[p] + 1)
    /\ To(p, "gate")
    /\ UNCHANGED <<mem, at, low, top, writers, pos, took, saw, history, alive>>

\* While the gate is closed a reader waits here. After a clear it looks again: what it has seen may be taken back.
SeeGate(p) ==
    /\ p \in Lines /\ At(p, "gate")
    /\ LET gate == Load(p, "gate", 0) IN
        /\ gate % 2 = 0
        /\ To(p, IF gate = saw[p] \/ ~ComparesGate THEN "copy" ELSE "idle")
        /\ saw' = IF ComparesGate THEN Set(saw, p, gate) ELSE saw
    /\ UNCHANGED <<mem, buf, at, low, top, writers, pos, took, history, alive>>

CopyData(p) ==
    /\ p \in Lines /\ At(p, "copy")
    /\ took' = Set(took, p, Load(p, "data", Slot(pos[p] + 1)))
    /\ To(p, IF ChecksLife THEN "check" ELSE "release")
    /\ UNCHANGED <<mem, buf, at, low, top, writers, pos, saw, history, alive>>

\* Nothing that was copied, or seen in the place of the next message, counts if the rank was given up.
SeeLife(p) ==
    /\ p \in Lines /\ (At(p, "check") \/ At(p, "void"))
    /\ To(p, IF ~Mine(p) THEN "fenced" ELSE IF At(p, "check") THEN "release" ELSE "skip")
    /\ took' = IF Mine(p) THEN took ELSE Set(took, p, 0)
    /\ low' = IF Mine(p) THEN low ELSE Set(low, p, 0)
    /\ UNCHANGED <<mem, buf, at, top, writers, pos, saw, history, alive>>

\* The slot is given back, and the caller gets its message.
StoreCursor(p) ==
    /\ p \in Lines /\ At(p, "release")
    /\ Put(p, "cursor", Line(p), pos[p] + 1)
    /\ pos' = Set(pos, p, pos[p] + 1)
    /\ got' = Set(got, p, Append(got[p], took[p]))
    /\ took' = Set(took, p, 0)
    /\ To(p, "idle")
    /\ UNCHANGED <<mem, at, low, top, writers, saw, dropped, start, sent, alive>>

\* What was taken back is passed over, also where the writer has gone on since.
StoreSkip(p) ==
    /\ p \in Lines /\ At(p, "skip")
    /\ Put(p, "cursor", Line(p), low[p])
    /\ pos' = Set(pos, p, low[p])
    /\ low' = Set(low, p, 0)
    /\ To(p, "idle")
    /\ UNCHANGED <<mem, at, top, writers, took, saw, history, alive>>

-----------------------------------------------------------------------------
(* Another reader of a rank that was fenced. Its cursor word has a value of the past, which only delays the writer. *)

\* A kernel's lock: whoever had the line is dead, or has found that it was given up, and has let go.
Free(p) == IF p < 2 * R THEN TRUE ELSE LET q == p - 2 * R IN buf[q] = <<>> /\ pc[q] \in {"dead", "fenced"}

StoreLife(p) ==
    /\ p \in Lines /\ At(p, "out")
    /\ mem.life[RankOf(p)] = Incarnation(p) - 1 /\ Free(p)
    /\ Put(p, "life", RankOf(p), Incarnation(p))
    /\ To(p, IF JoinBarrier THEN "barrier" ELSE "look")
    /\ UNCHANGED <<mem, at, low, top, writers, pos, took, saw, history, alive>>

\* It runs on the processor of each other reader, one after the other.
BarrierReaches(p) ==
    /\ At(p, "barrier")
    /\ buf[p] = <<>>
    /\ buf[at[p]] = <<>>
    /\ LET last == at[p] = R + Joins - 1 IN
        /\ at' = Set(at, p, IF last THEN 0 ELSE at[p] + 1)
        /\ To(p, IF ~last THEN "barrier" ELSE IF p = Clearer THEN "head" ELSE "look")
    /\ UNCHANGED <<mem, buf, low, top, writers, pos, took, saw, history, alive>>

\* How far anybody has begun.
SeeBegun(p) ==
    /\ At(p, "look")
    /\ LET most == Max(low[p], Load(p, "begun", at[p]))
           last == at[p] + 1 \notin Words
           from == Max(IF KeepsBegun THEN most ELSE 0, top - N)
           marks == p = Clearer /\ top > from
       IN  /\ low' = Set(low, p, IF ~last \/ p # Clearer THEN most ELSE IF marks THEN from ELSE 0)
           /\ at' = Set(at, p, IF ~last THEN at[p] + 1 ELSE IF marks THEN top ELSE 0)
           /\ top' = IF last /\ p = Clearer THEN 0 ELSE top
           /\ To(p, IF ~last THEN "look" ELSE IF p # Clearer THEN "start" ELSE IF marks THEN "see" ELSE "open")
    /\ UNCHANGED <<mem, buf, writers, pos, took, saw, history, alive>>

\* It begins with the first message that nobody has begun.
StoreStart(p) ==
    /\ p \in Lines /\ At(p, "start")
    /\ Put(p, "cursor", Line(p), low[p])
    /\ pos' = Set(pos, p, low[p])
    /\ start' = Set(start, p, low[p])
    /\ low' = Set(low, p, 0)
    /\ To(p, "idle")
    /\ UNCHANGED <<mem, at, top, writers, took, saw, got, dropped, sent, alive>>

-----------------------------------------------------------------------------
(* A clear, under a lock of the kernel. *)

CloseGate(p) ==
    /\ p = Clearer /\ At(p, "idle")
    /\ Load(p, "gate", 0) < 2 * Clears
    /\ Put(p, "gate", 0, Load(p, "gate", 0) + 1)
    /\ To(p, IF ClearBarrier THEN "barrier" ELSE "head")
    /\ UNCHANGED <<mem, at, low, top, writers, pos, took, saw, history, alive>>

SeeHead(p) ==
    /\ p = Clearer /\ At(p, "head")
    /\ top' = Max(top, Abs(Load(p, "seq", at[p])))
    /\ at' = Set(at, p, IF at[p] < N - 1 THEN at[p] + 1 ELSE 0)
    /\ To(p, IF at[p] < N - 1 THEN "head" ELSE "look")
    /\ UNCHANGED <<mem, buf, low, writers, pos, took, saw, history, alive>>

Onward(p) ==
    LET last == at[p] = low[p] + 1 IN
    /\ at' = Set(at, p, IF last THEN 0 ELSE at[p] - 1)
    /\ low' = IF last THEN Set(low, p, 0) ELSE low
    /\ To(p, IF last THEN "open" ELSE "see")
\* What has a mark stays as it is: its slot is free, and the writer may be using it.
SeeMark(p) ==
    /\ p = Clearer /\ At(p, "see")
    /\ IF Load(p, "seq", Slot(at[p])) = at[p] \/ ~MarksOnce THEN To(p, "mark") /\ UNCHANGED <<at, low>> ELSE Onward(p)
    /\ UNCHANGED <<mem, buf, top, writers, pos, took, saw, history, alive>>

\* The message is taken back, once this reaches memory.
StoreVoid(p) ==
    /\ p = Clearer /\ At(p, "mark")
    /\ Put(p, "seq", Slot(at[p]), -at[p])
    /\ dropped' = dropped \cup {at[p]}
    /\ Onward(p)
    /\ UNCHANGED <<mem, top, writers, pos, took, saw, got, start, sent, alive>>

OpenGate(p) ==
    /\ p = Clearer /\ At(p, "open")
    /\ Put(p, "gate", 0, Load(p, "gate", 0) + 1)
    /\ To(p, "idle")
    /\ UNCHANGED <<mem, at, low, top, writers, pos, took, saw, history, alive>>

\* Whoever gets the lock after a killed clearer finds the gate as that one left it.
ClearAgain(p) ==
    /\ p = Clearer /\ At(p, "dead")
    /\ buf[p] = <<>>
    /\ CompletesClear
    /\ To(p, IF mem.gate[0] % 2 = 0 THEN "idle" ELSE IF ClearBarrier THEN "barrier" ELSE "head")
    /\ UNCHANGED <<mem, buf, at, low, top, writers, pos, took, saw, history, alive>>

-----------------------------------------------------------------------------
(* The environment. *)

\* Stores to one word stay in order, whatever memory does.
First(p, k) == \A j \in 1 .. k - 1 : buf[p][j][1] # buf[p][k][1] \/ buf[p][j][2] # buf[p][k][2]
Flush(p) ==
    /\ \E k \in DOMAIN buf[p] :
        /\ k = 1 \/ (~Ordered /\ First(p, k))
        /\ mem' = [mem EXCEPT ![buf[p][k][1]][buf[p][k][2]] = buf[p][k][3]]
        /\ buf' = [buf EXCEPT ![p] = SubSeq(@, 1, k - 1) \o SubSeq(@, k + 1, Len(@))]
    /\ UNCHANGED <<pc, at, low, top, writers, pos, took, saw, history, alive>>

\* What is in the buffer of a dead process still reaches memory. What it knew is lost; each dies once.
Kill(p) ==
    /\ p \in Mortal
    /\ alive[p] /\ ~At(p, "out")
    /\ alive' = Set(alive, p, FALSE)
    /\ at' = Set(at, p, 0) /\ low' = Set(low, p, 0)
    /\ top' = IF p = Clearer THEN 0 ELSE top
    /\ took' = IF p \in Lines THEN Set(took, p, 0) ELSE took
    /\ To(p, "dead")
    /\ UNCHANGED <<mem, buf, writers, pos, saw, history>>

\* A rank is given up: its reader is dead (the kernel has freed its lock), or somebody says so.
Fence(r) ==
    /\ r \in Ranks
    /\ mem.life[r] % 2 = 0
    /\ LET p == ReaderOf(mem.life, r)
           may == mem.life[r] = 0 \/ mem.life[r] \div 2 < Joins \div R
       IN (~alive[p] /\ buf[p] = <<>>) \/ (r \in Fenceable /\ may)
    /\ mem' = [mem EXCEPT !.life[r] = @ + 1]
    /\ UNCHANGED <<buf, pc, at, low, top, writers, pos, took, saw, history, alive>>

Next ==
    \/ \E p \in {Writer} : StartPut(p) \/ LoadCursor(p) \/ LoadLife(p) \/ SeeVoid(p) \/ Fill(p) \/ Publish(p) \/ TakeOver(p)
    \/ \E p \in Lines : SeeSeq(p) \/ SeeFence(p) \/ StoreBegun(p) \/ SeeGate(p) \/ CopyData(p) \/ SeeLife(p)
    \/ \E p \in Lines : StoreCursor(p) \/ StoreSkip(p) \/ StoreLife(p) \/ StoreStart(p)
    \/ \E p \in Lines \cup {Clearer} : BarrierReaches(p) \/ SeeBegun(p)
    \/ \E p \in {Clearer} : CloseGate(p) \/ SeeHead(p) \/ SeeMark(p) \/ StoreVoid(p) \/ OpenGate(p) \/ ClearAgain(p)
    \/ \E p \in All : Flush(p) \/ Kill(p)
    \/ \E r \in Ranks : Fence(r)

Spec == Init /\ [][Next]_vars

=============================================================================
