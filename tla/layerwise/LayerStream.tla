---------------------------- MODULE LayerStream ----------------------------
(***************************************************************************)
(* What layer-wise sending is for those who look at it from outside: each  *)
(* rank has the same tasks in one order; it sends their layers, and closes *)
(* one after another. A closed task sends nothing more.                    *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS Senders, Number, Layers

VARIABLES
    out,    \* for each rank and task how many layers are sent
    closed  \* for each rank how many tasks are closed: the first ones

streamVars == <<out, closed>>

StreamInit ==
    /\ out = [r \in Senders |-> [i \in 1 .. Number |-> 0]]
    /\ closed = [r \in Senders |-> 0]

Send(r, i) ==
    /\ i > closed[r]
    /\ \E n \in 1 .. Layers :
        /\ n > out[r][i]
        /\ out' = [out EXCEPT ![r][i] = n]
    /\ UNCHANGED closed

Close(r) ==
    /\ closed[r] < Number
    /\ closed' = [closed EXCEPT ![r] = @ + 1]
    /\ UNCHANGED out

StreamNext == \E r \in Senders : Close(r) \/ \E i \in 1 .. Number : Send(r, i)

StreamSpec == StreamInit /\ [][StreamNext]_streamVars
=============================================================================
