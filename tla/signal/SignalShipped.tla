--------------------------- MODULE SignalShipped ---------------------------
(***************************************************************************)
(* IPCSignal as FastDeploy has it: shared memory objects of the standard   *)
(* library, found, removed and made by their name in steps that nothing    *)
(* holds together, without a word about who owns them. One step here is    *)
(* one system call that others can see.                                    *)
(*                                                                         *)
(* Every process that makes or attaches the memory also tells the resource *)
(* tracker of its process tree. When the last process of the tree is gone, *)
(* the tracker removes every name that it has been told.                   *)
(*                                                                         *)
(* The constants choose what the environment does. With one creator and    *)
(* attachers of its own tree that come after it all is well:               *)
(* MCSignalShipped_guarded.cfg. Each MCSignalShipped_bug_*.cfg changes one *)
(* thing and breaks a property.                                            *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
    P,              \* number of processes
    I,              \* bound: memory objects that are ever made
    Creators,       \* processes that create=True
    IfMissing,      \* ... only after they have looked and found nothing, and that attach otherwise
    Attachers,      \* processes that create=False
    Probers,        \* processes that only ask shared_memory_exists
    Clearers,       \* processes that clear what they hold
    Exits,          \* processes that may exit, or be killed
    Restarts,       \* ... and are started again
    Alone,          \* processes with a tracker of their own: started by subprocess. The others are one tree
    Ordered,        \* attachers wait until the memory is filled
    Unregisters     \* an attach takes its entry in the tracker back: a work-around that some use

Processes == 0 .. P - 1
Trackers == 0 .. P
Objects == 1 .. I
Nothing == 0
TrackerOf(p) == IF p \in Alone THEN p ELSE P
TreeOf(t) == {p \in Processes : TrackerOf(p) = t}

ASSUME /\ {P, I} \subseteq Nat \ {0}
       /\ Creators \cup Attachers \cup Probers \cup Clearers \cup Exits \cup Alone \subseteq Processes
       /\ IfMissing \subseteq Creators
       /\ Restarts \subseteq Exits
       /\ {Ordered, Unregisters} \subseteq BOOLEAN

VARIABLES
    name,           \* the object that the name leads to
    content,        \* of each object: "none", "empty" (size 0), "blank" (zeros), "whole"
    pc,             \* what each process comes to next; "hold": it uses a segment; "failed": an error that nobody expects
    seen,           \* the object that it has opened, or made
    held,           \* the object that it uses
    maker,          \* history: who made each object
    told            \* whether each tracker has been told of the name

vars == <<name, content, pc, seen, held, maker, told>>

Init ==
    /\ name = Nothing
    /\ content = [i \in Objects |-> "none"]
    /\ pc = [p \in Processes |-> "idle"]
    /\ seen = [p \in Processes |-> Nothing]
    /\ held = [p \in Processes |-> Nothing]
    /\ maker = [i \in Objects |-> -1]
    /\ told = [t \in Trackers |-> FALSE]

\* What can be attached: an object of size 0 cannot, and passes for missing.
There == name # Nothing /\ content[name] # "empty"

Go(p, step) == pc' = [pc EXCEPT ![p] = step]
Tell(p, yes) == told' = [told EXCEPT ![TrackerOf(p)] = yes]

Used == Cardinality({i \in Objects : content[i] # "none"})
Pending == Cardinality({p \in Processes : pc[p] \in {"find", "remove", "make"}})

-----------------------------------------------------------------------------
(* Create: look, remove what is there, make, give it its size, fill it. *)

Begin(p) ==
    /\ pc[p] = "idle"
    /\ p \in Creators
    /\ Used + Pending < I
    /\ Go(p, IF p \in IfMissing /\ There THEN "attach" ELSE "find")
    /\ UNCHANGED <<name, content, seen, held, maker, told>>

\* Does it exist? To look is to attach, which the tracker is told.
Find(p) ==
    /\ pc[p] = "find"
    /\ IF There
       THEN Go(p, "remove") /\ Tell(p, TRUE)
       ELSE Go(p, "make") /\ UNCHANGED told
    /\ UNCHANGED <<name, content, seen, held, maker>>

\* It is attached once more, by its name, and removed by its name.
RemoveOld(p) ==
    /\ pc[p] = "remove"
    /\ IF There
       THEN Go(p, "make") /\ name' = Nothing /\ Tell(p, FALSE)
       ELSE Go(p, "failed") /\ UNCHANGED <<name, told>>
    /\ UNCHANGED <<content, seen, held, maker>>

Make(p) ==
    LET new == Used + 1 IN
    /\ pc[p] = "make"
    /\ IF name # Nothing
       THEN Go(p, "failed") /\ UNCHANGED <<name, content, seen, maker>>
       ELSE /\ Go(p, "size")
            /\ name' = new
            /\ content' = [content EXCEPT ![new] = "empty"]
            /\ seen' = [seen EXCEPT ![p] = new]
            /\ maker' = [maker EXCEPT ![new] = p]
    /\ UNCHANGED <<held, told>>

Size(p) ==
    /\ pc[p] = "size"
    /\ content' = [content EXCEPT ![seen[p]] = "blank"]
    /\ Tell(p, TRUE)
    /\ Go(p, "fill")
    /\ UNCHANGED <<name, seen, held, maker>>

Fill(p) ==
    /\ pc[p] = "fill"
    /\ content' = [content EXCEPT ![seen[p]] = "whole"]
    /\ held' = [held EXCEPT ![p] = seen[p]]
    /\ Go(p, "hold")
    /\ UNCHANGED <<name, seen, maker, told>>

-----------------------------------------------------------------------------
(* Attach: open, then map what is there by now. *)

Open(p) ==
    /\ \/ pc[p] = "attach"
       \/ pc[p] = "idle" /\ p \in Attachers /\ name # Nothing /\ (Ordered => content[name] = "whole")
    /\ IF name = Nothing
       THEN Go(p, "failed") /\ UNCHANGED seen
       ELSE Go(p, "map") /\ seen' = [seen EXCEPT ![p] = name]
    /\ UNCHANGED <<name, content, held, maker, told>>

Map(p) ==
    /\ pc[p] = "map"
    /\ IF content[seen[p]] = "empty"
       THEN Go(p, "failed") /\ UNCHANGED <<held, told>>
       ELSE Go(p, "hold") /\ held' = [held EXCEPT ![p] = seen[p]] /\ Tell(p, ~Unregisters)
    /\ UNCHANGED <<name, content, seen, maker>>

Probe(p) ==
    /\ pc[p] = "idle"
    /\ p \in Probers
    /\ There
    /\ Tell(p, TRUE)
    /\ UNCHANGED <<name, content, pc, seen, held, maker>>

-----------------------------------------------------------------------------
(* Clear: does the name exist? Then it is removed, whatever it leads to. *)

ClearFind(p) ==
    /\ pc[p] = "hold"
    /\ p \in Clearers
    /\ Go(p, IF There THEN "clear" ELSE "cleared")
    /\ UNCHANGED <<name, content, seen, held, maker, told>>

ClearRemove(p) ==
    /\ pc[p] = "clear"
    /\ IF name = Nothing
       THEN Go(p, "failed") /\ UNCHANGED <<name, told>>
       ELSE Go(p, "cleared") /\ name' = Nothing /\ Tell(p, FALSE)
    /\ held' = [held EXCEPT ![p] = Nothing]
    /\ UNCHANGED <<content, seen, maker>>

-----------------------------------------------------------------------------
Exit(p) ==
    /\ p \in Exits
    /\ pc[p] # "gone"
    /\ Go(p, "gone")
    /\ held' = [held EXCEPT ![p] = Nothing]
    /\ seen' = [seen EXCEPT ![p] = Nothing]
    /\ UNCHANGED <<name, content, maker, told>>

\* A tree is gone: its tracker cleans up, and ends.
Sweep(t) ==
    /\ TreeOf(t) # {}
    /\ \A p \in TreeOf(t) : pc[p] = "gone"
    /\ told[t]
    /\ told' = [told EXCEPT ![t] = FALSE]
    /\ name' = Nothing
    /\ UNCHANGED <<content, pc, seen, held, maker>>

Restart(p) ==
    /\ pc[p] = "gone"
    /\ p \in Restarts
    /\ Go(p, "idle")
    /\ UNCHANGED <<name, content, seen, held, maker, told>>

-----------------------------------------------------------------------------
Next ==
    \/ \E p \in Processes :
           \/ Begin(p) \/ Find(p) \/ RemoveOld(p) \/ Make(p) \/ Size(p) \/ Fill(p) \/ Open(p) \/ Map(p) \/ Probe(p)
           \/ ClearFind(p) \/ ClearRemove(p) \/ Exit(p) \/ Restart(p)
    \/ \E t \in Trackers : Sweep(t)

Spec == Init /\ [][Next]_vars
=============================================================================
