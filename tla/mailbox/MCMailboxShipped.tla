------------------------- MODULE MCMailboxShipped -------------------------
(* What should hold of MailboxShipped, and does in a guarded environment only. *)
EXTENDS MailboxShipped

TypeOK ==
    /\ token \in {"idle", "append", "send", "drop", "end"}
    /\ handler \in {"wait", "look", "flush", "drop", "done"}
    /\ made \in 0 .. MaxItems
    /\ {known, gone, swallowed} \subseteq BOOLEAN

\* mailbox-look-append: when both threads have done all, the client has all, in order.
AllSent ==
    (~gone /\ handler = "done" /\ token \in {"idle", "end"} /\ made = MaxItems /\ HandleComes # "never")
        => sent = [i \in 1 .. MaxItems |-> i]

\* B75: a send to a client that is gone is no success.
NothingSwallowed == ~swallowed

\* B72: what waits is bounded.
Bounded == Len(cached) <= Capacity
=============================================================================
