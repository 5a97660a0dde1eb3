------------------------------ MODULE Segments ------------------------------
(***************************************************************************)
(* What a name for shared memory is, without a word about how: it leads to *)
(* one segment, or to none. Create, replace, attach and clear are atomic.  *)
(* Who holds a segment that is no longer there has been told.              *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
    Actors,         \* who may create, attach, clear and die
    Things,         \* segments; positive numbers
    Bold            \* who may replace what another one owns

None == 0
Alien == -1         \* something that is no segment, at the name

VARIABLES
    current,        \* what the name leads to
    owner,          \* of each actor: the segments that it owns
    user,           \* of each actor: the segments that it has attached
    told            \* segments that are gone from the name, and whose holders can know it

segmentVars == <<current, owner, user, told>>

SegmentsInit ==
    /\ current = None
    /\ owner = [a \in Actors |-> {}]
    /\ user = [a \in Actors |-> {}]
    /\ told = {}

Fresh(t) == t # current /\ t \notin told /\ \A a \in Actors : t \notin owner[a] \cup user[a]
Gone == IF current \in Things THEN told \cup {current} ELSE told

\* Over nothing, over a segment that nobody else owns, or boldly over anything.
Make(a, t) ==
    /\ Fresh(t)
    /\ a \in Bold \/ (current # Alien /\ \A b \in Actors \ {a} : current \notin owner[b])
    /\ current' = t
    /\ owner' = [owner EXCEPT ![a] = @ \cup {t}]
    /\ told' = Gone
    /\ UNCHANGED user

Use(a) ==
    /\ current \in Things \ user[a]
    /\ user' = [user EXCEPT ![a] = @ \cup {current}]
    /\ UNCHANGED <<current, owner, told>>

Remove(a) ==
    /\ current \in owner[a]
    /\ current' = None
    /\ told' = Gone
    /\ UNCHANGED <<owner, user>>

Forget(a, t) ==
    /\ \/ t \in owner[a] /\ owner' = [owner EXCEPT ![a] = @ \ {t}] /\ UNCHANGED user
       \/ t \in user[a] /\ user' = [user EXCEPT ![a] = @ \ {t}] /\ UNCHANGED owner
    /\ UNCHANGED <<current, told>>

Die(a) ==
    /\ owner[a] \cup user[a] # {}
    /\ owner' = [owner EXCEPT ![a] = {}]
    /\ user' = [user EXCEPT ![a] = {}]
    /\ UNCHANGED <<current, told>>

Intrude ==
    /\ current = None
    /\ current' = Alien
    /\ UNCHANGED <<owner, user, told>>

SegmentsNext ==
    \/ Intrude
    \/ \E a \in Actors : Use(a) \/ Remove(a) \/ Die(a) \/ \E t \in Things : Make(a, t) \/ Forget(a, t)

SegmentsSpec == SegmentsInit /\ [][SegmentsNext]_segmentVars
=============================================================================
