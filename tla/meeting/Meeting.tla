------------------------------ MODULE Meeting ------------------------------
(***************************************************************************)
(* N ranks of one machine meet in shared memory. The turn is one word: it  *)
(* says which round it is, how many waits of this round have ended without *)
(* a pass, and whether the meeting is open. A rank arrives by storing the  *)
(* turn that it has seen into a word of its own: so one store of the next  *)
(* turn ends every arrival at once, and a killed process leaves nothing    *)
(* half done. Who finds that all are there, who gives up waiting, who is   *)
(* asked to abort or to give a rank up, decides under a lock of the kernel *)
(* that ends with its process. One step is one aligned load or store, or   *)
(* one system call; memory is that of x86-64, as in Ring.tla.              *)
(* P barriers that are used in turn share that: what a wait is for says at *)
(* which it is. Ranks that all wait, not all at one of them, are told.     *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents.                         *)
(***************************************************************************)
EXTENDS MeetingState

-----------------------------------------------------------------------------
(* Arriving. *)

\* The turn is loaded. A meeting that is not open refuses at once.
Begin(p, l) ==
    /\ p \in Waiters \ Absent /\ At(p, "out") /\ calls[p] < Calls
    /\ calls' = Set(calls, p, calls[p] + 1)
    /\ LET t == Load(p, "turn", 0) IN
        IF OpenFor(t, l)
        THEN /\ stamp' = Set(stamp, p, t) /\ label' = Set(label, p, l) /\ UNCHANGED told
             /\ To(p, IF ChecksLife THEN "life?" ELSE "label")
        ELSE /\ l = 0 /\ told' = [told EXCEPT ![p] = @ \cup {<<t, "refused">>}] /\ UNCHANGED <<stamp, label, pc>>
    /\ UNCHANGED <<mem, buf, at, do, lock, came, alive>>

\* After the turn: who is given up later has an old turn.
SeeLife(p) ==
    /\ p \in Waiters /\ At(p, "life?")
    /\ IF Load(p, "life", RankOf(p)) = Mine(p) THEN To(p, "label") /\ UNCHANGED told
       ELSE To(p, "out") /\ Tell(p, "refused")
    /\ UNCHANGED <<mem, buf, at, stamp, label, do, lock, calls, came, alive>>

StoreLabel(p) ==
    /\ p \in Waiters /\ At(p, "label")
    /\ Put(p, "label", Line(p), label[p])
    /\ To(p, "word")
    /\ UNCHANGED <<mem, at, stamp, label, do, lock, calls, came, told, alive>>

\* The arrival.
StoreWord(p) ==
    /\ p \in Waiters /\ At(p, "word")
    /\ Put(p, "word", Line(p), stamp[p])
    /\ came' = [came EXCEPT ![p] = @ \cup {<<stamp[p], label[p]>>}]
    /\ told' = [told EXCEPT ![p] = @ \ {<<stamp[p], "timeout">>}]      \* it has come again
    /\ To(p, "scan")
    /\ UNCHANGED <<mem, at, stamp, label, do, lock, calls, alive>>

On(p, from, here, there) ==
    /\ at' = Set(at, p, Further(p))
    /\ To(p, IF Look(p) = "more" THEN from ELSE IF Look(p) = "missing" THEN there ELSE here)
    /\ do' = IF Look(p) \in {"all", "differs", "apart"} THEN Set(do, p, "pass") ELSE do

\* Who is last finds all of them.
Scan(p) ==
    /\ p \in Waiters /\ At(p, "scan")
    /\ On(p, "scan", "lock", "see")
    /\ UNCHANGED <<mem, buf, stamp, label, lock, calls, came, told, alive>>

-----------------------------------------------------------------------------
(* Waiting. *)

SeeTurn(p) ==
    /\ p \in Waiters /\ At(p, "see")
    /\ LET t == Load(p, "turn", 0) IN
        IF t = stamp[p] THEN To(p, "wait") /\ UNCHANGED told
        ELSE IF Gen(t) = Gen(stamp[p]) THEN To(p, "why") /\ UNCHANGED told
        ELSE IF ChecksLife THEN To(p, "mine") /\ UNCHANGED told
        ELSE To(p, "out") /\ Tell(p, "passed")
    /\ UNCHANGED <<mem, buf, at, stamp, label, do, lock, calls, came, alive>>

