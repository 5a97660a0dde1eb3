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
(* prevents it, and costs a setter nothing.                                *)
(*                                                                         *)
(* Each guard below is TRUE in the protocol. With one of them FALSE this   *)
(* is the faulty protocol that the guard prevents, and the property that   *)
(* the contract names for it fails: MCWord_bug_<guard>.cfg.                *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
    S,                  \* number of setters
    W,                  \* number of waiters
    Sets,               \* bound: how often a setter sets; the k-th time it stores k, and a wait is for Sets
    Supersede,          \* may the segment be replaced or unlinked?
    Spurious,           \* may a wait end without a reason?
    Mortal              \* setters that may be killed

CONSTANTS Barrier, TokenFirst, LooksAgain, FreshTokens, Rechecks

Setters == 0 .. S - 1
Waiters == S .. S + W - 1
Closer == S + W
All == 0 .. S + W
Guards == <<Barrier, TokenFirst, LooksAgain, FreshTokens, Rechecks>>

ASSUME /\ {S, W, Sets} \subseteq Nat \ {0}
       /\ {Supersede, Spurious} \subseteq BOOLEAN
       /\ Mortal \subseteq Setters
       /\ \A i \in DOMAIN Guards : Guards[i] \in BOOLEAN

VARIABLES
    mem,        \* the words in memory
    buf,        \* stores of each process that are on their way to memory
    pc,         \* what each process does next
    seen,       \* the token that a waiter has seen (or, without FreshTokens, that a setter will store)
    barred,     \* the setters on whose processors a waiter's barrier has run
    count,      \* how often each setter has set
    tokens,     \* tokens that were made
    alive       \* who has not been killed

vars == <<mem, buf, pc, seen, barred, count, tokens, alive>>

Init ==
    /\ mem = [value |-> 0, waiters |-> 0, wake |-> 0, gone |-> 0]
    /\ buf = [p \in All |-> <<>>]
    /\ pc = [p \in All |-> IF p \in Setters THEN "idle"
                           ELSE IF p \in Waiters THEN "peek"
                           ELSE IF Supersede THEN "idle" ELSE "over"]
    /\ seen = [p \in All |-> 0]
    /\ barred = [p \in All |-> {}]
    /\ count = [p \in All |-> 0]
    /\ tokens = 0
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
    /\ count[p] < Sets
    /\ Put(p, "value", count[p] + 1)
    /\ count' = [count EXCEPT ![p] = @ + 1]
    /\ To(p, "look")
    /\ UNCHANGED <<mem, seen, barred, tokens, alive>>

\* If nobody waits, this is all.
LoadWaiters(p) ==
    /\ At(p, "look")
    /\ To(p, IF Load(p, "waiters") = 0 THEN "idle" ELSE IF FreshTokens THEN "clear" ELSE "count")
    /\ UNCHANGED <<mem, buf, seen, barred, count, tokens, alive>>

\* Without FreshTokens the wake word is a counter, and has to be read first.
LoadToken(p) ==
    /\ At(p, "count")
    /\ seen' = [seen EXCEPT ![p] = Load(p, "wake") + 1]
    /\ To(p, "clear")
    /\ UNCHANGED <<mem, buf, barred, count, tokens, alive>>

\* Whoever is woken, and goes on waiting, announces himself again.
ClearWaiters(p) ==
    /\ At(p, "clear")
    /\ Put(p, "waiters", 0)
    /\ To(p, "token")
    /\ UNCHANGED <<mem, seen, barred, count, tokens, alive>>

\* The segment was replaced or unlinked. All waiters are woken, announced or not.
StoreGone(p) ==
    /\ At(p, "idle")
    /\ Put(p, "gone", 1)
    /\ To(p, "token")
    /\ UNCHANGED <<mem, seen, barred, count, tokens, alive>>

\* Who was about to sleep on the old token does not.
StoreToken(p) ==
    /\ At(p, "token")
    /\ To(p, "wake")
    /\ IF FreshTokens \/ p = Closer
       THEN Put(p, "wake", tokens + 1) /\ tokens' = tokens + 1 /\ UNCHANGED seen
       ELSE Put(p, "wake", seen[p]) /\ seen' = [seen EXCEPT ![p] = 0] /\ UNCHANGED tokens
    /\ UNCHANGED <<mem, barred, count, alive>>

\* A system call: a full barrier.
Wake(p) ==
    /\ At(p, "wake")
    /\ buf[p] = <<>>
    /\ pc' = [q \in All |-> IF q = p THEN IF p = Closer THEN "over" ELSE "idle"
                            ELSE IF pc[q] = "asleep" THEN "peek" ELSE pc[q]]
    /\ UNCHANGED <<mem, buf, seen, barred, count, tokens, alive>>

