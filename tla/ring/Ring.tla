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
(* and voids what nobody has begun then.                                   *)
(*                                                                         *)
(* Memory is that of x86-64: stores wait in a buffer of their process and  *)
(* reach memory in order (Flush). With Ordered = FALSE they reach it in    *)
(* any order of different words, and PublishFence is needed.               *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents.                         *)
(***************************************************************************)
EXTENDS RingState

-----------------------------------------------------------------------------
(* The writer. *)

Counts(k, r) == k[r] % 2 = 0 \/ ~SkipsFenced
LineOf(k, r) == IF k[r] >= 2 THEN R + r ELSE r
\* The first rank from r on whose cursor has to be loaded; R: none.
From(k, r) == IF \E q \in r .. R - 1 : Counts(k, q) THEN CHOOSE q \in r .. R - 1 :
                  Counts(k, q) /\ \A o \in r .. q - 1 : ~Counts(k, o) ELSE R
\* A scan begins with the cursors, or without LivesLast with the lives.
Scan(k) ==
    LET first == From(k, 0) IN
    /\ low' = Set(low, Writer, head)
    /\ IF LivesLast /\ first < R THEN To(Writer, "scan") /\ at' = Set(at, Writer, first)
       ELSE To(Writer, "lives") /\ at' = Set(at, Writer, 0)
\* All was looked at. Somebody has to be counted, or what nobody has begun would be overwritten.
Decide(k, least) ==
    LET free == (least + N > head /\ \E r \in Ranks : Counts(k, r)) \/ ~WaitsForCursors IN
    /\ To(Writer, IF free THEN "fill" ELSE "idle")
    /\ room' = IF free THEN least + N ELSE room
    /\ at' = Set(at, Writer, 0)
    /\ low' = Set(low, Writer, 0)

StartPut(p) ==
    /\ p = Writer /\ At(p, "idle")
    /\ sent < Puts
    /\ IF head < room THEN To(p, "fill") /\ UNCHANGED <<at, low>> ELSE Scan(known)
    /\ UNCHANGED <<mem, buf, top, writers, pos, took, history, alive>>

LoadCursor(p) ==
    /\ p = Writer /\ At(p, "scan")
    /\ LET least == Min(low[p], Load(p, "cursor", LineOf(known, at[p])))
           next == From(known, at[p] + 1)
       IN  IF next < R THEN low' = Set(low, p, least) /\ at' = Set(at, p, next) /\ UNCHANGED <<pc, room>>
           ELSE IF LivesLast THEN low' = Set(low, p, least) /\ at' = Set(at, p, 0) /\ To(p, "lives") /\ UNCHANGED room
           ELSE Decide(known, least)
    /\ UNCHANGED <<mem, buf, top, known, head, pos, took, history, alive>>

LoadLife(p) ==
    /\ p = Writer /\ At(p, "lives")
    /\ LET r == at[p]
           life == Load(p, "life", r)
           now == [known EXCEPT ![r] = life]
       IN  /\ known' = now
           /\ IF life # known[r] THEN Scan(now) /\ UNCHANGED room
              ELSE IF r + 1 < R THEN at' = Set(at, p, r + 1) /\ UNCHANGED <<pc, low, room>>
              ELSE IF LivesLast THEN Decide(known, low[p])
              ELSE IF From(known, 0) = R THEN Decide(known, low[p])
              ELSE To(p, "scan") /\ at' = Set(at, p, From(known, 0)) /\ UNCHANGED <<low, room>>
    /\ UNCHANGED <<mem, buf, top, head, pos, took, history, alive>>

\* A payload says which put it is of.
Put1(p) == IF PublishLast THEN Put(p, "data", Slot(head + 1), sent + 1) ELSE Put(p, "seq", Slot(head + 1), head + 1)
Put2(p) == IF PublishLast THEN Put(p, "seq", Slot(head + 1), head + 1) ELSE Put(p, "data", Slot(head + 1), sent + 1)

