----------------------------- MODULE WorkerLoop -----------------------------
(***************************************************************************)
(* The loop of N workers on top of dispatch: rank 0 looks whether there is *)
(* work, tells the others through a shared word and a barrier, and all     *)
(* ranks take the batch and run it together. When the weights change, all  *)
(* ranks call clear_data in the middle of the loop.                        *)
(*                                                                         *)
(* Shipped: the word says only that there is work; each rank then takes    *)
(* whatever is there. After a clear, and a put between two gets, one rank  *)
(* runs a batch in this loop and another does not (race P1.6).             *)
(* ~Shipped: the word is a ticket, the number of the batch that rank 0 saw *)
(* (0 = none). get(ticket) takes that batch or nothing, and a clear never  *)
(* takes away a batch that some rank has taken: all ranks take it, or none.*)
(*                                                                         *)
(* The calls of the queue are atomic here (Dispatch is the detail). The    *)
(* word is written before the first barrier of a loop and read before the  *)
(* second: running a batch is collective, so nobody starts the next loop   *)
(* while another has not tested the word of this one.                      *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
    N, MaxCalls, MaxLoops,
    MaxClears,      \* bound: loops in which the weights change, and clears of the engine
    EngineClears,   \* the engine calls clear_data too
    Shipped,        \* the queue and the loop are FastDeploy's
    Tickets         \* ~Shipped: each rank asks for the batch of the ticket, and not for any

Ranks == 0 .. N - 1

ASSUME /\ N \in Nat \ {0} /\ {MaxCalls, MaxLoops, MaxClears} \subseteq Nat
       /\ {EngineClears, Shipped, Tickets} \subseteq BOOLEAN

VARIABLES
    batch,      \* the queue: the batch in it, 0 = none
    taken,      \* the ranks that have taken it; shipped: the read flags, all set when there is none
    exist,      \* the word of exist_tasks
    epoch, seen,    \* clears so far, and the newest that each rank has seen (only ~Shipped)
    calls,      \* puts so far; a batch has the number of its put
    word,       \* what rank 0 tells: the ticket; shipped: 1 = EXIST, 0 = EMPTY
    change,     \* the weights change in this loop
    changes,    \* loops with a change, and clears of the engine, so far
    pc,
    ran         \* for each rank, what it ran in each of its loops, 0 = nothing

vars == <<batch, taken, exist, epoch, seen, calls, word, change, changes, pc, ran>>
queue == <<batch, taken, exist, epoch, seen>>

Init ==
    /\ batch = 0
    /\ taken = Ranks
    /\ exist = FALSE
    /\ epoch = 0
    /\ seen = [r \in Ranks |-> 0]
    /\ calls = 0
    /\ word = 0
    /\ change = FALSE
    /\ changes = 0
    /\ pc = [r \in Ranks |-> IF r = 0 THEN "look" ELSE "first barrier"]
    /\ ran = [r \in Ranks |-> <<>>]

Go(r, label) == pc' = [pc EXCEPT ![r] = label]
AllAt(label) == \A r \in Ranks : pc[r] = label

-----------------------------------------------------------------------------
(* The engine. *)

Put ==
    /\ calls < MaxCalls
    /\ IF Shipped THEN taken = Ranks ELSE batch = 0
    /\ calls' = calls + 1
    /\ batch' = calls + 1
    /\ taken' = {}
    /\ exist' = TRUE
    /\ UNCHANGED <<epoch, seen, word, change, changes, pc, ran>>

EngineClear ==
    /\ EngineClears
    /\ changes < MaxClears
    /\ changes' = changes + 1
    /\ IF Shipped
       THEN batch' = 0 /\ taken' = Ranks /\ UNCHANGED <<exist, epoch>>
       ELSE /\ epoch' = epoch + 1
            /\ batch' = IF taken = {} THEN 0 ELSE batch
            /\ exist' = (batch' # 0)
            /\ UNCHANGED taken
    /\ UNCHANGED <<seen, calls, word, change, pc, ran>>

-----------------------------------------------------------------------------
(* The workers. *)

\* Rank 0 looks. Shipped: it writes EXIST, or leaves the word as it is.
Look ==
    /\ pc[0] = "look"
    /\ Len(ran[0]) < MaxLoops
    /\ word' = IF Shipped THEN (IF exist THEN 1 ELSE word) ELSE (IF 0 \in taken THEN 0 ELSE batch)
    /\ change' \in {FALSE, changes < MaxClears}
    /\ changes' = IF change' THEN changes + 1 ELSE changes
    /\ Go(0, "first barrier")
    /\ UNCHANGED <<queue, calls, ran>>

FirstBarrier ==
    /\ AllAt("first barrier")
    /\ pc' = [r \in Ranks |-> IF change THEN "clear" ELSE "test"]
    /\ UNCHANGED <<queue, calls, word, change, changes, ran>>

ClearData(r) ==
    /\ pc[r] = "clear"
    /\ IF Shipped
       THEN batch' = 0 /\ taken' = Ranks /\ UNCHANGED <<exist, epoch, seen>>
       ELSE /\ epoch' = IF seen[r] = epoch THEN epoch + 1 ELSE epoch
            /\ batch' = IF seen[r] = epoch /\ taken = {} THEN 0 ELSE batch
            /\ exist' = (batch' # 0)
            /\ seen' = [seen EXCEPT ![r] = epoch']
            /\ UNCHANGED taken
    /\ Go(r, "test")
    /\ UNCHANGED <<calls, word, change, changes, ran>>