\* What is in the buffer still reaches memory.
Kill(p) ==
    /\ p \in Mortal
    /\ alive[p]
    /\ alive' = [alive EXCEPT ![p] = FALSE]
    /\ To(p, "dead")
    /\ UNCHANGED <<mem, buf, seen, barred, count, tokens>>

-----------------------------------------------------------------------------
(* Waiting. A token that is not used any more is forgotten. *)

Peek(p) ==
    /\ At(p, "peek")
    /\ To(p, IF Satisfied(p) THEN "done" ELSE "announce")
    /\ UNCHANGED <<mem, buf, seen, barred, count, tokens, alive>>

\* Every waiter stores the same, so no announcement overwrites another.
Announce(p) ==
    /\ At(p, "announce")
    /\ Put(p, "waiters", 1)
    /\ To(p, IF Barrier THEN "barrier" ELSE IF TokenFirst THEN "token" ELSE "value")
    /\ UNCHANGED <<mem, seen, barred, count, tokens, alive>>

BarrierReaches(p, q) ==
    /\ At(p, "barrier")
    /\ buf[p] = <<>>
    /\ buf[q] = <<>>
    /\ q \notin barred[p]
    /\ barred' = [barred EXCEPT ![p] = @ \cup {q}]
    /\ UNCHANGED <<mem, buf, pc, seen, count, tokens, alive>>

BarrierEnds(p) ==
    /\ At(p, "barrier")
    /\ barred[p] = Setters
    /\ barred' = [barred EXCEPT ![p] = {}]
    /\ To(p, IF TokenFirst THEN "token" ELSE "value")
    /\ UNCHANGED <<mem, buf, seen, count, tokens, alive>>

SeeToken(p) ==
    /\ At(p, "token")
    /\ p \in Waiters
    /\ seen' = [seen EXCEPT ![p] = Load(p, "wake")]
    /\ To(p, IF TokenFirst THEN "value" ELSE "gone")
    /\ UNCHANGED <<mem, buf, barred, count, tokens, alive>>

SeeValue(p) ==
    /\ At(p, "value")
    /\ LET on == IF TokenFirst THEN "gone" ELSE "token" IN
        /\ To(p, IF Satisfied(p) THEN "done" ELSE on)
        /\ seen' = IF Satisfied(p) \/ ~TokenFirst THEN [seen EXCEPT ![p] = 0] ELSE seen
    /\ UNCHANGED <<mem, buf, barred, count, tokens, alive>>

SeeGone(p) ==
    /\ At(p, "gone")
    /\ LET over == Load(p, "gone") = 1 IN
        /\ To(p, IF over THEN "replaced" ELSE IF LooksAgain THEN "again" ELSE "sleep")
        /\ seen' = IF over THEN [seen EXCEPT ![p] = 0] ELSE seen
    /\ UNCHANGED <<mem, buf, barred, count, tokens, alive>>

\* A setter that woke others before may have taken the announcement away since.
SeeWaiters(p) ==
    /\ At(p, "again")
    /\ LET kept == Load(p, "waiters") = 1 IN
        /\ To(p, IF kept THEN "sleep" ELSE "peek")
        /\ seen' = IF kept THEN seen ELSE [seen EXCEPT ![p] = 0]
    /\ UNCHANGED <<mem, buf, barred, count, tokens, alive>>

