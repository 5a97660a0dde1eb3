-------------------------- MODULE ReadinessShipped ------------------------
(***************************************************************************)
(* Readiness and health as FastDeploy has them: a word for each rank in    *)
(* shared memory, which is 1 when the rank is ready, and one with the time *)
(* of its last round; the launcher polls the sum of the first, the API     *)
(* server looks at the second, of rank 0. One step here is one read or     *)
(* write of a word, or something that happens to a process.                *)
(*                                                                         *)
(* The constants choose what the environment does. In a guarded one it     *)
(* works: MCReadinessShipped_guarded.cfg. Each MCReadinessShipped_bug_*.cfg *)
(* takes one of these away and breaks a property.                          *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
    N,              \* ranks
    Leftover,       \* ranks whose word still has the 1 of the last time
    Dies,           \* ranks that may die
    HangsUp,        \* ranks whose loop may stand still
    Busy,           \* ranks that may make a step longer than the limit
    CrossWait,      \* rank 0 waits for what rank 1 measures, and rank 1 for rank 0 to be ready
    Looks,          \* the health check looks at "beats" of rank 0, at "exits", or waits for "messages" of trouble
    Checked         \* the API server looks before it accepts a request

Ranks == 0 .. N - 1

ASSUME /\ N \in Nat \ {0}
       /\ Leftover \cup Dies \cup HangsUp \cup Busy \subseteq Ranks
       /\ {CrossWait, Checked} \subseteq BOOLEAN
       /\ Looks \in {"beats", "exits", "messages"}

VARIABLES
    word,           \* of each rank: ready
    state,          \* what the process is really doing
    beat,           \* the time in the rank's other word: zero, fresh, or older than the limit
    late,           \* nothing was heard of the rank for the limit
    launched,       \* the launcher has seen the sum
    health,         \* the last answer of the health check
    accepted        \* the API server has accepted a request

vars == <<word, state, beat, late, launched, health, accepted>>

Init ==
    /\ word = [r \in Ranks |-> IF r \in Leftover THEN 1 ELSE 0]
    /\ state = [r \in Ranks |-> "new"]
    /\ beat = [r \in Ranks |-> "zero"]
    /\ late = [r \in Ranks |-> FALSE]
    /\ launched = FALSE
    /\ health = "none"
    /\ accepted = FALSE

Becomes(r, what) == state' = [state EXCEPT ![r] = what]

\* Whoever is started lowers its word first.
Start(r) ==
    /\ state[r] = "new"
    /\ Becomes(r, "starting")
    /\ word' = [word EXCEPT ![r] = 0]
    /\ UNCHANGED <<beat, late, launched, health, accepted>>

MayComeUp(r) == CrossWait => IF r = 0 THEN state[1] = "up" ELSE word[0] = 1

Up(r) ==
    /\ state[r] = "starting"
    /\ MayComeUp(r)
    /\ Becomes(r, "up")
    /\ word' = [word EXCEPT ![r] = 1]
    /\ UNCHANGED <<beat, late, launched, health, accepted>>

\* Its words stay as they are.
Die(r) ==
    /\ r \in Dies
    /\ state[r] # "dead"
    /\ Becomes(r, "dead")
    /\ UNCHANGED <<word, beat, late, launched, health, accepted>>

HangUp(r) ==
    /\ r \in HangsUp
    /\ state[r] = "up"
    /\ Becomes(r, "hung")
    /\ UNCHANGED <<word, beat, late, launched, health, accepted>>

BeginLong(r) ==
    /\ r \in Busy
    /\ state[r] = "up"
    /\ Becomes(r, "busy")
    /\ UNCHANGED <<word, beat, late, launched, health, accepted>>

EndLong(r) ==
    /\ state[r] = "busy"
    /\ Becomes(r, "up")
    /\ UNCHANGED <<word, beat, late, launched, health, accepted>>

Beat(r) ==
    /\ state[r] = "up"
    /\ beat[r] # "fresh"
    /\ beat' = [beat EXCEPT ![r] = "fresh"]
    /\ late' = [late EXCEPT ![r] = FALSE]
    /\ UNCHANGED <<word, state, launched, health, accepted>>

\* The limit passes.
Silent(r) ==
    /\ state[r] \in {"busy", "hung", "dead"}
    /\ ~late[r]
    /\ late' = [late EXCEPT ![r] = TRUE]
    /\ beat' = [beat EXCEPT ![r] = IF @ = "zero" THEN @ ELSE "old"]
    /\ UNCHANGED <<word, state, launched, health, accepted>>

RECURSIVE Sum(_)
Sum(n) == IF n = 0 THEN 0 ELSE word[n - 1] + Sum(n - 1)

Launch ==
    /\ ~launched
    /\ Sum(N) = N
    /\ launched' = TRUE
    /\ UNCHANGED <<word, state, beat, late, health, accepted>>

\* No process can send the message that it was killed.
Seems ==
    CASE Looks = "beats" -> IF beat[0] = "old" THEN "bad" ELSE "good"
      [] Looks = "exits" -> IF \E r \in Ranks : state[r] = "dead" THEN "bad" ELSE "good"
      [] OTHER -> "good"

Check ==
    /\ launched
    /\ health' = Seems
    /\ health' # health
    /\ UNCHANGED <<word, state, beat, late, launched, accepted>>

Accept ==
    /\ launched
    /\ ~accepted
    /\ Checked => Seems = "good"
    /\ accepted' = TRUE
    /\ UNCHANGED <<word, state, beat, late, launched, health>>

Next ==
    \/ \E r \in Ranks : Start(r)
    \/ \E r \in Ranks : Up(r)
    \/ \E r \in Ranks : Die(r)
    \/ \E r \in Ranks : HangUp(r)
    \/ \E r \in Ranks : BeginLong(r)
    \/ \E r \in Ranks : EndLong(r)
    \/ \E r \in Ranks : Beat(r)
    \/ \E r \in Ranks : Silent(r)
    \/ Launch
    \/ Check
    \/ Accept

Spec == Init /\ [][Next]_vars
=============================================================================
