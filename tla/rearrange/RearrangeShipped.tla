-------------------------- MODULE RearrangeShipped --------------------------
(***************************************************************************)
(* A rearrangement of experts as FastDeploy coordinates it: words in       *)
(* shared memory that several processes read and write by themselves. One  *)
(* step here is one access to one word.                                    *)
(*                                                                         *)
(* Requesters are numbers 1 .. M, and each makes one request: it writes    *)
(* its number where the list of addresses goes, which has two cells. The   *)
(* manager is the expert manager of rank 0. The worker stands for those of *)
(* all ranks, which a barrier keeps together.                              *)
(*                                                                         *)
(* The constants choose what the environment does. In a guarded one it     *)
(* works: MCRearrangeShipped_guarded.cfg. Each MCRearrangeShipped_bug_*    *)
(* takes some of that away and breaks a property.                          *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    N,                  \* ranks
    M,                  \* requesters
    BytesFirst,         \* a requester writes the addresses before their number; shipped: after it
    Turns,              \* a requester looks only when all is quiet
    GivesUp,            \* the manager may lose patience with the loaders
    Hasty,              \* the manager may free the status while the worker is not done
    Failing,            \* ranks whose load fails
    Deaf                \* ranks that the manager's message does not reach

Ranks == 0 .. N - 1
Requesters == 1 .. M

ASSUME /\ {N, M} \subseteq Nat \ {0}
       /\ {BytesFirst, Turns, GivesUp, Hasty} \subseteq BOOLEAN
       /\ Failing \cup Deaf \subseteq Ranks

VARIABLES
    size,       \* word: how many addresses there are; 0 = no request
    cells,      \* the addresses
    status,     \* word: 0 free, 1 doing, 2 loaded, 3 done
    disk,       \* word of each rank: 1 = load
    told,       \* what each rank was told to load
    result,     \* word of each rank: 1 loaded, -1 failed
    tensor,     \* word: 1 = exchange the weights
    infos,      \* the loaded table of each rank; 0 = none
    asking,     \* what each requester does next
    manager,    \* what the manager does next
    list,       \* the addresses that the manager has read
    next,       \* the rank that it tells next
    loader,     \* what each loader does next
    job,        \* what it loads
    worker,     \* what the worker does next
    served      \* history: requests that the manager has taken

vars == <<size, cells, status, disk, told, result, tensor, infos, asking, manager, list, next, loader, job, worker, served>>
words == <<size, cells, status, disk, told, result, tensor, infos>>
others == <<manager, list, next, loader, job, worker, served>>

Init ==
    /\ size = 0
    /\ cells = <<0, 0>>
    /\ status = 0
    /\ disk = [r \in Ranks |-> 0]
    /\ told = [r \in Ranks |-> 0]
    /\ result = [r \in Ranks |-> 0]
    /\ tensor = 0
    /\ infos = [r \in Ranks |-> 0]
    /\ asking = [i \in Requesters |-> "idle"]
    /\ manager = "poll"
    /\ list = <<0, 0>>
    /\ next = 0
    /\ loader = [r \in Ranks |-> "wait"]
    /\ job = [r \in Ranks |-> 0]
    /\ worker = "idle"
    /\ served = {}

-----------------------------------------------------------------------------
(* A requester: looks at the status, then writes. *)

Quiet ==
    /\ size = 0 /\ status = 0 /\ manager = "poll" /\ worker = "idle"
    /\ \A i \in Requesters : asking[i] \in {"idle", "done", "refused"}
    /\ \A r \in Ranks : loader[r] = "wait"

AskGo(i, label) == asking' = [asking EXCEPT ![i] = label]

Look(i) ==
    /\ asking[i] = "idle"
    /\ Turns => Quiet
    /\ AskGo(i, IF status # 0 THEN "refused" ELSE IF BytesFirst THEN "cell 1" ELSE "size")
    /\ UNCHANGED <<words, others>>

WriteSize(i) ==
    /\ asking[i] = "size"
    /\ size' = 2
    /\ AskGo(i, IF BytesFirst THEN "done" ELSE "cell 1")
    /\ UNCHANGED <<cells, status, disk, told, result, tensor, infos, others>>

WriteCell(i) ==
    /\ asking[i] \in {"cell 1", "cell 2"}
    /\ cells' = [cells EXCEPT ![IF asking[i] = "cell 1" THEN 1 ELSE 2] = i]
    /\ AskGo(i, IF asking[i] = "cell 1" THEN "cell 2" ELSE IF BytesFirst THEN "size" ELSE "done")
    /\ UNCHANGED <<size, status, disk, told, result, tensor, infos, others>>

-----------------------------------------------------------------------------
(* The manager. *)

At(label) == manager = label
Go(label) == manager' = label
Still == UNCHANGED <<asking, loader, job, worker>>

See ==
    /\ At("poll")
    /\ size > 0
    /\ Go("read 1")
    /\ UNCHANGED <<words, list, next, served>> /\ Still

Read ==
    /\ manager \in {"read 1", "read 2"}
    /\ LET c == IF At("read 1") THEN 1 ELSE 2 IN list' = [list EXCEPT ![c] = cells[c]]
    /\ Go(IF At("read 1") THEN "read 2" ELSE "clear")
    /\ UNCHANGED <<words, next, served>> /\ Still

Clear ==
    /\ At("clear")
    /\ size' = 0
    /\ Go("start")
    /\ UNCHANGED <<cells, status, disk, told, result, tensor, infos, list, next, served>> /\ Still

Start ==
    /\ At("start")
    /\ status' = 1
    /\ served' = served \cup {list[1]}
    /\ next' = 0
    /\ Go("tell")
    /\ UNCHANGED <<size, cells, disk, told, result, tensor, infos, list>> /\ Still

\* A message that does not arrive leaves a line in a log.
Tell ==
    /\ At("tell")
    /\ IF next \in Deaf
       THEN UNCHANGED <<disk, told>>
       ELSE disk' = [disk EXCEPT ![next] = 1] /\ told' = [told EXCEPT ![next] = list[1]]
    /\ next' = next + 1
    /\ Go(IF next + 1 = N THEN "gather" ELSE "tell")
    /\ UNCHANGED <<size, cells, status, result, tensor, infos, list, served>> /\ Still

\* Who did not answer is not counted. A failure ends the wait, and what follows is the same.
Gather ==
    /\ At("gather")
    /\ \/ \A r \in Ranks \ Deaf : result[r] = 1
       \/ \E r \in Ranks \ Deaf : result[r] = -1
    /\ Go("declare")
    /\ UNCHANGED <<words, list, next, served>> /\ Still

GiveUp ==
    /\ At("gather")
    /\ GivesUp
    /\ Go("declare")
    /\ UNCHANGED <<words, list, next, served>> /\ Still

Declare ==
    /\ At("declare")
    /\ tensor' = 1
    /\ Go("show")
    /\ UNCHANGED <<size, cells, status, disk, told, result, infos, list, next, served>> /\ Still

Show ==
    /\ At("show")
    /\ status' = 2
    /\ Go("shown")
    /\ UNCHANGED <<size, cells, disk, told, result, tensor, infos, list, next, served>> /\ Still

Reset ==
    /\ At("shown")
    /\ status = 3 \/ Hasty
    /\ status' = 0
    /\ Go("poll")
    /\ UNCHANGED <<size, cells, disk, told, result, tensor, infos, list, next, served>> /\ Still

-----------------------------------------------------------------------------
(* The loader of a rank. *)

LoadAt(r, label) == loader[r] = label
LoadGo(r, label) == loader' = [loader EXCEPT ![r] = label]
Calm == UNCHANGED <<size, cells, status, told, tensor, asking, manager, list, next, worker, served>>

LoadSee(r) ==
    /\ LoadAt(r, "wait")
    /\ disk[r] = 1
    /\ job' = [job EXCEPT ![r] = told[r]]
    /\ LoadGo(r, "begin")
    /\ UNCHANGED <<disk, result, infos>> /\ Calm

LoadBegin(r) ==
    /\ LoadAt(r, "begin")
    /\ result' = [result EXCEPT ![r] = 0]
    /\ LoadGo(r, "load")
    /\ UNCHANGED <<disk, infos, job>> /\ Calm

LoadTable(r) ==
    /\ LoadAt(r, "load")
    /\ infos' = IF r \in Failing THEN infos ELSE [infos EXCEPT ![r] = job[r]]
    /\ LoadGo(r, "report")
    /\ UNCHANGED <<disk, result, job>> /\ Calm

LoadReport(r) ==
    /\ LoadAt(r, "report")
    /\ result' = [result EXCEPT ![r] = IF r \in Failing THEN -1 ELSE 1]
    /\ LoadGo(r, "lower")
    /\ UNCHANGED <<disk, infos, job>> /\ Calm

LoadLower(r) ==
    /\ LoadAt(r, "lower")
    /\ disk' = [disk EXCEPT ![r] = 0]
    /\ LoadGo(r, "wait")
    /\ UNCHANGED <<result, infos, job>> /\ Calm

-----------------------------------------------------------------------------
(* The worker. It waits for the tables inside its loop. *)

Away == UNCHANGED <<size, cells, disk, told, result, asking, manager, list, next, loader, job, served>>

WorkSee ==
    /\ worker = "idle"
    /\ tensor = 1
    /\ tensor' = 0
    /\ worker' = "wait"
    /\ UNCHANGED <<status, infos>> /\ Away

WorkBegin ==
    /\ worker = "wait"
    /\ \A r \in Ranks : infos[r] # 0
    /\ worker' = "swap"
    /\ UNCHANGED <<status, tensor, infos>> /\ Away

WorkEnd ==
    /\ worker = "swap"
    /\ infos' = [r \in Ranks |-> 0]
    /\ worker' = "tell"
    /\ UNCHANGED <<status, tensor>> /\ Away

WorkTell ==
    /\ worker = "tell"
    /\ status' = 3
    /\ worker' = "idle"
    /\ UNCHANGED <<tensor, infos>> /\ Away

-----------------------------------------------------------------------------
AskStep(i) == WriteSize(i) \/ WriteCell(i)
ManagerStep == See \/ Read \/ Clear \/ Start \/ Tell \/ Gather \/ Declare \/ Show \/ Reset
LoadStep(r) == LoadSee(r) \/ LoadBegin(r) \/ LoadTable(r) \/ LoadReport(r) \/ LoadLower(r)
WorkStep == WorkSee \/ WorkBegin \/ WorkEnd \/ WorkTell

Next ==
    \/ \E i \in Requesters : Look(i) \/ WriteSize(i) \/ WriteCell(i)
    \/ See \/ Read \/ Clear \/ Start \/ Tell \/ Gather \/ GiveUp \/ Declare \/ Show \/ Reset
    \/ \E r \in Ranks : LoadSee(r) \/ LoadBegin(r) \/ LoadTable(r) \/ LoadReport(r) \/ LoadLower(r)
    \/ WorkSee \/ WorkBegin \/ WorkEnd \/ WorkTell

Spec == Init /\ [][Next]_vars
=============================================================================
