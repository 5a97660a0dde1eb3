------------------------------ MODULE MCSignal ------------------------------
(* What is claimed of Signal. The configurations beside this file choose the bounds. *)
EXTENDS Signal

OfCreate ==
    {"wait", "retry", "examine", "tidy", "make", "allocate", "fill", "lock", "supersede", "publish", "finish", "leave"}
OfClear == {"clear-wait", "look", "mark", "unlink", "clear-leave", "close"}
OfAttach == {"open", "share", "again", "attach-leave", "check"}
Inside == (OfCreate \cup OfClear) \ {"wait", "clear-wait", "close"}

TypeOK ==
    /\ {name, temp} \subseteq 0 .. I
    /\ content \in [Files -> {"none", "empty", "blank", "whole", "foreign"}]
    /\ mark \in [Files -> -1 .. I]
    /\ lock \in [Files -> -1 .. P - 1]
    /\ guard \in -1 .. P - 1
    /\ shared \subseteq Processes
    /\ pc \in [Processes -> {"idle", "dead", "late-lock"} \cup OfCreate \cup OfClear \cup OfAttach]
    /\ insist \in [Processes -> BOOLEAN]
    /\ seen \in [Processes -> 0 .. I]
    /\ made \in [Processes -> 0 .. I]
    /\ owned \in [Processes -> SUBSET Files]
    /\ attached \in [Processes -> SUBSET Files]
    /\ crashed \in BOOLEAN

OnlyWhole ==
    /\ name # Nothing => content[name] \in {"whole", "foreign"}
    /\ \A p \in Processes :
           /\ pc[p] = "check" => content[seen[p]] \in {"whole", "foreign"}
           /\ \A i \in attached[p] : content[i] = "whole"

HoldersCanKnow ==
    \A p \in Processes : \A i \in owned[p] \cup attached[p] : i = name \/ mark[i] # 0 \/ i = made[p]

OneOwner ==
    Cardinality({pair \in Processes \X Files :
        pair[2] \in owned[pair[1]] /\ pair[2] # made[pair[1]] /\ mark[pair[2]] = 0}) <= 1

NothingInTheWay == \A p \in Processes : pc[p] = "make" => temp = Nothing

GuardedInside ==
    /\ \A p \in Processes : guard = p <=> pc[p] \in Inside
    /\ shared = {p \in Processes : pc[p] \in {"again", "attach-leave"}}
    /\ guard # Nobody => shared = {}

LeftByCrash == ~crashed /\ guard = Nobody => temp = Nothing /\ (name # Nothing => mark[name] = 0)

-----------------------------------------------------------------------------
Acts(p) == pc'[p] # pc[p]

OnlyExamined ==
    [][name' # name => IF \E p \in Processes : Acts(p)
                       THEN \A p \in Processes : Acts(p) => seen[p] = name
                       ELSE name = Nothing]_vars

LiveIsKept ==
    [][name # Nothing /\ name' # name =>
          \A p \in Processes : Acts(p) /\ ~insist[p] =>
              content[name] # "foreign" /\ \A q \in Processes \ {p} : name \notin owned[q]]_vars

AttachersChangeNothing ==
    [][\A p \in Processes : Acts(p) /\ pc[p] \in OfAttach \cup {"close"} => UNCHANGED files]_vars

-----------------------------------------------------------------------------
(* Fairness: a process that is alive goes on, and gets the guard when it is free again and again. Nobody has to call,
   to give up, to close, or to die. *)
Steps(p) ==
    \/ Examine(p) \/ DropTemp(p) \/ MakeTemp(p) \/ Allocate(p) \/ Fill(p) \/ TakeLock(p) \/ Supersede(p)
    \/ Publish(p) \/ DropGuard(p) \/ Look(p) \/ MarkGone(p) \/ Unlink(p) \/ (pc[p] = "close" /\ Close(p, seen[p]))
    \/ Open(p) \/ Validate(p)

Fairness == \A p \in Processes : WF_vars(Steps(p)) /\ SF_vars(TakeGuard(p)) /\ SF_vars(ShareGuard(p))

FairSpec == Spec /\ Fairness

CallEnds == \A p \in Processes : pc[p] \notin {"idle", "dead"} ~> pc[p] \in {"idle", "dead"}

CreateSucceeds ==
    \A p \in Processes :
        (pc[p] = "examine" /\ ~Full /\ (insist[p] \/ ~(Foreign \/ OfAnother(p)))) ~> (name \in owned[p] \/ pc[p] = "dead")
=============================================================================
