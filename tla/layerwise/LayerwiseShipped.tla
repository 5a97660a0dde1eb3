-------------------------- MODULE LayerwiseShipped --------------------------
(***************************************************************************)
(* The published cache messager: one thread of each rank takes messages    *)
(* ("these tasks have computed their first layer") from a queue and looks  *)
(* the tasks up in a table that another thread fills with infos. All ranks *)
(* get the same messages, and the same infos, each in one order. A batch   *)
(* that is sent ends in one collective call.                               *)
(*                                                                         *)
(* Three versions of the look-up were published, one after another:        *)
(*   drop     a task that is not in the table is passed over               *)
(*   wait     the thread waits until the tasks of the message are there    *)
(*   split    those that are there are sent; the others when they come     *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    N,          \* number of ranks
    Messages,   \* number of messages
    Size,       \* tasks in a message: message m is about tasks Size * (m - 1) + 1 .. Size * m
    Lost,       \* tasks whose info reaches nobody
    InfoFirst,  \* the guarded environment: a message comes after the infos of its tasks
    Style       \* "drop", "wait" or "split"

Ranks == 0 .. N - 1
Tasks == 1 .. Messages * Size
About(m) == Size * (m - 1) + 1 .. Size * m

ASSUME Lost \subseteq Tasks /\ InfoFirst \in BOOLEAN /\ Style \in {"drop", "wait", "split"}

VARIABLES
    heard,      \* messages that have come, for each rank
    taken,      \* messages that the thread has taken
    infos,      \* tasks in the table
    pending,    \* tasks that wait for their info
    batches     \* the tasks of each collective call, in order

vars == <<heard, taken, infos, pending, batches>>

Init ==
    /\ heard = [r \in Ranks |-> 0]
    /\ taken = [r \in Ranks |-> 0]
    /\ infos = [r \in Ranks |-> {}]
    /\ pending = [r \in Ranks |-> {}]
    /\ batches = [r \in Ranks |-> <<>>]

Message(r) ==
    /\ heard[r] < Messages
    /\ ~InfoFirst \/ About(heard[r] + 1) \subseteq infos[r]
    /\ heard' = [heard EXCEPT ![r] = @ + 1]
    /\ UNCHANGED <<taken, infos, pending, batches>>

\* The next info; one that is lost comes nowhere.
Info(r) ==
    /\ \E t \in Tasks \ (infos[r] \cup Lost) :
        /\ \A u \in Tasks \ Lost : u < t => u \in infos[r]
        /\ infos' = [infos EXCEPT ![r] = @ \cup {t}]
    /\ UNCHANGED <<heard, taken, pending, batches>>

Send(r, some) == batches' = [batches EXCEPT ![r] = IF some = {} THEN @ ELSE Append(@, some)]

Take(r) ==
    /\ taken[r] < heard[r]
    /\ LET all == About(taken[r] + 1)
           ready == all \cap infos[r]
       IN  /\ Style = "wait" => ready = all
           /\ Send(r, ready)
           /\ pending' = [pending EXCEPT ![r] = IF Style = "split" THEN @ \cup (all \ ready) ELSE @]
    /\ taken' = [taken EXCEPT ![r] = @ + 1]
    /\ UNCHANGED <<heard, infos>>

Retry(r) ==
    /\ pending[r] \cap infos[r] # {}
    /\ Send(r, pending[r] \cap infos[r])
    /\ pending' = [pending EXCEPT ![r] = @ \ infos[r]]
    /\ UNCHANGED <<heard, taken, infos>>

Next == \E r \in Ranks : Message(r) \/ Info(r) \/ Take(r) \/ Retry(r)

Spec == Init /\ [][Next]_vars
FairSpec == Spec /\ \A r \in Ranks : WF_vars(Info(r)) /\ WF_vars(Take(r)) /\ WF_vars(Retry(r))

-----------------------------------------------------------------------------
\* The ranks make the same collective calls.
SameBatches == \A r, q \in Ranks : \A i \in DOMAIN batches[r] \cap DOMAIN batches[q] : batches[r][i] = batches[q][i]

Sent(r) == UNION {batches[r][i] : i \in DOMAIN batches[r]}

\* A task is sent when its first layer is computed and its info is there.
EverySent == \A r \in Ranks, m \in 1 .. Messages : \A t \in About(m) :
    (heard[r] >= m /\ t \in infos[r]) ~> t \in Sent(r)
=============================================================================