\* A rank that is not told runs nothing in this loop.
Idle(r) ==
    /\ pc[r] = "test"
    /\ word = 0
    /\ ran' = [ran EXCEPT ![r] = Append(@, 0)]
    /\ Go(r, "second barrier")
    /\ UNCHANGED <<queue, calls, word, change, changes>>

GetTasks(r) ==
    /\ pc[r] = "test"
    /\ word # 0
    /\ LET takes == batch # 0 /\ (Shipped \/ (r \notin taken /\ (Tickets => batch = word)))
           all == taken \cup {r} = Ranks
       IN /\ ran' = [ran EXCEPT ![r] = Append(@, IF takes THEN batch ELSE 0)]
          /\ taken' = IF Shipped \/ takes THEN taken \cup {r} ELSE taken
          /\ batch' = IF all /\ (Shipped \/ takes) THEN 0 ELSE batch
          /\ exist' = (exist /\ ~(all /\ (Shipped \/ takes)))
          /\ Go(r, IF Shipped /\ all THEN "mark" ELSE "second barrier")
    /\ UNCHANGED <<epoch, seen, calls, word, change, changes>>

\* Shipped: the rank that was told that all have read writes EMPTY.
MarkEmpty(r) ==
    /\ pc[r] = "mark"
    /\ word' = 0
    /\ Go(r, "second barrier")
    /\ UNCHANGED <<queue, calls, change, changes, ran>>

SecondBarrier ==
    /\ AllAt("second barrier")
    /\ pc' = [r \in Ranks |-> IF r = 0 THEN "look" ELSE "first barrier"]
    /\ UNCHANGED <<queue, calls, word, change, changes, ran>>

Next ==
    \/ Put \/ EngineClear \/ Look \/ FirstBarrier \/ SecondBarrier
    \/ \E r \in Ranks : ClearData(r) \/ Idle(r) \/ GetTasks(r) \/ MarkEmpty(r)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
TypeOK ==
    /\ batch \in 0 .. calls
    /\ taken \subseteq Ranks
    /\ exist \in BOOLEAN
    /\ epoch \in Nat
    /\ seen \in [Ranks -> 0 .. epoch]
    /\ calls \in 0 .. MaxCalls
    /\ word \in 0 .. MaxCalls
    /\ change \in BOOLEAN
    /\ changes \in 0 .. MaxClears
    /\ pc \in [Ranks -> {"look", "first barrier", "clear", "test", "mark", "second barrier"}]
    /\ \A r \in Ranks : \A i \in DOMAIN ran[r] : ran[r][i] \in 0 .. calls

\* In each loop all ranks run the same batch, or none runs any.
InStepPerLoop ==
    \A q, r \in Ranks : \A i \in DOMAIN ran[q] \cap DOMAIN ran[r] : ran[q][i] = ran[r][i]

\* No batch is run twice.
RunOnce == \A r \in Ranks : \A i, j \in DOMAIN ran[r] : i # j /\ ran[r][i] # 0 => ran[r][i] # ran[r][j]
=============================================================================
