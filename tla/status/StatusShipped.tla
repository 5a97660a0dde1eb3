--------------------------- MODULE StatusShipped ---------------------------
(***************************************************************************)
(* Clearing and restoring as FastDeploy does it: three words without       *)
(* owners, which the API server, every worker rank, every transfer rank    *)
(* and the thread of the prefix tree read and write by themselves. One     *)
(* step here is one read or write of a word, or one meeting of ranks.      *)
(*                                                                         *)
(* The constants choose what the environment does. In a guarded one (one   *)
(* worker rank, nobody fails, the API server asks only when everybody is   *)
(* idle) it works: MCStatusShipped_guarded.cfg. Each                       *)
(* MCStatusShipped_bug_*.cfg takes one of these away and breaks a property.*)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
    NW,             \* worker ranks
    NS,             \* transfer ranks
    MaxAsked,       \* bound: requests
    Calm,           \* requests begin when everybody is idle
    TreeFirst,      \* a clear begins with the prefix tree
    TreeDies,       \* the thread of the prefix tree dies of an exception
    Failing,        \* transfer ranks whose clear raises
    Absent,         \* worker ranks that are gone
    MayGiveUp,      \* the API server may give up waiting
    WriteBack,      \* worker rank 0 writes back what it has read
    CrossWait       \* cache and weights wait for each other's word before they write their own

Normal == 0
Updating == 1
Clearing == -1
Cleared == -2

Workers == 0 .. NW - 1
Movers == 0 .. NS - 1

ASSUME /\ {NW, NS} \subseteq Nat \ {0}
       /\ MaxAsked \in Nat
       /\ {Calm, TreeFirst, TreeDies, MayGiveUp, WriteBack, CrossWait} \subseteq BOOLEAN
       /\ Failing \subseteq Movers /\ Absent \subseteq Workers

VARIABLES
    weights, kv, tree,  \* the words
    asked,              \* number of requests so far
    goal,               \* what the latest wants: 0 update, 1 clear
    code,               \* what the API server has answered to it; 0: nothing yet
    pcA,                \* what the API server waits for
    pcW, seen,          \* of each worker rank: what it does, and the word that it acts on
    pcS, ready, paused, \* of each transfer rank
    treeLives           \* the thread of the prefix tree lives

vars == <<weights, kv, tree, asked, goal, code, pcA, pcW, seen, pcS, ready, paused, treeLives>>
words == <<weights, kv, tree>>
api == <<asked, goal, code, pcA>>
workers == <<pcW, seen>>
movers == <<pcS, ready, paused>>

Way(v) == v \in {Clearing, Updating}
End(v) == IF v = Clearing THEN Cleared ELSE IF v = Updating THEN Normal ELSE v

Init ==
    /\ weights = Normal /\ kv = Normal /\ tree = Normal
    /\ asked = 0 /\ goal = 0 /\ code = 0 /\ pcA = "idle"
    /\ pcW = [w \in Workers |-> "idle"]
    /\ seen = [w \in Workers |-> Normal]
    /\ pcS = [s \in Movers |-> "idle"]
    /\ ready = [s \in Movers |-> 1]
    /\ paused = [s \in Movers |-> FALSE]
    /\ treeLives = TRUE

CanRead ==
    /\ Absent = {}
    /\ \A w \in Workers : pcW[w] = "idle"
    /\ Way(weights) \/ (WriteBack /\ weights = Cleared)

TreeCanClear == treeLives /\ tree = Clearing /\ \A s \in Movers : paused[s]

Idle ==
    /\ \A w \in Workers : pcW[w] = "idle"
    /\ \A s \in Movers : pcS[s] = "idle"
    /\ ~Way(kv) /\ ~Way(weights)

\* Somebody does something about a request, or will.
Works ==
    \/ \E w \in Workers : pcW[w] # "idle"
    \/ \E s \in Movers : pcS[s] # "idle" \/ Way(kv)
    \/ CanRead /\ Way(weights)
    \/ TreeCanClear \/ (treeLives /\ tree = Updating)