\* A system call: a full barrier. It compares and goes to sleep in one step.
Sleep(p) ==
    /\ At(p, "sleep")
    /\ buf[p] = <<>>
    /\ To(p, IF mem.wake = seen[p] THEN "asleep" ELSE "peek")
    /\ seen' = [seen EXCEPT ![p] = 0]
    /\ UNCHANGED <<mem, buf, barred, count, tokens, alive>>

\* A wait ends without a reason, or its interval is over.
Rouse(p) ==
    /\ At(p, "asleep")
    /\ Spurious \/ Rechecks
    /\ To(p, "peek")
    /\ UNCHANGED <<mem, buf, seen, barred, count, tokens, alive>>

-----------------------------------------------------------------------------
Flush(p) ==
    /\ buf[p] # <<>>
    /\ mem' = [mem EXCEPT ![Head(buf[p])[1]] = Head(buf[p])[2]]
    /\ buf' = [buf EXCEPT ![p] = Tail(@)]
    /\ UNCHANGED <<pc, seen, barred, count, tokens, alive>>

Next ==
    \/ \E p \in Setters : StoreValue(p) \/ LoadWaiters(p) \/ ClearWaiters(p) \/ LoadToken(p) \/ Kill(p)
    \/ StoreGone(Closer)
    \/ \E p \in Setters \cup {Closer} : StoreToken(p) \/ Wake(p)
    \/ \E p \in Waiters : Peek(p) \/ Announce(p) \/ BarrierEnds(p) \/ SeeToken(p) \/ SeeValue(p) \/ SeeGone(p)
    \/ \E p \in Waiters : SeeWaiters(p) \/ Sleep(p) \/ Rouse(p)
    \/ \E p \in Waiters, q \in Setters : BarrierReaches(p, q)
    \/ \E p \in All : Flush(p)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Claims. *)

TypeOK ==
    /\ mem.value \in 0 .. Sets /\ {mem.waiters, mem.gone} \subseteq {0, 1} /\ mem.wake \in Nat
    /\ \A p \in All : \A i \in DOMAIN buf[p] : buf[p][i][1] \in {"value", "waiters", "wake", "gone"}
    /\ seen \in [All -> Nat] /\ barred \in [All -> SUBSET Setters] /\ count \in [All -> 0 .. Sets]
    /\ tokens \in Nat /\ alive \in [All -> BOOLEAN]

\* Whoever changes anything has nothing left to do, and all of it is in memory.
Settled ==
    /\ \A p \in All : buf[p] = <<>>
    /\ \A p \in All \ Waiters : pc[p] \in {"dead", "over"} \/ (pc[p] = "idle" /\ count[p] = Sets)

Due == mem.value = Sets \/ mem.gone = 1

\* If no setter was killed, nobody goes on sleeping who has a reason to wake up.
NoLostWakeUp == ~(Settled /\ Due /\ (\A p \in All : alive[p]) /\ \E p \in Waiters : pc[p] = "asleep")

\* A wait that has returned had a reason.
Honest ==
    \A p \in Waiters : /\ pc[p] = "done" => \E q \in Setters : count[q] = Sets
                       /\ pc[p] = "replaced" => mem.gone = 1

\* Also if setters are killed: at the latest when the interval of the sleep is over.
WaitsEnd == Settled /\ Due ~> \A p \in Waiters : pc[p] \in {"done", "replaced"}

Goes(p) ==
    \/ Peek(p) \/ Announce(p) \/ BarrierEnds(p) \/ SeeToken(p) \/ SeeValue(p) \/ SeeGone(p) \/ SeeWaiters(p) \/ Sleep(p)
    \/ \E q \in Setters : BarrierReaches(p, q)

Fairness ==
    /\ \A p \in All : WF_vars(Flush(p))
    /\ \A p \in Waiters : WF_vars(Goes(p)) /\ (Rechecks => WF_vars(Rouse(p)))

FairSpec == Spec /\ Fairness
=============================================================================
