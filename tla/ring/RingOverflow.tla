---------------------------- MODULE RingOverflow ----------------------------
(***************************************************************************)
(* Who owns the segments for payloads that are larger than a slot. A       *)
(* segment belongs to one writer, holds one message at a time, and is used *)
(* again when nobody can be reading it. Writers take turns under one lock; *)
(* each has segments of its own. What a writer leaves behind, in order or  *)
(* killed at any step, another one takes over as far as somebody still has *)
(* to read it. One step is one system call, one store that others see, or  *)
(* one look; that looks at cursors and numbers are right is Ring.tla's.    *)
(* Locks of the kernel end with their process.                             *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents.                         *)
(***************************************************************************)
EXTENDS RingSegments

-----------------------------------------------------------------------------
(* Putting. *)

Free(p) == IF AfterZombies /\ Zombies THEN {} ELSE {s \in Mine(p) : holds[s] <= Over}
Latest(I) == CHOOSE s \in I : \A t \in I : holds[s] > holds[t] \/ (holds[s] = holds[t] /\ s <= t)

\* It is this writer's turn: the segment that was used last among the free ones, or a new one.
Look(p) ==
    /\ p \in Writers /\ At(p, "idle") /\ lock = -1 /\ ring
    /\ head < Puts /\ head + 1 - K <= Over
    /\ lock' = p
    /\ IF Free(p) = {} THEN To(p, "count") /\ UNCHANGED use
       ELSE IF head + 1 \in Larger THEN To(p, "remove") /\ use' = Set(use, p, Least(Free(p)))
       ELSE To(p, "fill") /\ use' = Set(use, p, Latest(Free(p)))
    /\ UNCHANGED <<ring, made, temp, files, owner, holds, data, head, where, OfReaders>>

\* All free ones are too small: one makes room.
Remove(p) ==
    /\ p \in Writers /\ At(p, "remove")
    /\ Without(use[p])
    /\ use' = Set(use, p, -1)
    /\ To(p, "count")
    /\ UNCHANGED <<ring, lock, made, temp, data, head, where, OfReaders>>

\* The number of a new segment is stored before there is one.
Count(p) ==
    /\ p \in Writers /\ At(p, "count")
    /\ LET s == IF OneCounter THEN made ELSE Cardinality(Mine(p)) IN
        /\ s < S
        /\ made' = Most({made, s + 1})
        /\ use' = Set(use, p, s)
    /\ To(p, "make")
    /\ UNCHANGED <<ring, lock, temp, files, owner, holds, data, head, where, OfReaders>>

Make(p) ==
    /\ p \in Writers /\ At(p, "make")
    /\ temp' = temp \cup {use[p]}
    /\ To(p, "name")
    /\ UNCHANGED <<ring, lock, made, files, owner, holds, data, use, head, where, OfReaders>>

\* It has its name, and its owner's lock. What nobody owns is replaced.
Name(p) ==
    /\ p \in Writers /\ At(p, "name")
    /\ owner[use[p]] \in {-1, p}
    /\ files' = files \cup {use[p]}
    /\ owner' = Set(owner, use[p], p)
    /\ holds' = Set(holds, use[p], 0)
    /\ data' = Set(data, use[p], 0)
    /\ To(p, "made")
    /\ UNCHANGED <<ring, lock, made, temp, use, head, where, OfReaders>>

Made(p) ==
    /\ p \in Writers /\ At(p, "made")
    /\ temp' = temp \ {use[p]}
    /\ To(p, "fill")
    /\ UNCHANGED <<ring, lock, made, files, owner, holds, data, use, head, where, OfReaders>>

Fill(p) ==
    /\ p \in Writers /\ At(p, "fill")
    /\ data' = Set(data, use[p], -1)
    /\ To(p, "filled")
    /\ UNCHANGED <<ring, lock, made, temp, files, owner, holds, use, head, where, OfReaders>>

Filled(p) ==
    /\ p \in Writers /\ At(p, "filled")
    /\ data' = Set(data, use[p], head + 1)
    /\ To(p, "where")
    /\ UNCHANGED <<ring, lock, made, temp, files, owner, holds, use, head, where, OfReaders>>

StoreWhere(p) ==
    /\ p \in Writers /\ At(p, "where")
    /\ where' = Set(where, head % K, use[p])
    /\ To(p, "publish")
    /\ UNCHANGED <<ring, lock, made, temp, files, owner, holds, data, use, head, OfReaders>>

Publish(p) ==
    /\ p \in Writers /\ At(p, "publish")
    /\ head' = head + 1
    /\ holds' = Set(holds, use[p], head + 1)
    /\ use' = Set(use, p, -1)
    /\ lock' = -1
    /\ To(p, "idle")
    /\ UNCHANGED <<ring, made, temp, files, owner, data, where, OfReaders>>

-----------------------------------------------------------------------------
(* Coming and leaving. *)

\* What one who comes takes or removes, in that order; one who ends removes all of it.
Todo(p) ==
    (IF TakesOver THEN Abandoned(p) ELSE {}) \cup {s \in Mine(p) : At(p, "final") \/ holds[s] <= Over}
Takes(p, s) == At(p, "enter") /\ owner[s] # p /\ Unread(s)

\* A writer comes, or looks again what others have left, and what it does not need.
Enter(p) ==
    /\ p \in Writers /\ lock = -1 /\ ring
    /\ At(p, "out") \/ (At(p, "idle") /\ TakesOver /\ (Todo(p) # {} \/ temp # {}))
    /\ lock' = p
    /\ To(p, "enter")
    /\ UNCHANGED <<ring, made, temp, files, owner, holds, data, use, head, where, OfReaders>>

\* What nobody owns, and somebody still has to read, is this writer's.
Take(p) ==
    /\ p \in Writers /\ At(p, "enter")
    /\ Todo(p) # {}
    /\ LET s == Least(Todo(p)) IN
        /\ Takes(p, s)
        /\ owner' = Set(owner, s, p)
        /\ holds' = Set(holds, s, Message(s))
    /\ UNCHANGED <<ring, lock, pc, made, temp, files, data, use, head, where, OfReaders>>

\* What nobody owns, or this writer, and nobody has to read, is removed; at the end of the ring everything.
Drop(p) ==
    /\ p \in Writers /\ pc[p] \in {"enter", "final"}
    /\ Todo(p) # {}
    /\ ~Takes(p, Least(Todo(p)))
    /\ Without(Least(Todo(p)))
    /\ UNCHANGED <<ring, lock, pc, made, temp, data, use, head, where, OfReaders>>

\* What never got its name is removed, when nobody is making a segment.
Sweep(p) ==
    /\ p \in Writers /\ pc[p] \in {"enter", "final"}
    /\ Todo(p) = {} /\ temp # {} /\ SweepsNew /\ lock \in {-1, p}
    /\ temp' = {}
    /\ UNCHANGED <<ring, lock, pc, made, files, owner, holds, data, use, head, where, OfReaders>>

Entered(p) ==
    /\ p \in Writers /\ pc[p] \in {"enter", "final"}
    /\ Todo(p) = {} /\ (temp = {} \/ ~SweepsNew) /\ lock \in {-1, p}
    /\ lock' = -1
    /\ To(p, IF At(p, "enter") THEN "idle" ELSE "out")
    /\ UNCHANGED <<ring, made, temp, files, owner, holds, data, use, head, where, OfReaders>>

\* Where the ring is gone a writer removes what it can.
Leave(p) ==
    /\ p \in Writers /\ At(p, "idle")
    /\ p \in Leavers \/ ~ring
    /\ To(p, IF ring THEN "leave" ELSE "final")
    /\ UNCHANGED <<OfWriters, OfReaders>>

\* What is over is removed; what somebody still has to read is left to the next one.
Release(p) ==
    /\ p \in Writers /\ At(p, "leave")
    /\ Mine(p) # {}
    /\ LET s == Least(Mine(p)) IN
        IF holds[s] <= Over \/ ~LeavesUnread THEN Without(s)
        ELSE owner' = Set(owner, s, -1) /\ holds' = Set(holds, s, 0) /\ UNCHANGED files
    /\ UNCHANGED <<ring, lock, pc, made, temp, data, use, head, where, OfReaders>>

\* The ring was removed meanwhile: it looks once more.
Left(p) ==
    /\ p \in Writers /\ At(p, "leave")
    /\ Mine(p) = {}
    /\ To(p, IF ring THEN "out" ELSE "final")
    /\ UNCHANGED <<OfWriters, OfReaders>>

\* A writer removes the ring, and then the segments that are its own or nobody's.
Finish(p) ==
    /\ p \in Writers /\ At(p, "idle") /\ lock = -1 /\ ring
    /\ ring' = FALSE
    /\ lock' = p
    /\ To(p, "final")
    /\ UNCHANGED <<made, temp, files, owner, holds, data, use, head, where, OfReaders>>

-----------------------------------------------------------------------------
(* Reading. *)

Told(l, there) == To(W + l, there) /\ hand' = Set(hand, l, -1)

\* The next message is there, and announced. Not there any more: the reader was given up.
Begin(l) ==
    /\ l \in Lines /\ At(W + l, "idle")
    /\ head > pos[l]
    /\ IF head > pos[l] + K THEN To(W + l, "told") /\ UNCHANGED begun
       ELSE To(W + l, "where") /\ begun' = Set(begun, l, pos[l] + 1)
    /\ UNCHANGED <<OfWriters, life, pos, hand>>

SeeWhere(l) ==
    /\ l \in Lines /\ At(W + l, "where")
    /\ hand' = Set(hand, l, where[pos[l] % K])
    /\ To(W + l, IF ChecksPlace THEN "life" ELSE "map")
    /\ UNCHANGED <<OfWriters, life, begun, pos>>

\* The rank's life is loaded: was it that message's?
SeeLife(l) ==
    /\ l \in Lines /\ At(W + l, "life")
    /\ IF Counted(l) THEN To(W + l, "map") /\ UNCHANGED hand ELSE Told(l, "told")
    /\ UNCHANGED <<OfWriters, life, begun, pos>>

\* The segment is mapped. It is gone: the reader was given up, or the ring is removed.
Map(l) ==
    /\ l \in Lines /\ At(W + l, "map")
    /\ IF hand[l] \in files THEN To(W + l, "read") /\ UNCHANGED hand
       ELSE Told(l, IF ~Counted(l) \/ ~ring THEN "told" ELSE "lost")
    /\ UNCHANGED <<OfWriters, life, begun, pos>>

\* What was made of the bytes counts if the rank's life is the same.
End(l) ==
    /\ l \in Lines /\ At(W + l, "read")
    /\ Told(l, IF Counted(l) THEN "idle" ELSE "told")
    /\ pos' = IF Counted(l) THEN Set(pos, l, pos[l] + 1) ELSE pos
    /\ UNCHANGED <<OfWriters, life, begun>>

Quit(l) ==
    /\ l \in Lines /\ At(W + l, "told")
    /\ To(W + l, "gone")
    /\ UNCHANGED <<OfWriters, OfReaders>>

\* A rank's reader is given up: it is dead, or somebody says so.
Fence(r) ==
    /\ life[r] % 2 = 0
    /\ pc[W + r + R * (life[r] \div 2)] = "dead" \/ (r \in Fenceable /\ life[r] = 0)
    /\ life' = Set(life, r, life[r] + 1)
    /\ UNCHANGED <<OfWriters, pc, begun, pos, hand>>

\* A second reader comes: the first message that nobody has begun is its first.
Return(r) ==
    /\ Back /\ ring /\ life[r] = 1
    /\ life' = Set(life, r, 2)
    /\ pos' = Set(pos, r + R, Begun)
    /\ begun' = Set(begun, r + R, Begun)
    /\ To(W + r + R, "idle")
    /\ UNCHANGED <<OfWriters, hand>>

-----------------------------------------------------------------------------
(* The environment. *)

Kill(p) ==
    /\ p \in Mortal
    /\ pc[p] \notin {"dead", "gone", "away", "out"}
    /\ IF p \in Writers
       THEN /\ lock' = IF lock = p THEN -1 ELSE lock
            /\ owner' = [s \in Segments |-> IF owner[s] = p THEN -1 ELSE owner[s]]
            /\ holds' = [s \in Segments |-> IF owner[s] = p THEN 0 ELSE holds[s]]
            /\ use' = Set(use, p, -1)
            /\ To(p, "dead")
            /\ UNCHANGED <<ring, made, temp, files, data, head, where, OfReaders>>
       ELSE Told(p - W, "dead") /\ UNCHANGED <<OfWriters, life, begun, pos>>

Ended == ~ring \/ \A p \in Writers : pc[p] = "dead"

\* Who makes the next ring of that name takes the name, and removes what nobody owns.
Clean(s) ==
    /\ s \in Segments /\ Ended /\ lock = -1 /\ owner[s] = -1
    /\ s \in files \/ (s \in temp /\ SweepsNew)
    /\ files' = files \ {s}
    /\ temp' = IF SweepsNew THEN temp \ {s} ELSE temp
    /\ ring' = FALSE
    /\ UNCHANGED <<lock, pc, made, owner, holds, data, use, head, where, OfReaders>>

Next ==
    \/ \E p \in Writers : Look(p) \/ Remove(p) \/ Count(p) \/ Make(p) \/ Name(p) \/ Made(p) \/ Fill(p) \/ Filled(p)
    \/ \E p \in Writers : StoreWhere(p) \/ Publish(p) \/ Enter(p) \/ Take(p) \/ Drop(p) \/ Sweep(p) \/ Entered(p)
    \/ \E p \in Writers : Leave(p) \/ Release(p) \/ Left(p) \/ Finish(p)
    \/ \E l \in Lines : Begin(l) \/ SeeWhere(l) \/ SeeLife(l) \/ Map(l) \/ End(l) \/ Quit(l)
    \/ \E r \in 0 .. R - 1 : Fence(r) \/ Return(r)
    \/ \E p \in All : Kill(p)
    \/ \E s \in Segments : Clean(s)

Spec == Init /\ [][Next]_vars

(* Claims. *)
TypeOK ==
    /\ ring \in BOOLEAN /\ lock \in {-1} \cup Writers
    /\ made \in 0 .. S /\ temp \subseteq Segments /\ files \subseteq Segments
    /\ owner \in [Segments -> {-1} \cup Writers] /\ holds \in [Segments -> 0 .. Puts]
    /\ data \in [Segments -> -1 .. Puts] /\ use \in [Writers -> {-1} \cup Segments]
    /\ head \in 0 .. Puts /\ where \in [0 .. K - 1 -> {-1} \cup Segments]
    /\ life \in [0 .. R - 1 -> 0 .. 3] /\ hand \in [Lines -> {-1} \cup Segments]

\* Who reads a segment, also one who was given up, has the whole message whose turn it is.
Stable == \A l \in Lines : pc[W + l] = "read" => data[hand[l]] = pos[l] + 1

\* A counted reader finds the segment of its message.
NeverGone == \A l \in Lines : pc[W + l] # "lost"

\* What a writer fills is its own, and has its name.
OneOwner ==
    \A p \in Writers : pc[p] \in {"remove", "fill", "filled", "where", "publish"}
                       => use[p] \in files /\ owner[use[p]] = p

\* A segment is taken from nobody who lives.
OwnersOnly ==
    [][\A s \in Segments : LET p == owner[s] IN
        p # -1 => owner'[s] = p \/ pc[p] \in {"remove", "enter", "leave", "final"} \/ pc'[p] = "dead"]_vars

\* When all writers have left in order, nothing is there.
NothingLeft == ~ring /\ (\A p \in Writers : pc[p] = "out") => files = {} /\ temp = {}

EndsClean == Ended ~> files = {} /\ temp = {}

\* At the end of the ring.
Goes(p) ==
    /\ ~ring
    /\ \/ Remove(p) \/ Count(p) \/ Make(p) \/ Name(p) \/ Made(p) \/ Fill(p) \/ Filled(p) \/ StoreWhere(p) \/ Publish(p)
       \/ Take(p) \/ Drop(p) \/ Sweep(p) \/ Entered(p) \/ Leave(p) \/ Release(p) \/ Left(p)

FairSpec ==
    /\ Spec
    /\ \A p \in Writers : WF_vars(Goes(p))
    /\ \A s \in Segments : WF_vars(Clean(s))
=============================================================================