\* Who was given up may not have been in the round that the others have passed.
SeeStanding(p) ==
    /\ p \in Waiters /\ At(p, "mine")
    /\ Tell(p, IF Load(p, "life", RankOf(p)) = Mine(p) THEN "passed" ELSE "refused")
    /\ To(p, "out")
    /\ UNCHANGED <<mem, buf, at, stamp, label, do, lock, calls, came, alive>>

\* It ended without a pass. If that was about another barrier this wait goes on, and looks at the ending after that.
SeeWhy(p) ==
    /\ p \in Waiters /\ At(p, "why")
    /\ LET why == Load(p, "why", Count(stamp[p]) + 1)
           other == why = "reset" \/ (why = "broken" /\ Place(label[p]) # 0 /\ GoesOn)
       IN IF other THEN stamp' = Set(stamp, p, Ended(stamp[p], 0)) /\ To(p, "then") /\ UNCHANGED told
          ELSE Tell(p, why) /\ To(p, "out") /\ UNCHANGED stamp
    /\ UNCHANGED <<mem, buf, at, label, do, lock, calls, came, alive>>

\* There was no ending since: the rank arrives in the turn that there is now.
SeeNext(p) ==
    /\ p \in Waiters /\ At(p, "then")
    /\ LET t == Load(p, "turn", 0) IN
        IF t \div 4 = stamp[p] \div 4
        THEN stamp' = Set(stamp, p, t) /\ To(p, IF ChecksLife THEN "life?" ELSE "label")
        ELSE UNCHANGED stamp /\ To(p, IF Gen(t) = Gen(stamp[p]) THEN "why" ELSE "mine")
    /\ UNCHANGED <<mem, buf, at, label, do, lock, calls, came, told, alive>>

Timeout(p) ==
    /\ p \in Timed /\ At(p, "wait")
    /\ do' = Set(do, p, "withdraw")
    /\ To(p, IF WithdrawsLocked THEN "lock" ELSE "turn")
    /\ UNCHANGED <<mem, buf, at, stamp, label, lock, calls, came, told, alive>>

RaiseFlag(p) ==
    /\ p \in Waiters /\ At(p, "wait")
    /\ Put(p, "flag", p, 1)
    /\ To(p, IF Barrier THEN "barrier" ELSE "due")
    /\ UNCHANGED <<mem, at, stamp, label, do, lock, calls, came, told, alive>>

\* It runs on the processor of each other rank, one after the other.
BarrierReaches(p) ==
    /\ p \in Waiters /\ At(p, "barrier")
    /\ buf[p] = <<>> /\ buf[at[p]] = <<>>
    /\ at' = Set(at, p, IF at[p] < Last THEN at[p] + 1 ELSE 0)
    /\ To(p, IF at[p] < Last THEN "barrier" ELSE "due")
    /\ UNCHANGED <<mem, buf, stamp, label, do, lock, calls, came, told, alive>>

\* The look that decides. It finds also what two arrivals at one moment have both missed.
SeeDue(p) ==
    /\ p \in Waiters /\ At(p, "due")
    /\ To(p, IF Load(p, "turn", 0) = stamp[p] THEN "rescan" ELSE "down")
    /\ UNCHANGED <<mem, buf, at, stamp, label, do, lock, calls, came, told, alive>>

Rescan(p) ==
    /\ p \in Waiters /\ At(p, "rescan")
    /\ On(p, "rescan", "down", "sleep")
    /\ UNCHANGED <<mem, buf, stamp, label, lock, calls, came, told, alive>>

\* A system call: a full barrier. The turn is the futex word.
Sleep(p) ==
    /\ p \in Waiters /\ At(p, "sleep")
    /\ buf[p] = <<>>
    /\ To(p, IF mem.turn[0] = stamp[p] THEN "asleep" ELSE "again")
    /\ UNCHANGED <<mem, buf, at, stamp, label, do, lock, calls, came, told, alive>>

Rouse(p) ==
    /\ p \in Waiters /\ At(p, "asleep")
    /\ Spurious \/ Rechecks
    /\ To(p, "again")
    /\ UNCHANGED <<mem, buf, at, stamp, label, do, lock, calls, came, told, alive>>

SeeAgain(p) ==
    /\ p \in Waiters /\ At(p, "again")
    /\ To(p, IF Load(p, "turn", 0) = stamp[p] THEN "miss" ELSE "down")
    /\ UNCHANGED <<mem, buf, at, stamp, label, do, lock, calls, came, told, alive>>

SeeDead(p) ==
    /\ p \in Waiters /\ At(p, "miss")
    /\ do' = IF \E r \in Ranks : Gone(r) THEN Set(do, p, "fence") ELSE do
    /\ To(p, "down")
    /\ UNCHANGED <<mem, buf, at, stamp, label, lock, calls, came, told, alive>>

LowerFlag(p) ==
    /\ p \in Waiters /\ At(p, "down")
    /\ Put(p, "flag", p, 0)
    /\ To(p, IF do[p] = "none" THEN "see" ELSE "lock")
    /\ UNCHANGED <<mem, at, stamp, label, do, lock, calls, came, told, alive>>

-----------------------------------------------------------------------------
(* Deciding, under the lock. *)

Ask(from, what) ==
    /\ At(Owner, from)
    /\ do' = Set(do, Owner, what)
    /\ To(Owner, "lock")
    /\ UNCHANGED <<mem, buf, at, stamp, label, lock, came, told, alive>>

AskAbort == Aborts /\ Ask("ask", "abort") /\ UNCHANGED calls
AskPart == Parts /\ Ask("ask", "part") /\ UNCHANGED calls    \* a rank that has not arrived is in a round to come
AskFence == Fences /\ Ask("ask", "fence") /\ UNCHANGED calls

\* The abort is undone. Nobody waits at that barrier then, for one that is not open refuses.
AskReset == Aborts /\ calls[Owner] = 0 /\ Ask("done", "reset") /\ calls' = Set(calls, Owner, 1)

\* Another process comes for rank 0.
Come ==
    /\ Comes /\ At(Next0, "away") /\ mem.life[0] = 1
    /\ do' = Set(do, Next0, "join")
    /\ To(Next0, "lock")
    /\ UNCHANGED <<mem, buf, at, stamp, label, lock, calls, came, told, alive>>

\* A system call, and a full barrier.
TakeLock(p) ==
    /\ At(p, "lock")
    /\ lock = -1 /\ buf[p] = <<>>
    /\ lock' = p
    /\ To(p, "turn")
    /\ UNCHANGED <<mem, buf, at, stamp, label, do, calls, came, told, alive>>

SeeTurnLocked(p) ==
    /\ At(p, "turn")
    /\ LET t == Load(p, "turn", 0) IN
        /\ stamp' = IF Free(p) THEN Set(stamp, p, t) ELSE stamp
        /\ CASE Free(p) /\ do[p] = "abort" -> /\ To(p, IF (t % 4) \div 2 = 1 THEN "give" ELSE "why1") /\ UNCHANGED at
             [] Free(p) /\ do[p] = "reset" -> /\ To(p, IF (t % 4) \div 2 = 1 THEN "why1" ELSE "give") /\ UNCHANGED at
             [] do[p] = "part" -> /\ To(p, IF Open(t) THEN "why1" ELSE "give") /\ UNCHANGED at
             [] Free(p) /\ do[p] = "join" -> To(p, "life") /\ UNCHANGED at
             [] Free(p) -> To(p, IF Load(p, "life", 0) % 2 = 1 THEN "give" ELSE "life") /\ UNCHANGED at
             [] ~Free(p) /\ t # stamp[p] -> To(p, "give") /\ UNCHANGED at
             [] OTHER -> /\ To(p, IF do[p] = "pass" THEN (IF LooksAgain THEN "look" ELSE Commit)
                                  ELSE IF do[p] = "withdraw" THEN "clear"
                                  ELSE IF ~\E r \in Ranks : Gone(r) THEN "give"
                                  ELSE IF mem.life[First] % 2 = 1 THEN "why1" ELSE "life")
                         /\ at' = Set(at, p, IF do[p] = "fence" /\ \E r \in Ranks : Gone(r) THEN First ELSE 0)
    /\ UNCHANGED <<mem, buf, label, do, lock, calls, came, told, alive>>

\* No arrival can be withdrawn now.
LookLocked(p) ==
    /\ At(p, "look")
    /\ at' = Set(at, p, Further(p))
    /\ To(p, [more |-> "look", all |-> Commit, differs |-> "why1", apart |-> "why1", missing |-> "give"][Look(p)])
    /\ UNCHANGED <<mem, buf, stamp, label, do, lock, calls, came, told, alive>>

\* How often each barrier was passed, in the bank of the next round: nobody looks there before the turn says so.
StoreCount(p) ==
    /\ At(p, "count")
    /\ Put(p, "passes", Bank(Passed(stamp[p])) * P + at[p],
           Load(p, "passes", Bank(stamp[p]) * P + at[p]) + IF at[p] = Place(label[p]) THEN 1 ELSE 0)
    /\ at' = Set(at, p, IF at[p] < P - 1 THEN at[p] + 1 ELSE 0)
    /\ To(p, IF at[p] < P - 1 THEN "count" ELSE "next")
    /\ UNCHANGED <<mem, stamp, label, do, lock, calls, came, told, alive>>

\* Only its own process stores there.
StoreWithdrawn(p) ==
    /\ At(p, "clear")
    /\ Put(p, "word", Line(p), -1)
    /\ Tell(p, "timeout")
    /\ To(p, IF WithdrawsLocked THEN "give" ELSE "out")
    /\ do' = IF WithdrawsLocked THEN do ELSE Set(do, p, "none")
    /\ UNCHANGED <<mem, at, stamp, label, lock, calls, came, alive>>

StoreLife(p) ==
    /\ At(p, "life")
    /\ Put(p, "life", at[p], Load(p, "life", at[p]) + 1)
    /\ To(p, "why1")
    /\ UNCHANGED <<mem, at, stamp, label, do, lock, calls, came, told, alive>>

StoreWhy(p) ==
    /\ At(p, "why1")
    /\ Put(p, "why", Count(stamp[p]) + 1, Kinds[do[p]])
    /\ at' = Set(at, p, 0)
    /\ To(p, "next1")
    /\ UNCHANGED <<mem, stamp, label, do, lock, calls, came, told, alive>>

\* The linearization point of every ending, when it reaches memory.
StoreTurn(p) ==
    /\ pc[p] \in {"next", "next1"}
    /\ Put(p, "turn", 0, IF do[p] = "join" THEN Ended(stamp[p], ((stamp[p] % 4) \div 2) * 2 + StillLost)
                         ELSE IF do[p] = "reset" THEN Ended(stamp[p], stamp[p] % 2)
                         ELSE IF At(p, "next1") THEN Ended(stamp[p], Both(stamp[p] % 4, States[do[p]]))
                         ELSE Passed(stamp[p]))
    /\ at' = Set(at, p, 0)
    /\ To(p, "flags")
    /\ UNCHANGED <<mem, stamp, label, do, lock, calls, came, told, alive>>

\* The flags of all are one word. If none is up, nobody has to be woken.
LoadFlags(p) ==
    /\ At(p, "flags")
    /\ To(p, IF Wakes /\ \E q \in All : Load(p, "flag", q) = 1 THEN "wake" ELSE "give")
    /\ UNCHANGED <<mem, buf, at, stamp, label, do, lock, calls, came, told, alive>>

Wake(p) ==
    /\ At(p, "wake")
    /\ buf[p] = <<>>
    /\ pc' = [q \in All |-> IF q = p THEN "give" ELSE IF pc[q] = "asleep" THEN "again" ELSE pc[q]]
    /\ UNCHANGED <<mem, buf, at, stamp, label, do, lock, calls, came, told, alive>>

\* A system call, and a full barrier.
GiveLock(p) ==
    /\ At(p, "give")
    /\ buf[p] = <<>>
    /\ lock' = -1
    /\ To(p, IF p = Owner THEN "done" ELSE IF do[p] = "join" \/ <<stamp[p], "timeout">> \in told[p] THEN "out" ELSE "see")
    /\ do' = Set(do, p, "none")
    /\ UNCHANGED <<mem, buf, at, stamp, label, calls, came, told, alive>>

-----------------------------------------------------------------------------
Flush(p) ==
    /\ buf[p] # <<>>
    /\ mem' = [mem EXCEPT ![Head(buf[p])[1]][Head(buf[p])[2]] = Head(buf[p])[3]] /\ buf' = [buf EXCEPT ![p] = Tail(@)]
    /\ UNCHANGED <<pc, at, stamp, label, do, lock, calls, came, told, alive>>

\* What is in its store buffer still reaches memory. The kernel gives its lock back, which is a barrier.
Kill(p) ==
    /\ p \in Mortal /\ alive[p] /\ pc[p] \notin {"away", "ask", "done"}
    /\ alive' = Set(alive, p, FALSE)
    /\ buf[p] = <<>> \/ lock # p
    /\ lock' = IF lock = p THEN -1 ELSE lock
    /\ at' = Set(at, p, 0) /\ do' = Set(do, p, "none") /\ To(p, "dead")
    /\ UNCHANGED <<mem, buf, stamp, label, calls, came, told>>

Next ==
    \/ \E p \in Waiters, l \in 0 .. L * P - 1 : Begin(p, l)
    \/ \E p \in Waiters : SeeLife(p) \/ StoreLabel(p) \/ StoreWord(p) \/ Scan(p) \/ SeeTurn(p) \/ SeeStanding(p) \/ SeeWhy(p)
    \/ \E p \in Waiters : SeeNext(p) \/ Timeout(p) \/ RaiseFlag(p) \/ BarrierReaches(p) \/ SeeDue(p) \/ Rescan(p) \/ Sleep(p)
    \/ \E p \in Waiters : Rouse(p) \/ SeeAgain(p) \/ SeeDead(p) \/ LowerFlag(p)
    \/ \E p \in All : TakeLock(p) \/ SeeTurnLocked(p) \/ LookLocked(p) \/ StoreWithdrawn(p) \/ StoreLife(p)
    \/ \E p \in All : StoreCount(p) \/ StoreWhy(p) \/ StoreTurn(p) \/ LoadFlags(p) \/ Wake(p) \/ GiveLock(p) \/ Flush(p) \/ Kill(p)
    \/ AskAbort \/ AskPart \/ AskFence \/ AskReset \/ Come

Spec == Init /\ [][Next]_vars

WaitEnds == \A p \in Waiters : Over(p) ~> pc[p] \in {"out", "dead"}

Goes(p) ==
    \/ SeeLife(p) \/ StoreLabel(p) \/ StoreWord(p) \/ Scan(p) \/ SeeTurn(p) \/ SeeStanding(p) \/ SeeWhy(p)
    \/ SeeNext(p) \/ RaiseFlag(p) \/ BarrierReaches(p) \/ SeeDue(p) \/ Rescan(p) \/ Sleep(p) \/ SeeAgain(p) \/ SeeDead(p)
    \/ LowerFlag(p) \/ TakeLock(p) \/ SeeTurnLocked(p) \/ LookLocked(p) \/ StoreCount(p) \/ StoreWithdrawn(p)
    \/ StoreLife(p) \/ StoreWhy(p) \/ StoreTurn(p) \/ LoadFlags(p) \/ Wake(p) \/ GiveLock(p)

FairSpec ==
    /\ Spec /\ \A p \in All : WF_vars(Flush(p)) /\ WF_vars(Goes(p))
    /\ \A p \in Waiters : (Rechecks => WF_vars(Rouse(p)))
    /\ \A p \in All : SF_vars(TakeLock(p))
=============================================================================