-----------------------------------------------------------------------------
(* The API server looks at the weights' word only. *)

\* The answer to a request of goal g: 0 when it begins.
Look(g) ==
    LET from == IF g = 1 THEN Normal ELSE Cleared
        way == IF g = 1 THEN Clearing ELSE Updating
    IN CASE weights = from -> 0 [] weights = End(way) -> 200 [] weights = way -> 400 [] OTHER -> 403

Ask(g) ==
    /\ pcA = "idle"
    /\ asked < MaxAsked
    /\ Calm => Idle
    /\ asked' = asked + 1
    /\ goal' = g
    /\ code' = Look(g)
    /\ IF Look(g) # 0 THEN UNCHANGED <<words, pcA>>
       ELSE IF g = 0 THEN tree' = Updating /\ pcA' = "tree up" /\ UNCHANGED <<weights, kv>>
       ELSE IF TreeFirst THEN tree' = Clearing /\ pcA' = "tree down" /\ UNCHANGED <<weights, kv>>
       ELSE weights' = Clearing /\ pcA' = "cache down" /\ UNCHANGED <<kv, tree>>
    /\ UNCHANGED <<workers, movers, treeLives>>

Answer(c) == code' = c /\ pcA' = "idle"

SeeCleared ==
    /\ pcA = "cache down"
    /\ weights = Cleared /\ kv = Cleared
    /\ IF TreeFirst THEN Answer(200) /\ UNCHANGED tree ELSE tree' = Clearing /\ pcA' = "tree down" /\ UNCHANGED code
    /\ UNCHANGED <<weights, kv, asked, goal, workers, movers, treeLives>>

SeeTreeCleared ==
    /\ pcA = "tree down"
    /\ tree = Cleared
    /\ IF TreeFirst
       THEN weights' = Clearing /\ pcA' = "cache down" /\ UNCHANGED code
       ELSE Answer(200) /\ UNCHANGED weights
    /\ UNCHANGED <<kv, tree, asked, goal, workers, movers, treeLives>>

SeeTreeNormal ==
    /\ pcA = "tree up"
    /\ tree = Normal
    /\ weights' = Updating
    /\ pcA' = "cache up"
    /\ UNCHANGED <<kv, tree, asked, goal, code, workers, movers, treeLives>>

SeeNormal ==
    /\ pcA = "cache up"
    /\ weights = Normal /\ kv = Normal
    /\ Answer(200)
    /\ UNCHANGED <<words, asked, goal, workers, movers, treeLives>>

\* The words stay as they are.
GiveUp ==
    /\ MayGiveUp
    /\ pcA # "idle"
    /\ Answer(404)
    /\ UNCHANGED <<words, asked, goal, workers, movers, treeLives>>

-----------------------------------------------------------------------------
(* Worker ranks: rank 0 reads and tells the others, who all write. *)

Read ==
    /\ CanRead
    /\ seen' = [w \in Workers |-> weights]
    /\ pcW' = [w \in Workers |-> "write"]
    /\ UNCHANGED <<words, api, movers, treeLives>>

Write(w) ==
    /\ pcW[w] = "write"
    /\ weights' = IF w = 0 /\ WriteBack THEN seen[w] ELSE weights
    /\ kv' = IF Way(seen[w]) THEN seen[w] ELSE kv
    /\ pcW' = [pcW EXCEPT ![w] = IF Way(seen[w]) THEN "work" ELSE "idle"]
    /\ UNCHANGED <<tree, api, seen, movers, treeLives>>

\* Rank 0 says that it is done; the others wait until they read exactly that.
Work(w) ==
    /\ pcW[w] = "work"
    /\ CrossWait /\ w = 0 /\ seen[w] = Updating => kv = Normal
    /\ weights' = IF w = 0 THEN End(seen[w]) ELSE weights
    /\ pcW' = [pcW EXCEPT ![w] = IF w = 0 THEN "idle" ELSE "poll"]
    /\ UNCHANGED <<kv, tree, api, seen, movers, treeLives>>

Poll(w) ==
    /\ pcW[w] = "poll"
    /\ weights = End(seen[w])
    /\ pcW' = [pcW EXCEPT ![w] = "idle"]
    /\ UNCHANGED <<words, api, seen, movers, treeLives>>

-----------------------------------------------------------------------------
(* Transfer ranks: each looks for itself, and each writes the result. *)

At(s, label) == pcS[s] = label
Go(s, label) == pcS' = [pcS EXCEPT ![s] = label]

See(s) ==
    /\ At(s, "idle")
    /\ Way(kv)
    /\ Go(s, IF kv = Clearing THEN "pause" ELSE "restore")
    /\ UNCHANGED <<words, api, workers, ready, paused, treeLives>>

\* The barrier of a pause: all ranks come, or none goes on.
Pause ==
    /\ \A s \in Movers : At(s, "pause")
    /\ pcS' = [s \in Movers |-> "clear"]
    /\ paused' = [s \in Movers |-> TRUE]
    /\ UNCHANGED <<words, api, workers, ready, treeLives>>

Clear(s) ==
    /\ At(s, "clear")
    /\ s \notin Failing
    /\ ready' = [ready EXCEPT ![s] = 0]
    /\ Go(s, "all down")
    /\ UNCHANGED <<words, api, workers, paused, treeLives>>

\* The exception is logged, and the rank looks again.
ClearRaises(s) ==
    /\ At(s, "clear")
    /\ s \in Failing
    /\ Go(s, "idle")
    /\ UNCHANGED <<words, api, workers, ready, paused, treeLives>>

SayCleared(s) ==
    /\ At(s, "all down")
    /\ \A q \in Movers : ready[q] = 0
    /\ kv' = Cleared
    /\ Go(s, "idle")
    /\ UNCHANGED <<weights, tree, api, workers, ready, paused, treeLives>>

Restore(s) ==
    /\ At(s, "restore")
    /\ ready' = [ready EXCEPT ![s] = 1]
    /\ Go(s, "all up")
    /\ UNCHANGED <<words, api, workers, paused, treeLives>>

Resume ==
    /\ \A s \in Movers : At(s, "all up")
    /\ paused' = [s \in Movers |-> FALSE]
    /\ pcS' = [s \in Movers |-> "normal"]
    /\ UNCHANGED <<words, api, workers, ready, treeLives>>

SayNormal(s) ==
    /\ At(s, "normal")
    /\ CrossWait => weights = Normal
    /\ kv' = Normal
    /\ Go(s, "idle")
    /\ UNCHANGED <<weights, tree, api, workers, ready, paused, treeLives>>

-----------------------------------------------------------------------------
(* The thread of the prefix tree. It resets when no transfer is under way, which it can see of paused ranks only. *)

ClearTree ==
    /\ TreeCanClear
    /\ ~TreeDies
    /\ tree' = Cleared
    /\ UNCHANGED <<weights, kv, api, workers, movers, treeLives>>

ThreadDies ==
    /\ TreeCanClear
    /\ TreeDies
    /\ treeLives' = FALSE
    /\ UNCHANGED <<words, api, workers, movers>>

RestoreTree ==
    /\ treeLives
    /\ tree = Updating
    /\ tree' = Normal
    /\ UNCHANGED <<weights, kv, api, workers, movers, treeLives>>

Next ==
    \/ \E g \in 0 .. 1 : Ask(g)
    \/ SeeCleared
    \/ SeeTreeCleared
    \/ SeeTreeNormal
    \/ SeeNormal
    \/ GiveUp
    \/ Read
    \/ \E w \in Workers : Write(w)
    \/ \E w \in Workers : Work(w)
    \/ \E w \in Workers : Poll(w)
    \/ \E s \in Movers : See(s)
    \/ Pause
    \/ \E s \in Movers : Clear(s)
    \/ \E s \in Movers : ClearRaises(s)
    \/ \E s \in Movers : SayCleared(s)
    \/ \E s \in Movers : Restore(s)
    \/ Resume
    \/ \E s \in Movers : SayNormal(s)
    \/ ClearTree
    \/ ThreadDies
    \/ RestoreTree

Spec == Init /\ [][Next]_vars
=============================================================================
