------------------------------- MODULE RingBias -------------------------------
(***************************************************************************)
(* The writer's place when one process puts again and again. That process  *)
(* is biased: it holds a token, which is a lock of the kernel that it      *)
(* keeps, and says in a word of that token that it puts, with no system    *)
(* call. Everybody else takes the kernel's lock and, where somebody is     *)
(* biased, ends that first: marks the bias, runs a barrier on all          *)
(* processors, and waits until the token's word is 0 or its holder dead.   *)
(* What a put does in the ring is RingPlace; here the ring is one word,    *)
(* the number of the last message. One step is one aligned load or store,  *)
(* or one system call, which is a full barrier; memory is that of x86-64,  *)
(* as in Ring.tla.                                                         *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents.                         *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS
    W,                  \* number of writers
    T,                  \* number of tokens
    Puts,               \* bound: puts of each writer
    Mortal,             \* writers that may be killed
    Stoppable,          \* writers that may be stopped for ever
    Deaf,               \* writers whose system has no barrier: they are never biased
    Cuts                \* may a put be interrupted where it has published, and not noted that?

CONSTANTS SaysFirst, EndBarrier, WaitsOut, AsksToken, TokenWord, Marks, CleansWord, ReadsHead, Doubts

Writers == 0 .. W - 1
Tokens == 1 .. T

ASSUME /\ {W, T, Puts} \subseteq Nat \ {0} /\ Mortal \subseteq Writers /\ Stoppable \subseteq Writers
       /\ Deaf \subseteq Writers
       /\ {Cuts, SaysFirst, EndBarrier, WaitsOut, AsksToken, TokenWord, Marks, CleansWord, ReadsHead, Doubts} \subseteq BOOLEAN

VARIABLES
    mem,        \* the words in memory: whose token is biased (0: nobody's, negative: it is being ended); who puts; the ring
    buf,        \* stores of each process that are on their way
    pc,         \* what each writer does next
    mine,       \* the token that each writer has; 0: none
    aim,        \* the token whose bias each writer is about to end
    at,         \* how far its barrier has reached
    known,      \* the last number, as each writer knows
    sure,       \* it put last, and noted what it put
    asked,      \* puts that each writer has begun
    lock,       \* who has the kernel's lock of the place; -1: nobody
    held,       \* who has the kernel's lock of each token; -1: nobody
    stopped,    \* writers that are stopped
    sent        \* history: the numbers that were published

vars == <<mem, buf, pc, mine, aim, at, known, sure, asked, lock, held, stopped, sent>>

Init ==
    /\ mem = [bias |-> [i \in {0} |-> 0], putting |-> [t \in Tokens |-> 0], head |-> [i \in {0} |-> 0]]
    /\ buf = [p \in Writers |-> <<>>]
    /\ pc = [p \in Writers |-> "idle"]
    /\ mine = [p \in Writers |-> 0] /\ aim = [p \in Writers |-> 0] /\ at = [p \in Writers |-> 0]
    /\ known = [p \in Writers |-> 0] /\ sure = [p \in Writers |-> FALSE] /\ asked = [p \in Writers |-> 0]
    /\ lock = -1 /\ held = [t \in Tokens |-> -1]
    /\ stopped = {}
    /\ sent = <<>>

Own(p, word, i) == {k \in DOMAIN buf[p] : buf[p][k][1] = word /\ buf[p][k][2] = i}
Newest(I) == CHOOSE k \in I : \A j \in I : k >= j
Least(I) == CHOOSE k \in I : \A j \in I : k <= j
Load(p, word, i) == IF Own(p, word, i) = {} THEN mem[word][i] ELSE buf[p][Newest(Own(p, word, i))][3]
Put(p, word, i, to) == buf' = [buf EXCEPT ![p] = Append(@, <<word, i, to>>)]
Set(f, p, to) == [f EXCEPT ![p] = to]
To(p, there) == pc' = [pc EXCEPT ![p] = there]
At(p, from) == pc[p] = from /\ p \notin stopped
Called(p) == buf[p] = <<>>      \* a system call: what was stored is in memory
Word(t) == IF TokenWord THEN t ELSE 1

Ask(p) ==
    /\ p \in Writers /\ At(p, "idle") /\ asked[p] < Puts
    /\ asked' = Set(asked, p, asked[p] + 1)
    /\ To(p, IF mine[p] = 0 THEN "wait" ELSE IF SaysFirst THEN "mark" ELSE "look")
    /\ UNCHANGED <<mem, buf, mine, aim, at, known, sure, lock, held, stopped, sent>>

-----------------------------------------------------------------------------
(* With a token: no system call. *)

\* It goes by what it knows where nobody else can have put since, and it is sure of its own.
Begin(p) == To(p, IF sure[p] \/ ~Doubts THEN "publish" ELSE "see") /\ sure' = Set(sure, p, FALSE)

StoreMark(p) ==
    /\ p \in Writers /\ At(p, "mark")
    /\ Put(p, "putting", Word(mine[p]), 1)
    /\ IF SaysFirst THEN To(p, "look") /\ UNCHANGED sure ELSE Begin(p)
    /\ UNCHANGED <<mem, mine, aim, at, known, asked, lock, held, stopped, sent>>

LoadBias(p) ==
    /\ p \in Writers /\ At(p, "look")
    /\ IF Load(p, "bias", 0) = mine[p] /\ SaysFirst THEN Begin(p)
       ELSE To(p, IF ~SaysFirst /\ Load(p, "bias", 0) = mine[p] THEN "mark" ELSE "unmark") /\ UNCHANGED sure
    /\ UNCHANGED <<mem, buf, mine, aim, at, known, asked, lock, held, stopped, sent>>

\* The bias was ended.
Unmark(p) ==
    /\ p \in Writers /\ At(p, "unmark")
    /\ Put(p, "putting", Word(mine[p]), 0)
    /\ To(p, "drop")
    /\ UNCHANGED <<mem, mine, aim, at, known, sure, asked, lock, held, stopped, sent>>

Drop(p) ==
    /\ p \in Writers /\ At(p, "drop") /\ Called(p)
    /\ held' = [held EXCEPT ![mine[p]] = -1]
    /\ mine' = Set(mine, p, 0) /\ sure' = Set(sure, p, FALSE)
    /\ To(p, "wait")
    /\ UNCHANGED <<mem, buf, aim, at, known, asked, lock, stopped, sent>>

Leave(p) ==
    /\ p \in Writers /\ At(p, "leave")
    /\ Put(p, "putting", Word(mine[p]), 0)
    /\ To(p, "idle")
    /\ UNCHANGED <<mem, mine, aim, at, known, sure, asked, lock, held, stopped, sent>>

-----------------------------------------------------------------------------
(* Without one. *)

Take(p) ==
    /\ p \in Writers /\ At(p, "wait") /\ Called(p)
    /\ lock = -1
    /\ lock' = p
    /\ To(p, "check")
    /\ UNCHANGED <<mem, buf, mine, aim, at, known, sure, asked, held, stopped, sent>>

Reached(p) == IF EndBarrier /\ p \notin Deaf THEN "barrier" ELSE "await"

SeeBias(p) ==
    /\ p \in Writers /\ At(p, "check")
    /\ LET bias == Load(p, "bias", 0) IN
        /\ aim' = Set(aim, p, IF bias < 0 THEN -bias ELSE bias)
        /\ To(p, IF bias = 0 THEN "see" ELSE IF bias > 0 THEN "revoke" ELSE Reached(p))
    /\ UNCHANGED <<mem, buf, mine, at, known, sure, asked, lock, held, stopped, sent>>

\* Whoever comes next has to wait too, if this process gives up, or is killed.
StoreRevoke(p) ==
    /\ p \in Writers /\ At(p, "revoke")
    /\ Put(p, "bias", 0, IF Marks THEN -aim[p] ELSE 0)
    /\ To(p, Reached(p))
    /\ UNCHANGED <<mem, mine, aim, at, known, sure, asked, lock, held, stopped, sent>>

\* It runs on the processor of each process, one after the other.
BarrierReaches(p) ==
    /\ p \in Writers /\ At(p, "barrier") /\ Called(p)
    /\ buf[at[p]] = <<>>
    /\ at' = Set(at, p, IF at[p] < W - 1 THEN at[p] + 1 ELSE 0)
    /\ To(p, IF at[p] < W - 1 THEN "barrier" ELSE "await")
    /\ UNCHANGED <<mem, buf, mine, aim, known, sure, asked, lock, held, stopped, sent>>

\* Without a barrier the word says nothing.
SeePutting(p) ==
    /\ p \in Writers /\ pc[p] \in {"await", "late"} /\ p \notin stopped
    /\ To(p, IF ~WaitsOut \/ (p \notin Deaf /\ Load(p, "putting", Word(aim[p])) = 0) THEN "settle"
             ELSE IF AsksToken THEN "life" ELSE "late")
    /\ UNCHANGED <<mem, buf, mine, aim, at, known, sure, asked, lock, held, stopped, sent>>

\* The kernel has freed the token of who is dead, or has dropped it.
SeeLife(p) ==
    /\ p \in Writers /\ At(p, "life") /\ Called(p)
    /\ To(p, IF held[aim[p]] = -1 THEN "settle" ELSE "late")
    /\ UNCHANGED <<mem, buf, mine, aim, at, known, sure, asked, lock, held, stopped, sent>>

\* The time is over.
GiveUp(p) ==
    /\ p \in Writers /\ pc[p] \in {"wait", "late"} /\ p \notin stopped /\ Called(p)
    /\ lock # -1
    /\ lock' = IF pc[p] = "late" THEN -1 ELSE lock
    /\ aim' = Set(aim, p, 0)
    /\ To(p, "idle")
    /\ UNCHANGED <<mem, buf, mine, at, known, sure, asked, held, stopped, sent>>

StoreNobody(p) ==
    /\ p \in Writers /\ At(p, "settle")
    /\ Put(p, "bias", 0, 0)
    /\ aim' = Set(aim, p, 0)
    /\ To(p, "see")
    /\ UNCHANGED <<mem, mine, at, known, sure, asked, lock, held, stopped, sent>>

\* It has put often enough. Nobody is biased while it has the lock.
TakeToken(p) ==
    /\ p \in Writers \ Deaf /\ At(p, "keep") /\ Called(p)
    /\ \E t \in Tokens : held[t] = -1
    /\ LET t == Least({i \in Tokens : held[i] = -1}) IN
        /\ held' = [held EXCEPT ![t] = p]
        /\ mine' = Set(mine, p, t)
    /\ sure' = Set(sure, p, TRUE)
    /\ To(p, IF CleansWord THEN "clean" ELSE "claim")
    /\ UNCHANGED <<mem, buf, aim, at, known, asked, lock, stopped, sent>>

\* Who had the token may have been killed in a put.
StoreClean(p) ==
    /\ p \in Writers /\ At(p, "clean")
    /\ Put(p, "putting", Word(mine[p]), 0)
    /\ To(p, "claim")
    /\ UNCHANGED <<mem, mine, aim, at, known, sure, asked, lock, held, stopped, sent>>

StoreClaim(p) ==
    /\ p \in Writers /\ At(p, "claim")
    /\ Put(p, "bias", 0, mine[p])
    /\ To(p, "give")
    /\ UNCHANGED <<mem, mine, aim, at, known, sure, asked, lock, held, stopped, sent>>

Give(p) ==
    /\ p \in Writers /\ pc[p] \in {"keep", "give"} /\ p \notin stopped /\ Called(p)
    /\ lock' = -1
    /\ To(p, "idle")
    /\ UNCHANGED <<mem, buf, mine, aim, at, known, sure, asked, held, stopped, sent>>

-----------------------------------------------------------------------------
(* The put itself. *)

See(p) ==
    /\ p \in Writers /\ At(p, "see")
    /\ known' = IF ReadsHead THEN Set(known, p, Load(p, "head", 0)) ELSE known
    /\ To(p, "publish")
    /\ UNCHANGED <<mem, buf, mine, aim, at, sure, asked, lock, held, stopped, sent>>

Store(p) == Put(p, "head", 0, known[p] + 1) /\ sent' = Append(sent, known[p] + 1)

Publish(p) ==
    /\ p \in Writers /\ At(p, "publish")
    /\ Store(p)
    /\ known' = Set(known, p, known[p] + 1)
    /\ sure' = Set(sure, p, mine[p] # 0)
    /\ To(p, IF mine[p] # 0 THEN "leave" ELSE "keep")
    /\ UNCHANGED <<mem, mine, aim, at, asked, lock, held, stopped>>

\* An interrupt: the caller's error, and what the writer knows is not what it did.
Cut(p) ==
    /\ Cuts
    /\ p \in Writers /\ At(p, "publish")
    /\ Store(p)
    /\ To(p, IF mine[p] # 0 THEN "leave" ELSE "give")
    /\ UNCHANGED <<mem, mine, aim, at, known, sure, asked, lock, held, stopped>>

-----------------------------------------------------------------------------
Flush(p) ==
    /\ p \in Writers /\ buf[p] # <<>>
    /\ mem' = [mem EXCEPT ![Head(buf[p])[1]][Head(buf[p])[2]] = Head(buf[p])[3]]
    /\ buf' = [buf EXCEPT ![p] = Tail(@)]
    /\ UNCHANGED <<pc, mine, aim, at, known, sure, asked, lock, held, stopped, sent>>

Stop(p) ==
    /\ p \in Stoppable /\ p \notin stopped /\ pc[p] # "dead"
    /\ stopped' = stopped \cup {p}
    /\ UNCHANGED <<mem, buf, pc, mine, aim, at, known, sure, asked, lock, held, sent>>

\* Also one that is stopped. The kernel frees its locks when the last of its stores is in memory.
Kill(p) ==
    /\ p \in Mortal /\ pc[p] # "dead" /\ Called(p)
    /\ stopped' = stopped \ {p}
    /\ lock' = IF lock = p THEN -1 ELSE lock
    /\ held' = [t \in Tokens |-> IF held[t] = p THEN -1 ELSE held[t]]
    /\ mine' = Set(mine, p, 0) /\ aim' = Set(aim, p, 0) /\ at' = Set(at, p, 0)
    /\ known' = Set(known, p, 0) /\ sure' = Set(sure, p, FALSE)
    /\ To(p, "dead")
    /\ UNCHANGED <<mem, buf, asked, sent>>

Next ==
    \/ \E p \in Writers : Ask(p) \/ StoreMark(p) \/ LoadBias(p) \/ Unmark(p) \/ Drop(p) \/ Leave(p)
    \/ \E p \in Writers : Take(p) \/ SeeBias(p) \/ StoreRevoke(p) \/ BarrierReaches(p) \/ SeePutting(p) \/ SeeLife(p)
    \/ \E p \in Writers : GiveUp(p) \/ StoreNobody(p) \/ TakeToken(p) \/ StoreClean(p) \/ StoreClaim(p) \/ Give(p)
    \/ \E p \in Writers : See(p) \/ Publish(p) \/ Cut(p) \/ Flush(p) \/ Stop(p) \/ Kill(p)

Spec == Init /\ [][Next]_vars

(* Claims. *)
TypeOK ==
    /\ mem.bias[0] \in -T .. T /\ mem.head[0] \in Nat
    /\ \A t \in Tokens : mem.putting[t] \in {0, 1} /\ held[t] \in {-1} \cup Writers
    /\ lock \in {-1} \cup Writers /\ stopped \subseteq Writers
    /\ \A p \in Writers : mine[p] \in 0 .. T /\ aim[p] \in 0 .. T /\ at[p] \in Writers /\ asked[p] \in 0 .. Puts

Slow == {"check", "revoke", "barrier", "await", "life", "late"}
Inside == {"settle", "see", "publish", "leave", "keep", "clean", "claim", "give"}

\* One process at a time may put.
OneAtATime == \A p \in Writers, q \in Writers : {pc[p], pc[q]} \subseteq Inside => p = q

\* Numbers go up by one: nothing is overwritten by a message that has its number.
NumbersGoUp == \A k \in 1 .. Len(sent) : sent[k] = k

\* The place is held by somebody who lives.
HeldByTheLiving ==
    /\ lock # -1 => pc[lock] \in Slow \cup Inside
    /\ \A p \in Writers : mine[p] # 0 => held[mine[p]] = p /\ pc[p] # "dead"

\* A biased process between two puts holds nobody up.
IdleSaysSo == \A p \in Writers : mine[p] # 0 /\ pc[p] = "idle" /\ buf[p] = <<>> => mem.putting[Word(mine[p])] = 0

\* Every put ends, whoever is killed, and whoever is stopped between two puts.
HeldUp(p) ==
    \E q \in stopped : q = p \/ q = lock \/ pc[q] \in {"look", "unmark", "see", "publish", "leave"}
PutsEnd == \A p \in Writers : pc[p] \in {"wait", "late"} ~> pc[p] \in {"idle", "dead"} \/ HeldUp(p)

Goes(p) ==
    \/ StoreMark(p) \/ LoadBias(p) \/ Unmark(p) \/ Drop(p) \/ Leave(p) \/ Take(p) \/ SeeBias(p) \/ StoreRevoke(p)
    \/ BarrierReaches(p) \/ SeePutting(p) \/ SeeLife(p) \/ StoreNobody(p) \/ StoreClean(p) \/ StoreClaim(p) \/ Give(p)
    \/ See(p) \/ Publish(p)

FairSpec ==
    /\ Spec
    /\ \A p \in Writers : WF_vars(Flush(p)) /\ WF_vars(Goes(p))
=============================================================================