Fill(p) ==
    /\ p = Writer /\ At(p, "fill")
    /\ Put1(p)
    /\ To(p, "publish")
    /\ UNCHANGED <<mem, at, low, top, writers, pos, took, history, alive>>

\* The linearization point of a put, when it reaches memory.
Publish(p) ==
    /\ p = Writer /\ At(p, "publish")
    /\ ~Ordered /\ PublishFence => buf[p] = <<>>
    /\ Put2(p)
    /\ head' = head + 1
    /\ sent' = sent + 1
    /\ To(p, "idle")
    /\ UNCHANGED <<mem, at, low, top, known, room, pos, took, got, dropped, start, alive>>

\* The kernel has freed the lock of a dead writer. All that the next one knows is in memory.
TakeOver(p) ==
    /\ p = Writer /\ At(p, "dead")
    /\ buf[p] = <<>>
    /\ LET last == CHOOSE m \in 0 .. Puts : (m = 0 \/ \E s \in Slots : mem.seq[s] = m) /\ \A s \in Slots : mem.seq[s] <= m
       IN  head' = IF Resumes THEN last ELSE 0
    /\ room' = IF head' = 0 THEN N ELSE head'
    /\ known' = mem.life
    /\ To(p, "idle")
    /\ UNCHANGED <<mem, buf, at, low, top, pos, took, history, alive>>

-----------------------------------------------------------------------------
(* A reader. *)

Mine(p) == Load(p, "life", RankOf(p)) = Incarnation(p)

