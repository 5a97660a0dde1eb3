----------------------------- MODULE WorkerLoop -----------------------------
(***************************************************************************)
(* The loop of N workers on top of dispatch: rank 0 looks whether there is *)
(* work, tells the others through a shared word and a barrier, and all     *)
(* ranks take the batch and run it together. When the weights change, all  *)
(* ranks call clear_data in the middle of the loop.                        *)
(*                                                                         *)
(* Tickets: the word is a ticket, the number of the batch that rank 0 saw  *)
(* (0 = none). get(ticket) takes that batch or nothing, and a clear never  *)
(* takes away a batch that some rank has taken: all ranks take it, or none.*)
(* ~Tickets: the word is FastDeploy's flag. It says only that there is     *)
(* work; each rank then takes what is there, and the rank that is told     *)
(* that all have read lowers the flag. Shipped: on FastDeploy's queue;     *)
(* ~Shipped: on ours.                                                      *)
(*                                                                         *)
(* The calls of the queue are atomic here (Dispatch, and Bitmask, which is *)
(* equivalent to it, are the detail). Looking and raising the flag are two *)
(* steps, getting and lowering it are two. A rank tests the word and gets  *)
(* in one step: what is written between these two changes nothing for it.  *)
(* With Tickets, Meets must be "always": a word may be overwritten when    *)
(* all have tested it.                                                     *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
    N, MaxCalls, MaxLoops,
    Depth,          \* batches that the queue retains at once
    MaxClears,      \* bound: loops in which the weights change, and clears of the engine
    EngineClears,   \* the engine calls clear_data too
    Shipped,        \* the queue and the loop are FastDeploy's
    Tickets,        \* each rank asks for the batch of the ticket, and not for any
    Meets,          \* at the end of which loops all ranks meet: "always", "idle" (those without a batch), "never"
    OwnRead,        \* exist_tasks() of a rank is about what that rank has not taken
    SecondLook,     \* and about what only others have not taken, when it was so at its last look already
    IdleGetEnds     \* a get from an empty queue answers that all have read

Ranks == 0 .. N - 1

ASSUME /\ N \in Nat \ {0} /\ Depth \in Nat \ {0} /\ {MaxCalls, MaxLoops, MaxClears} \subseteq Nat
       /\ {EngineClears, Shipped, Tickets, OwnRead, SecondLook, IdleGetEnds} \subseteq BOOLEAN
       /\ Meets \in {"always", "idle", "never"}
       /\ Shipped => ~Tickets /\ Depth = 1
       /\ Tickets => Meets = "always"

VARIABLES
    log,        \* the queue: batches, oldest first, each with the ranks that have taken it
    exist,      \* the word of exist_tasks, as shipped a variable of its own
    epoch, seen,    \* clears so far, and the newest that each rank has seen (only ~Shipped)
    calls,      \* puts so far; a batch has the number of its put
    word,       \* what rank 0 tells: the ticket, or 1 = there is work, 0 = there is none
    looked,     \* the oldest batch at rank 0's last look, if rank 0 had taken all that there was; else 0
    change,     \* the weights change in this loop
    changes,    \* loops with a change, and clears of the engine, so far
    pc,
    ran         \* for each rank, what it ran in each of its loops, 0 = nothing

vars == <<log, exist, epoch, seen, calls, word, looked, change, changes, pc, ran>>
queue == <<log, exist, epoch, seen>>

Start(r) == IF r = 0 THEN "look" ELSE "first barrier"

Init ==
    /\ log = <<>>
    /\ exist = FALSE
    /\ epoch = 0
    /\ seen = [r \in Ranks |-> 0]
    /\ calls = 0
    /\ word = 0
    /\ looked = 0
    /\ change = FALSE
    /\ changes = 0
    /\ pc = [r \in Ranks |-> Start(r)]
    /\ ran = [r \in Ranks |-> <<>>]

Go(r, label) == pc' = [pc EXCEPT ![r] = label]
AllAt(label) == \A r \in Ranks : pc[r] = label

\* Where a rank goes that ran `batch` in this loop.
End(r, batch) == IF Meets = "always" \/ (Meets = "idle" /\ batch = 0) THEN "second barrier" ELSE Start(r)

Untaken(r) == SelectSeq(log, LAMBDA entry : r \notin entry.taken)
OldestFor(r) == IF Untaken(r) = <<>> THEN 0 ELSE Head(Untaken(r)).id
Started(entries) == SelectSeq(entries, LAMBDA entry : entry.taken # {})

-----------------------------------------------------------------------------
(* The engine. *)

Put ==
    /\ calls < MaxCalls
    /\ Len(log) < Depth
    /\ calls' = calls + 1
    /\ log' = Append(log, [id |-> calls + 1, taken |-> {}])
    /\ exist' = TRUE
    /\ UNCHANGED <<epoch, seen, word, looked, change, changes, pc, ran>>

\* What an effective clear does.
Wipe ==
    IF Shipped
    THEN log' = <<>> /\ UNCHANGED <<exist, epoch>>
    ELSE epoch' = epoch + 1 /\ log' = Started(log) /\ exist' = (log' # <<>>)

EngineClear ==
    /\ EngineClears
    /\ changes < MaxClears
    /\ changes' = changes + 1
    /\ Wipe
    /\ UNCHANGED <<seen, calls, word, looked, change, pc, ran>>

-----------------------------------------------------------------------------
(* The workers. *)

\* Rank 0 looks, and with tickets it tells at once.
Look ==
    /\ pc[0] = "look"
    /\ Len(ran[0]) < MaxLoops
    /\ LET own == OldestFor(0)
           others == IF log # <<>> /\ own = 0 THEN log[1].id ELSE 0
           global == Shipped \/ ~OwnRead
           says == CASE Tickets -> FALSE
                     [] global -> exist
                     [] OTHER -> own # 0 \/ (SecondLook /\ others # 0 /\ looked = others)
       IN /\ word' = IF Tickets THEN own ELSE word
          /\ looked' = IF Tickets \/ global THEN 0 ELSE others
          /\ Go(0, IF says THEN "tell" ELSE "first barrier")
    /\ change' \in {FALSE, changes < MaxClears}
    /\ changes' = IF change' THEN changes + 1 ELSE changes
    /\ UNCHANGED <<queue, calls, ran>>

\* Rank 0 raises the flag. (It never lowers it here.)
Tell ==
    /\ pc[0] = "tell"
    /\ word' = 1
    /\ Go(0, "first barrier")
    /\ UNCHANGED <<queue, calls, looked, change, changes, ran>>

FirstBarrier ==
    /\ AllAt("first barrier")
    /\ pc' = [r \in Ranks |-> IF change THEN "clear" ELSE "test"]
    /\ UNCHANGED <<queue, calls, word, looked, change, changes, ran>>

ClearData(r) ==
    /\ pc[r] = "clear"
    /\ IF Shipped \/ seen[r] = epoch THEN Wipe ELSE UNCHANGED <<log, exist, epoch>>
    /\ seen' = [seen EXCEPT ![r] = epoch']
    /\ Go(r, "test")
    /\ UNCHANGED <<calls, word, looked, change, changes, ran>>

\* A rank that is not told runs nothing in this loop.
Idle(r) ==
    /\ pc[r] = "test"
    /\ word = 0
    /\ ran' = [ran EXCEPT ![r] = Append(@, 0)]
    /\ Go(r, End(r, 0))
    /\ UNCHANGED <<queue, calls, word, looked, change, changes>>

GetTasks(r) ==
    /\ pc[r] = "test"
    /\ word # 0
    /\ LET batch == CASE Shipped -> IF log = <<>> THEN 0 ELSE log[1].id
                      [] Tickets -> IF OldestFor(r) = word THEN word ELSE 0
                      [] OTHER -> OldestFor(r)
           marked == [i \in DOMAIN log |-> IF log[i].id = batch THEN [log[i] EXCEPT !.taken = @ \cup {r}] ELSE log[i]]
           last == IF batch = 0
                   THEN log = <<>> /\ (Shipped \/ IdleGetEnds)
                   ELSE \A i \in DOMAIN log : log[i].id = batch => log[i].taken \cup {r} = Ranks
       IN /\ log' = SelectSeq(marked, LAMBDA entry : entry.taken # Ranks)
          /\ exist' = IF Shipped THEN exist /\ ~last ELSE log' # <<>>
          /\ ran' = [ran EXCEPT ![r] = Append(@, batch)]
          /\ Go(r, IF last /\ ~Tickets THEN "mark" ELSE End(r, batch))
    /\ UNCHANGED <<epoch, seen, calls, word, looked, change, changes>>

\* The rank that was told that all have read lowers the flag.
MarkEmpty(r) ==
    /\ pc[r] = "mark"
    /\ word' = 0
    /\ Go(r, End(r, ran[r][Len(ran[r])]))
    /\ UNCHANGED <<queue, calls, looked, change, changes, ran>>

SecondBarrier ==
    /\ AllAt("second barrier")
    /\ pc' = [r \in Ranks |-> Start(r)]
    /\ UNCHANGED <<queue, calls, word, looked, change, changes, ran>>

Next ==
    \/ Put \/ EngineClear \/ Look \/ Tell \/ FirstBarrier \/ SecondBarrier
    \/ \E r \in Ranks : ClearData(r) \/ Idle(r) \/ GetTasks(r) \/ MarkEmpty(r)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
TypeOK ==
    /\ Len(log) <= Depth
    /\ \A i \in DOMAIN log : log[i] \in [id : 1 .. calls, taken : SUBSET Ranks \ {Ranks}]
    /\ exist \in BOOLEAN
    /\ epoch \in Nat
    /\ seen \in [Ranks -> 0 .. epoch]
    /\ calls \in 0 .. MaxCalls
    /\ {word, looked} \subseteq 0 .. MaxCalls
    /\ change \in BOOLEAN
    /\ changes \in 0 .. MaxClears
    /\ pc \in [Ranks -> {"look", "tell", "first barrier", "clear", "test", "mark", "second barrier"}]
    /\ \A r \in Ranks : \A i \in DOMAIN ran[r] : ran[r][i] \in 0 .. calls

\* In each loop all ranks run the same batch, or none runs any.
InStepPerLoop ==
    \A q, r \in Ranks : \A i \in DOMAIN ran[q] \cap DOMAIN ran[r] : ran[q][i] = ran[r][i]

\* No batch is run twice.
RunOnce == \A r \in Ranks : \A i, j \in DOMAIN ran[r] : i # j /\ ran[r][i] # 0 => ran[r][i] # ran[r][j]

\* What one rank has run, every other has run at the latest two loops later.
NoneLeftBehind ==
    \A q, r \in Ranks : \A i \in DOMAIN ran[q] :
        ran[q][i] # 0 /\ i + 2 \in DOMAIN ran[r] => \E j \in 1 .. i + 2 : ran[r][j] = ran[q][i]

\* When rank 0 begins a loop, the flag says that there is a batch only if there is one. (Meets = "always".)
WordIsTrue == pc[0] = "look" /\ word # 0 => log # <<>>
=============================================================================
