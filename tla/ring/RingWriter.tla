----------------------------- MODULE RingWriter -----------------------------
(* The writer of the ring: see Ring.tla. *)
EXTENDS RingState

Counts(k, r) == k[r] % 2 = 0 \/ ~SkipsFenced
ReaderOf(k, r) == (k[r] \div 2) * R + r
LineOf(k, r) == Line(ReaderOf(k, r))
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
\* The counted ranks are past that message; those that follow may have been taken back. What was overwritten is over.
Consider(k, least) ==
    IF least < head /\ LooksForVoids
    THEN To(Writer, "voids") /\ low' = Set(low, Writer, Max(least, head - N)) /\ at' = Set(at, Writer, 0) /\ UNCHANGED room
    ELSE Decide(k, least)

StartPut(p) ==
    /\ p = Writer /\ At(p, "idle")
    /\ sent < Puts
    /\ IF head < room THEN To(p, "fill") /\ UNCHANGED <<at, low>> ELSE Scan(known)
    /\ UNCHANGED <<mem, buf, top, writers, pos, took, saw, history, alive>>

LoadCursor(p) ==
    /\ p = Writer /\ At(p, "scan")
    /\ LET least == Min(low[p], Load(p, "cursor", LineOf(known, at[p])))
           next == From(known, at[p] + 1)
       IN  IF next < R THEN low' = Set(low, p, least) /\ at' = Set(at, p, next) /\ UNCHANGED <<pc, room>>
           ELSE IF LivesLast THEN low' = Set(low, p, least) /\ at' = Set(at, p, 0) /\ To(p, "lives") /\ UNCHANGED room
           ELSE Consider(known, least)
    /\ UNCHANGED <<mem, buf, top, known, head, pos, took, saw, history, alive>>

LoadLife(p) ==
    /\ p = Writer /\ At(p, "lives")
    /\ LET r == at[p]
           life == Load(p, "life", r)
           now == [known EXCEPT ![r] = life]
       IN  /\ known' = now
           /\ IF life # known[r] THEN Scan(now) /\ UNCHANGED room
              ELSE IF r + 1 < R THEN at' = Set(at, p, r + 1) /\ UNCHANGED <<pc, low, room>>
              ELSE IF LivesLast THEN Consider(known, low[p])
              ELSE IF From(known, 0) = R THEN Consider(known, low[p])
              ELSE To(p, "scan") /\ at' = Set(at, p, From(known, 0)) /\ UNCHANGED <<low, room>>
    /\ UNCHANGED <<mem, buf, top, head, pos, took, saw, history, alive>>

\* A marked message holds nobody up.
SeeVoid(p) ==
    /\ p = Writer /\ At(p, "voids")
    /\ IF Load(p, "seq", Slot(low[p] + 1)) > 0 THEN Decide(known, low[p])
       ELSE IF low[p] + 1 < head THEN low' = Set(low, p, low[p] + 1) /\ UNCHANGED <<pc, at, room>>
       ELSE Decide(known, low[p] + 1)
    /\ UNCHANGED <<mem, buf, top, known, head, pos, took, saw, history, alive>>

\* A payload says which put it is of.
Put1(p) == IF PublishLast THEN Put(p, "data", Slot(head + 1), sent + 1) ELSE Put(p, "seq", Slot(head + 1), head + 1)
Put2(p) == IF PublishLast THEN Put(p, "seq", Slot(head + 1), head + 1) ELSE Put(p, "data", Slot(head + 1), sent + 1)

Fill(p) ==
    /\ p = Writer /\ At(p, "fill")
    /\ Put1(p)
    /\ To(p, "publish")
    /\ UNCHANGED <<mem, at, low, top, writers, pos, took, saw, history, alive>>

\* The linearization point of a put, when it reaches memory.
Publish(p) ==
    /\ p = Writer /\ At(p, "publish")
    /\ ~Ordered /\ PublishFence => buf[p] = <<>>
    /\ Put2(p)
    /\ head' = head + 1
    /\ sent' = sent + 1
    /\ To(p, "idle")
    /\ UNCHANGED <<mem, at, low, top, known, room, pos, took, saw, got, dropped, start, alive>>

\* The kernel has freed the lock of a dead writer. All that the next one knows is in memory.
TakeOver(p) ==
    /\ p = Writer /\ At(p, "dead")
    /\ buf[p] = <<>>
    /\ LET last == CHOOSE m \in 0 .. Puts :
                (m = 0 \/ \E s \in Slots : Abs(mem.seq[s]) = m) /\ \A s \in Slots : Abs(mem.seq[s]) <= m
       IN  head' = IF Resumes THEN last ELSE 0
    /\ room' = IF head' = 0 THEN N ELSE head'
    /\ known' = mem.life
    /\ To(p, "idle")
    /\ UNCHANGED <<mem, buf, at, low, top, pos, took, saw, history, alive>>

=============================================================================