\* The next message is there; or the slot was used again, which happens to a fenced reader only.
SeeSeq(p) ==
    /\ p \in Lines /\ At(p, "idle")
    /\ LET seen == Load(p, "seq", Slot(pos[p] + 1)) IN
        /\ seen > pos[p]
        /\ To(p, IF seen # pos[p] + 1 THEN "fenced" ELSE IF AnnouncesBegin THEN "begin" ELSE "gate")
    /\ UNCHANGED <<mem, buf, at, low, top, writers, pos, took, history, alive>>

\* A reader that waits looks whether it was given up.
SeeFence(p) ==
    /\ p \in Lines /\ At(p, "idle")
    /\ Load(p, "seq", Slot(pos[p] + 1)) <= pos[p]
    /\ ~Mine(p)
    /\ To(p, "fenced")
    /\ UNCHANGED <<mem, buf, at, low, top, writers, pos, took, history, alive>>

StoreBegun(p) ==
    /\ p \in Lines /\ At(p, "begin")
    /\ Put(p, "begun", p, pos[p] + 1)
    /\ To(p, "gate")
    /\ UNCHANGED <<mem, at, low, top, writers, pos, took, history, alive>>

\* While the gate is closed a reader waits here.
SeeGate(p) ==
    /\ p \in Lines /\ At(p, "gate")
    /\ Load(p, "gate", 0) % 2 = 0
    /\ To(p, "copy")
    /\ UNCHANGED <<mem, buf, at, low, top, writers, pos, took, history, alive>>

CopyData(p) ==
    /\ p \in Lines /\ At(p, "copy")
    /\ took' = Set(took, p, Load(p, "data", Slot(pos[p] + 1)))
    /\ To(p, IF ChecksLife THEN "check" ELSE "release")
    /\ UNCHANGED <<mem, buf, at, low, top, writers, pos, history, alive>>

SeeLife(p) ==
    /\ p \in Lines /\ At(p, "check")
    /\ To(p, IF Mine(p) THEN "release" ELSE "fenced")
    /\ took' = IF Mine(p) THEN took ELSE Set(took, p, 0)
    /\ UNCHANGED <<mem, buf, at, low, top, writers, pos, history, alive>>

\* The slot is given back, and the caller gets its message.
StoreCursor(p) ==
    /\ p \in Lines /\ At(p, "release")
    /\ Put(p, "cursor", p, pos[p] + 1)
    /\ pos' = Set(pos, p, pos[p] + 1)
    /\ got' = IF took[p] = Void THEN got ELSE Set(got, p, Append(got[p], took[p]))
    /\ took' = Set(took, p, 0)
    /\ To(p, "idle")
    /\ UNCHANGED <<mem, at, low, top, writers, dropped, start, sent, alive>>

-----------------------------------------------------------------------------
(* Another reader of a rank that was fenced. Its cursor word has a value of the past, which only delays the writer. *)

StoreLife(p) ==
    /\ p \in Lines /\ At(p, "out")
    /\ mem.life[RankOf(p)] = 1
    /\ Put(p, "life", RankOf(p), 2)
    /\ To(p, IF JoinBarrier THEN "barrier" ELSE "look")
    /\ UNCHANGED <<mem, at, low, top, writers, pos, took, history, alive>>

\* It runs on the processor of each other reader, one after the other.
BarrierReaches(p) ==
    /\ At(p, "barrier")
    /\ buf[p] = <<>>
    /\ buf[at[p]] = <<>>
    /\ LET last == at[p] = R + Joins - 1 IN
        /\ at' = Set(at, p, IF last THEN 0 ELSE at[p] + 1)
        /\ To(p, IF ~last THEN "barrier" ELSE IF p = Clearer THEN "head" ELSE "look")
    /\ UNCHANGED <<mem, buf, low, top, writers, pos, took, history, alive>>

\* How far anybody has begun.
SeeBegun(p) ==
    /\ At(p, "look")
    /\ LET most == Max(low[p], Load(p, "begun", at[p]))
           last == at[p] = R + Joins - 1
           from == IF KeepsBegun THEN most ELSE Max(0, top - N)
           marks == p = Clearer /\ top > from
       IN  /\ low' = Set(low, p, IF ~last \/ p # Clearer THEN most ELSE IF marks THEN from ELSE 0)
           /\ at' = Set(at, p, IF ~last THEN at[p] + 1 ELSE IF marks THEN top ELSE 0)
           /\ top' = IF last /\ p = Clearer THEN 0 ELSE top
           /\ To(p, IF ~last THEN "look" ELSE IF p # Clearer THEN "start" ELSE IF marks THEN "mark" ELSE "open")
    /\ UNCHANGED <<mem, buf, writers, pos, took, history, alive>>

\* It begins with the first message that nobody has begun.
StoreStart(p) ==
    /\ p \in Lines /\ At(p, "start")
    /\ Put(p, "cursor", p, low[p])
    /\ pos' = Set(pos, p, low[p])
    /\ start' = Set(start, p, low[p])
    /\ low' = Set(low, p, 0)
    /\ To(p, "idle")
    /\ UNCHANGED <<mem, at, top, writers, took, got, dropped, sent, alive>>

-----------------------------------------------------------------------------
(* A clear, under a lock of the kernel. *)

CloseGate(p) ==
    /\ p = Clearer /\ At(p, "idle")
    /\ Load(p, "gate", 0) < 2 * Clears
    /\ Put(p, "gate", 0, Load(p, "gate", 0) + 1)
    /\ To(p, IF ClearBarrier THEN "barrier" ELSE "head")
    /\ UNCHANGED <<mem, at, low, top, writers, pos, took, history, alive>>

SeeHead(p) ==
    /\ p = Clearer /\ At(p, "head")
    /\ top' = Max(top, Load(p, "seq", at[p]))
    /\ at' = Set(at, p, IF at[p] < N - 1 THEN at[p] + 1 ELSE 0)
    /\ To(p, IF at[p] < N - 1 THEN "head" ELSE "look")
    /\ UNCHANGED <<mem, buf, low, writers, pos, took, history, alive>>

StoreVoid(p) ==
    /\ p = Clearer /\ At(p, "mark")
    /\ Put(p, "data", Slot(at[p]), Void)
    /\ dropped' = dropped \cup {at[p]}
    /\ LET last == at[p] = low[p] + 1 IN
        /\ at' = Set(at, p, IF last THEN 0 ELSE at[p] - 1)
        /\ low' = IF last THEN Set(low, p, 0) ELSE low
        /\ To(p, IF last THEN "open" ELSE "mark")
    /\ UNCHANGED <<mem, top, writers, pos, took, got, start, sent, alive>>

OpenGate(p) ==
    /\ p = Clearer /\ At(p, "open")
    /\ Put(p, "gate", 0, Load(p, "gate", 0) + 1)
    /\ To(p, "idle")
    /\ UNCHANGED <<mem, at, low, top, writers, pos, took, history, alive>>

\* Whoever gets the lock after a killed clearer finds the gate as that one left it.
ClearAgain(p) ==
    /\ p = Clearer /\ At(p, "dead")
    /\ buf[p] = <<>>
    /\ CompletesClear
    /\ To(p, IF mem.gate[0] % 2 = 0 THEN "idle" ELSE IF ClearBarrier THEN "barrier" ELSE "head")
    /\ UNCHANGED <<mem, buf, at, low, top, writers, pos, took, history, alive>>

-----------------------------------------------------------------------------
(* The environment. *)

\* Stores to one word stay in order, whatever memory does.
First(p, k) == \A j \in 1 .. k - 1 : buf[p][j][1] # buf[p][k][1] \/ buf[p][j][2] # buf[p][k][2]
Flush(p) ==
    /\ \E k \in DOMAIN buf[p] :
        /\ k = 1 \/ (~Ordered /\ First(p, k))
        /\ mem' = [mem EXCEPT ![buf[p][k][1]][buf[p][k][2]] = buf[p][k][3]]
        /\ buf' = [buf EXCEPT ![p] = SubSeq(@, 1, k - 1) \o SubSeq(@, k + 1, Len(@))]
    /\ UNCHANGED <<pc, at, low, top, writers, pos, took, history, alive>>

\* What is in the buffer of a dead process still reaches memory. What it knew is lost; each dies once.
Kill(p) ==
    /\ p \in Mortal
    /\ alive[p] /\ ~At(p, "out")
    /\ alive' = Set(alive, p, FALSE)
    /\ at' = Set(at, p, 0) /\ low' = Set(low, p, 0)
    /\ top' = IF p = Clearer THEN 0 ELSE top
    /\ took' = IF p \in Lines THEN Set(took, p, 0) ELSE took
    /\ To(p, "dead")
    /\ UNCHANGED <<mem, buf, writers, pos, history>>

\* A rank is given up: its reader is dead (the kernel has freed its lock), or somebody says so.
Fence(r) ==
    /\ r \in Ranks
    /\ mem.life[r] % 2 = 0
    /\ LET p == LineOf(mem.life, r) IN (~alive[p] /\ buf[p] = <<>>) \/ (r \in Fenceable /\ mem.life[r] = 0)
    /\ mem' = [mem EXCEPT !.life[r] = @ + 1]
    /\ UNCHANGED <<buf, pc, at, low, top, writers, pos, took, history, alive>>

Next ==
    \/ \E p \in {Writer} : StartPut(p) \/ LoadCursor(p) \/ LoadLife(p) \/ Fill(p) \/ Publish(p) \/ TakeOver(p)
    \/ \E p \in Lines : SeeSeq(p) \/ SeeFence(p) \/ StoreBegun(p) \/ SeeGate(p) \/ CopyData(p) \/ SeeLife(p)
    \/ \E p \in Lines : StoreCursor(p) \/ StoreLife(p) \/ StoreStart(p)
    \/ \E p \in Lines \cup {Clearer} : BarrierReaches(p) \/ SeeBegun(p)
    \/ \E p \in {Clearer} : CloseGate(p) \/ SeeHead(p) \/ StoreVoid(p) \/ OpenGate(p) \/ ClearAgain(p)
    \/ \E p \in All : Flush(p) \/ Kill(p)
    \/ \E r \in Ranks : Fence(r)

Spec == Init /\ [][Next]_vars

=============================================================================
