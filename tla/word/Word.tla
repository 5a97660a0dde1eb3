-------------------------------- MODULE Word --------------------------------
(***************************************************************************)
(* Processes set a word in shared memory, and others wait until it has the *)
(* value that they want. One step is one aligned load or store, or one     *)
(* system call. The contract is spec/word.toml: same names and shapes.     *)
(*                                                                         *)
(* Memory is that of x86-64: the stores of a process wait in its buffer,   *)
(* reach memory in their order (Flush), and are seen by its own loads at   *)
(* once. So "store the value; look for waiters" of a setter and "announce; *)
(* look at the value" of a waiter may each miss the other's store; the     *)
(* waiter's barrier, which runs on the processors of all setters, is what  *)
(* prevents it, and costs a setter nothing. The flag of the waiters is     *)
(* lowered only by who has their lock exclusively, so while nobody waits;  *)
(* the kernel frees that lock when a process dies.                         *)
(*                                                                         *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents, and the property that   *)
(* the contract names for it fails: MCWord_bug_<guard>.cfg.                *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS
    S,                  \* number of setters
    W,                  \* number of waiters
    Sets,               \* bound: how often a setter sets; the k-th time it stores k, and a wait is for Sets
    Supersede,          \* may the segment be replaced or unlinked?
    Spurious,           \* may a wait end without a reason?
    Limited,            \* may the time limit of a wait end?
    Mortal              \* processes that may be killed

CONSTANTS Barrier, TokenFirst, ClearsLocked, FreshTokens, Rechecks

Setters == 0 .. S - 1
Waiters == S .. S + W - 1
Closer == S + W
All == 0 .. S + W
Nobody == -1
Guards == <<Barrier, TokenFirst, ClearsLocked, FreshTokens, Rechecks>>

ASSUME /\ {S, W, Sets} \subseteq Nat \ {0}
       /\ {Supersede, Spurious, Limited} \subseteq BOOLEAN
       /\ Mortal \subseteq Setters \cup Waiters
       /\ \A i \in DOMAIN Guards : Guards[i] \in BOOLEAN

VARIABLES
    mem,        \* the words in memory
    buf,        \* stores of each process that are on their way to memory
    pc,         \* what each process does next
    seen,       \* the token that a waiter has seen (or, without FreshTokens, that a setter will store)
    barred,     \* the setters on whose processors a waiter's barrier has run
    counts,      \* how often each setter has set
    tokens,     \* tokens that were made
    sharers,    \* the waiters that have their lock, shared
    keeper,     \* who has it exclusively
    alive       \* who has not been killed

vars == <<mem, buf, pc, seen, barred, counts, tokens, sharers, keeper, alive>>

locks == <<sharers, keeper>>

Init ==
    /\ mem = [value |-> 0, waiters |-> 0, wake |-> 0, gone |-> 0]
    /\ buf = [p \in All |-> <<>>]
    /\ pc = [p \in All |-> IF p \in Setters THEN "idle"
                           ELSE IF p \in Waiters THEN "peek"
                           ELSE IF Supersede THEN "idle" ELSE "over"]
    /\ seen = [p \in All |-> 0]
    /\ barred = [p \in All |-> {}]
    /\ counts = [p \in All |-> 0]
    /\ tokens = 0
    /\ sharers = {}
    /\ keeper = Nobody
    /\ alive = [p \in All |-> TRUE]

\* What p loads: its own newest store to the word, if one is on its way.
Own(p, word) == {i \in DOMAIN buf[p] : buf[p][i][1] = word}
Newest(I) == CHOOSE i \in I : \A j \in I : i >= j
Load(p, word) == IF Own(p, word) = {} THEN mem[word] ELSE buf[p][Newest(Own(p, word))][2]

Put(p, word, to) == buf' = [buf EXCEPT ![p] = Append(@, <<word, to>>)]
At(p, from) == pc[p] = from
To(p, there) == pc' = [pc EXCEPT ![p] = there]
Satisfied(p) == Load(p, "value") = Sets

-----------------------------------------------------------------------------
(* Setting. *)

StoreValue(p) ==
    /\ At(p, "idle")
    /\ counts[p] < Sets
    /\ Put(p, "value", counts[p] + 1)
    /\ counts' = [counts EXCEPT ![p] = @ + 1]
    /\ To(p, "look")
    /\ UNCHANGED <<mem, seen, barred, tokens, locks, alive>>

\* If nobody waits, this is all.
LoadWaiters(p) ==
    /\ At(p, "look")
    /\ To(p, IF Load(p, "waiters") = 0 THEN "idle" ELSE IF FreshTokens THEN "token" ELSE "count")
    /\ UNCHANGED <<mem, buf, seen, barred, counts, tokens, locks, alive>>

\* Without FreshTokens the wake word is a counter, and has to be read first.
LoadToken(p) ==
    /\ At(p, "count")
    /\ seen' = [seen EXCEPT ![p] = Load(p, "wake") + 1]
    /\ To(p, "token")
    /\ UNCHANGED <<mem, buf, barred, counts, tokens, locks, alive>>

\* The segment was replaced or unlinked. All waiters are woken, announced or not.
StoreGone(p) ==
    /\ At(p, "idle")
    /\ Put(p, "gone", 1)
    /\ To(p, "token")
    /\ UNCHANGED <<mem, seen, barred, counts, tokens, locks, alive>>

\* Who was about to sleep on the old token does not.
StoreToken(p) ==
    /\ At(p, "token")
    /\ p \notin Waiters
    /\ To(p, "wake")
    /\ IF FreshTokens \/ p = Closer
       THEN Put(p, "wake", tokens + 1) /\ tokens' = tokens + 1 /\ UNCHANGED seen
       ELSE Put(p, "wake", seen[p]) /\ seen' = [seen EXCEPT ![p] = 0] /\ UNCHANGED tokens
    /\ UNCHANGED <<mem, barred, counts, locks, alive>>

\* A system call: a full barrier. If nobody slept, the flag may be out of date.
Wake(p) ==
    /\ At(p, "wake")
    /\ buf[p] = <<>>
    /\ LET slept == \E q \in Waiters : pc[q] = "asleep"
           on == IF p = Closer THEN "over" ELSE IF slept THEN "idle" ELSE "try"
       IN  pc' = [q \in All |-> IF q = p THEN on ELSE IF pc[q] = "asleep" THEN "token" ELSE pc[q]]
    /\ UNCHANGED <<mem, buf, seen, barred, counts, tokens, locks, alive>>

\* The kernel gives the waiters' lock exclusively when nobody has it.
TryClear(p) ==
    /\ At(p, "try")
    /\ LET free == keeper = Nobody /\ sharers = {} IN
        /\ To(p, IF free \/ ~ClearsLocked THEN "clear" ELSE "idle")
        /\ keeper' = IF free /\ ClearsLocked THEN p ELSE keeper
    /\ UNCHANGED <<mem, buf, seen, barred, counts, tokens, sharers, alive>>

Ends == {"", ": done", ": replaced", ": late"}
Result(end) == CASE end = "" -> "idle" [] end = ": done" -> "done" [] end = ": replaced" -> "replaced" [] OTHER -> "late"

ClearFlag(p) ==
    /\ \E end \in Ends : At(p, "clear" \o end) /\ To(p, "unlock" \o end)
    /\ Put(p, "waiters", 0)
    /\ UNCHANGED <<mem, seen, barred, counts, tokens, locks, alive>>

\* A system call: a full barrier.
Unlock(p) ==
    /\ \E end \in Ends : At(p, "unlock" \o end) /\ To(p, Result(end))
    /\ buf[p] = <<>>
    /\ sharers' = sharers \ {p}
    /\ keeper' = IF keeper = p THEN Nobody ELSE keeper
    /\ UNCHANGED <<mem, buf, seen, barred, counts, tokens, alive>>

-----------------------------------------------------------------------------
(* Waiting. A token that is not used any more is forgotten. *)

First == IF TokenFirst THEN "token" ELSE "value"

Peek(p) ==
    /\ At(p, "peek")
    /\ To(p, IF Satisfied(p) THEN "done" ELSE "enter")
    /\ UNCHANGED <<mem, buf, seen, barred, counts, tokens, locks, alive>>

\* As long as a waiter has the lock, nobody lowers the flag.
Enter(p) ==
    /\ At(p, "enter")
    /\ keeper = Nobody
    /\ sharers' = sharers \cup {p}
    /\ To(p, "announce")
    /\ UNCHANGED <<mem, buf, seen, barred, counts, tokens, keeper, alive>>

Announce(p) ==
    /\ At(p, "announce")
    /\ Put(p, "waiters", 1)
    /\ To(p, IF Barrier THEN "barrier" ELSE First)
    /\ UNCHANGED <<mem, seen, barred, counts, tokens, locks, alive>>

BarrierReaches(p, q) ==
    /\ At(p, "barrier")
    /\ buf[p] = <<>>
    /\ buf[q] = <<>>
    /\ q \notin barred[p]
    /\ barred' = [barred EXCEPT ![p] = @ \cup {q}]
    /\ UNCHANGED <<mem, buf, pc, seen, counts, tokens, locks, alive>>

BarrierEnds(p) ==
    /\ At(p, "barrier")
    /\ barred[p] = Setters
    /\ barred' = [barred EXCEPT ![p] = {}]
    /\ To(p, First)
    /\ UNCHANGED <<mem, buf, seen, counts, tokens, locks, alive>>

SeeToken(p) ==
    /\ At(p, "token")
    /\ p \in Waiters
    /\ seen' = [seen EXCEPT ![p] = Load(p, "wake")]
    /\ To(p, IF TokenFirst THEN "value" ELSE "gone")
    /\ UNCHANGED <<mem, buf, barred, counts, tokens, locks, alive>>

SeeValue(p) ==
    /\ At(p, "value")
    /\ LET on == IF TokenFirst THEN "gone" ELSE "token" IN
        /\ To(p, IF Satisfied(p) THEN "leave: done" ELSE on)
        /\ seen' = IF Satisfied(p) \/ ~TokenFirst THEN [seen EXCEPT ![p] = 0] ELSE seen
    /\ UNCHANGED <<mem, buf, barred, counts, tokens, locks, alive>>

SeeGone(p) ==
    /\ At(p, "gone")
    /\ LET over == Load(p, "gone") = 1 IN
        /\ To(p, IF over THEN "leave: replaced" ELSE "sleep")
        /\ seen' = IF over THEN [seen EXCEPT ![p] = 0] ELSE seen
    /\ UNCHANGED <<mem, buf, barred, counts, tokens, locks, alive>>

\* A system call: a full barrier. It compares and goes to sleep in one step.
Sleep(p) ==
    /\ At(p, "sleep")
    /\ buf[p] = <<>>
    /\ To(p, IF mem.wake = seen[p] THEN "asleep" ELSE First)
    /\ seen' = [seen EXCEPT ![p] = 0]
    /\ UNCHANGED <<mem, buf, barred, counts, tokens, locks, alive>>

\* A wait ends without a reason, or its interval is over.
Rouse(p) ==
    /\ At(p, "asleep")
    /\ Spurious \/ Rechecks
    /\ To(p, First)
    /\ UNCHANGED <<mem, buf, seen, barred, counts, tokens, locks, alive>>

\* After a last look.
GiveUp(p) ==
    /\ At(p, "sleep")
    /\ Limited
    /\ To(p, "leave: late")
    /\ seen' = [seen EXCEPT ![p] = 0]
    /\ UNCHANGED <<mem, buf, barred, counts, tokens, locks, alive>>

\* The last waiter lowers the flag, for which it needs the lock exclusively; any other one just goes.
Leave(p) ==
    /\ buf[p] = <<>>
    /\ \E end \in Ends : At(p, "leave" \o end) /\ To(p, (IF sharers = {p} THEN "clear" ELSE "unlock") \o end)
    /\ sharers' = IF sharers = {p} THEN {} ELSE sharers
    /\ keeper' = IF sharers = {p} THEN p ELSE keeper
    /\ UNCHANGED <<mem, buf, seen, barred, counts, tokens, alive>>

-----------------------------------------------------------------------------
(* The environment. What is in the buffer of a dead process still reaches memory; then the kernel frees its locks. *)

Flush(p) ==
    /\ buf[p] # <<>>
    /\ mem' = [mem EXCEPT ![Head(buf[p])[1]] = Head(buf[p])[2]]
    /\ buf' = [buf EXCEPT ![p] = Tail(@)]
    /\ UNCHANGED <<pc, seen, barred, counts, tokens, locks, alive>>

Kill(p) ==
    /\ p \in Mortal
    /\ alive[p]
    /\ alive' = [alive EXCEPT ![p] = FALSE]
    /\ seen' = [seen EXCEPT ![p] = 0]
    /\ barred' = [barred EXCEPT ![p] = {}]
    /\ To(p, "dead")
    /\ UNCHANGED <<mem, buf, counts, tokens, locks>>

Freed(p) ==
    /\ ~alive[p]
    /\ buf[p] = <<>>
    /\ p \in sharers \/ keeper = p
    /\ sharers' = sharers \ {p}
    /\ keeper' = IF keeper = p THEN Nobody ELSE keeper
    /\ UNCHANGED <<mem, buf, pc, seen, barred, counts, tokens, alive>>

Next ==
    \/ \E p \in Setters : StoreValue(p) \/ LoadWaiters(p) \/ LoadToken(p) \/ TryClear(p)
    \/ StoreGone(Closer)
    \/ \E p \in Setters \cup {Closer} : StoreToken(p) \/ Wake(p)
    \/ \E p \in Waiters : Peek(p) \/ Enter(p) \/ Announce(p) \/ BarrierEnds(p) \/ SeeToken(p) \/ SeeValue(p)
    \/ \E p \in Waiters : SeeGone(p) \/ Sleep(p) \/ Rouse(p) \/ GiveUp(p) \/ Leave(p)
    \/ \E p \in Waiters, q \in Setters : BarrierReaches(p, q)
    \/ \E p \in All : ClearFlag(p) \/ Unlock(p) \/ Flush(p) \/ Kill(p) \/ Freed(p)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Claims. *)

TypeOK ==
    /\ mem.value \in 0 .. Sets /\ {mem.waiters, mem.gone} \subseteq {0, 1} /\ mem.wake \in Nat
    /\ \A p \in All : \A i \in DOMAIN buf[p] : buf[p][i][1] \in {"value", "waiters", "wake", "gone"}
    /\ seen \in [All -> Nat] /\ barred \in [All -> SUBSET Setters] /\ counts \in [All -> 0 .. Sets]
    /\ tokens \in Nat /\ alive \in [All -> BOOLEAN]
    /\ sharers \subseteq Waiters /\ keeper \in All \cup {Nobody} /\ (keeper # Nobody => sharers = {})

\* Whoever changes anything has nothing left to do, and all of it is in memory.
Settled ==
    /\ \A p \in All : buf[p] = <<>>
    /\ \A p \in All \ Waiters : pc[p] \in {"dead", "over"} \/ (pc[p] = "idle" /\ counts[p] = Sets)

Due == mem.value = Sets \/ mem.gone = 1

\* If no setter was killed, nobody goes on sleeping who has a reason to wake up.
NoLostWakeUp == ~(Settled /\ Due /\ (\A p \in All \ Waiters : alive[p]) /\ \E p \in Waiters : pc[p] = "asleep")

\* A wait that has returned had a reason.
Honest ==
    \A p \in Waiters : /\ pc[p] = "done" => \E q \in Setters : counts[q] = Sets
                       /\ pc[p] = "replaced" => mem.gone = 1

\* Whoever sleeps has the flag up, in memory.
Flagged == (\E p \in Waiters : pc[p] = "asleep") => mem.waiters = 1

\* Also if setters are killed: at the latest when the interval of the sleep is over.
WaitsEnd == Settled /\ Due ~> \A p \in Waiters : pc[p] \in {"done", "replaced", "late", "dead"}

Goes(p) ==
    \/ Peek(p) \/ Enter(p) \/ Announce(p) \/ BarrierEnds(p) \/ SeeToken(p) \/ SeeValue(p) \/ SeeGone(p) \/ Sleep(p)
    \/ Leave(p) \/ ClearFlag(p) \/ Unlock(p)
    \/ \E q \in Setters : BarrierReaches(p, q)

Fairness ==
    /\ \A p \in All : WF_vars(Flush(p) \/ Freed(p)) /\ WF_vars(ClearFlag(p) \/ Unlock(p))
    /\ \A p \in Waiters : WF_vars(Goes(p)) /\ (Rechecks => WF_vars(Rouse(p)))

FairSpec == Spec /\ Fairness
=============================================================================
