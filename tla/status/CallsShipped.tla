----------------------------- MODULE CallsShipped ---------------------------
(***************************************************************************)
(* What the callers of a clear and an update are told, when all they have  *)
(* is a word: it carries no number of a request and no error. Ranks say    *)
(* that they are done by flags; the last one writes the word.              *)
(*                                                                         *)
(* With every constant TRUE it works: CallsShipped_guarded.cfg. Each       *)
(* CallsShipped_bug_*.cfg takes one of them away.                          *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS
    Callers,        \* number of callers
    N,              \* ranks
    MaxAsked,       \* bound: requests
    Failing,        \* ranks that may fail
    Impatient       \* callers may give up

CONSTANTS
    Serialised,     \* callers ask one after another: a lock is held until the answer
    TellsFailures,  \* a rank's failure ends the request, and its caller is told
    Keyed           \* a rank's flag counts for the request that the rank has done

Normal == 0
Updating == 1
Clearing == -1
Cleared == -2

Who == 0 .. Callers - 1
Ranks == 0 .. N - 1

ASSUME /\ {Callers, N} \subseteq Nat \ {0}
       /\ MaxAsked \in Nat
       /\ Failing \subseteq Ranks
       /\ {Impatient, Serialised, TellsFailures, Keyed} \subseteq BOOLEAN

VARIABLES
    word,
    asked,      \* number of requests so far
    waits,      \* of each caller: the word that it waits for, or its own answer: "none", "waits", "ok", "late", "failed"
    goal,       \* of each caller: the word that it has asked for
    todo,       \* ranks that are to take the latest request
    doing,      \* of each rank: the request that it works on; 0: none
    flag,       \* of each rank: the request after which it raised its flag; 0: it is down
    failed      \* ranks that have failed at the latest request

vars == <<word, asked, waits, goal, todo, doing, flag, failed>>

Way(v) == v \in {Clearing, Updating}
End(v) == IF v = Clearing THEN Cleared ELSE IF v = Updating THEN Normal ELSE v
Begun(v) == IF v = Normal THEN Clearing ELSE IF v = Cleared THEN Updating ELSE v

Init ==
    /\ word = Normal
    /\ asked = 0
    /\ waits = [c \in Who |-> "none"]
    /\ goal = [c \in Who |-> Normal]
    /\ todo = {}
    /\ doing = [r \in Ranks |-> 0]
    /\ flag = [r \in Ranks |-> 0]
    /\ failed = {}

\* A clear or an update, whichever makes sense; while one is under way and nobody waits for it, the same again.
Ask(c) ==
    /\ asked < MaxAsked
    /\ waits[c] # "waits"
    /\ Serialised \/ Way(word) => \A d \in Who : waits[d] # "waits"
    /\ asked' = asked + 1
    /\ word' = Begun(word)
    /\ waits' = [waits EXCEPT ![c] = "waits"]
    /\ goal' = [goal EXCEPT ![c] = End(Begun(word))]
    /\ todo' = Ranks
    /\ flag' = [r \in Ranks |-> 0]
    /\ failed' = {}
    /\ UNCHANGED doing

See(c) ==
    /\ waits[c] = "waits"
    /\ word = goal[c]
    /\ waits' = [waits EXCEPT ![c] = "ok"]
    /\ UNCHANGED <<word, asked, goal, todo, doing, flag, failed>>

GiveUp(c) ==
    /\ Impatient
    /\ waits[c] = "waits"
    /\ waits' = [waits EXCEPT ![c] = "late"]
    /\ UNCHANGED <<word, asked, goal, todo, doing, flag, failed>>

-----------------------------------------------------------------------------
Take(r) ==
    /\ r \in todo
    /\ doing[r] = 0
    /\ doing' = [doing EXCEPT ![r] = asked]
    /\ todo' = todo \ {r}
    /\ UNCHANGED <<word, asked, waits, goal, flag, failed>>

Finish(r) ==
    /\ doing[r] # 0
    /\ flag' = [flag EXCEPT ![r] = doing[r]]
    /\ doing' = [doing EXCEPT ![r] = 0]
    /\ UNCHANGED <<word, asked, waits, goal, todo, failed>>

\* An exception: the rank's log has it.
Fail(r) ==
    /\ r \in Failing
    /\ doing[r] = asked
    /\ asked # 0
    /\ doing' = [doing EXCEPT ![r] = 0]
    /\ failed' = failed \cup {r}
    /\ waits' = IF TellsFailures THEN [c \in Who |-> IF waits[c] = "waits" THEN "failed" ELSE waits[c]] ELSE waits
    /\ UNCHANGED <<word, asked, goal, todo, flag>>

\* All flags are up: the word is written.
Settle ==
    /\ Way(word)
    /\ \A r \in Ranks : flag[r] # 0 /\ (Keyed => flag[r] = asked)
    /\ word' = End(word)
    /\ UNCHANGED <<asked, waits, goal, todo, doing, flag, failed>>

-----------------------------------------------------------------------------
Next ==
    \/ \E c \in Who : Ask(c) \/ See(c) \/ GiveUp(c)
    \/ \E r \in Ranks : Take(r) \/ Finish(r) \/ Fail(r)
    \/ Settle

Spec == Init /\ [][Next]_vars
FairSpec ==
    /\ Spec
    /\ \A c \in Who : WF_vars(See(c))
    /\ \A r \in Ranks : WF_vars(Take(r)) /\ WF_vars(Finish(r) \/ Fail(r))
    /\ WF_vars(Settle)

TypeOK ==
    /\ word \in {Normal, Updating, Clearing, Cleared}
    /\ asked \in 0 .. MaxAsked
    /\ waits \in [Who -> {"none", "waits", "ok", "late", "failed"}]
    /\ goal \in [Who -> {Normal, Cleared}]
    /\ {doing, flag} \subseteq [Ranks -> 0 .. asked]
    /\ todo \cup failed \subseteq Ranks

\* Who waits for a word can still read it.
WaitsForWhatComes == \A c \in Who : waits[c] = "waits" => goal[c] \in {word, End(word)}

\* Nobody goes on waiting for a request that has failed, to be told at the end that it was slow.
FailureIsTold == failed # {} => \A c \in Who : waits[c] # "waits"

\* What is said to be done was done by every rank for this request.
DoneByAll == ~Way(word) => \A r \in Ranks : flag[r] = asked

CallReturns == waits[0] = "waits" ~> waits[0] # "waits"
=============================================================================
