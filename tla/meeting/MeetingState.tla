---------------------------- MODULE MeetingState ----------------------------
(* The words and processes of Meeting.tla, and what is claimed of them. *)
EXTENDS Integers, Sequences

CONSTANTS
    N,                  \* number of ranks: processes 0 .. N-1
    L,                  \* number of labels
    Calls,              \* bound: waits of each rank
    Aborts, Fences,     \* may process N, who is no rank, abort, and undo that? give rank 0 up? One of them
    Parts,              \* may that process end the waits of a round because it is in another one?
    Absent,             \* ranks that do not wait
    Timed,              \* ranks whose waits may run out of time
    Mortal,             \* processes that may be killed
    Comes,              \* does process N + 1 come for rank 0 when that was given up?
    Spurious            \* may a sleep end without a reason?

CONSTANTS LooksAgain, WithdrawsLocked, LabelsChecked, FindsDead, CompletesFence, OwnLine, ChecksLife, Barrier,
    Wakes, Rechecks

Ranks == 0 .. N - 1
Owner == N
Next0 == N + 1          \* the second process of rank 0
Waiters == IF Comes THEN Ranks \cup {Next0} ELSE Ranks
Last == IF Comes THEN N + 1 ELSE IF Aborts \/ Fences \/ Parts THEN N ELSE N - 1
All == 0 .. Last
RankOf(p) == IF p = Next0 THEN 0 ELSE p

ASSUME /\ {N, L, Calls} \subseteq Nat \ {0} /\ (Timed \cup Absent) \subseteq Waiters /\ Mortal \subseteq All
       /\ {Aborts, Fences, Parts, Comes, Spurious} \subseteq BOOLEAN

VARIABLES
    mem,        \* the words in memory: the turn; of each line its arrival and its label; flags; of each rank twice its
                \* lives, odd when it was given up; why waits of this round have ended
    buf,        \* stores of each process that are on their way
    pc,         \* what each process does next
    at,         \* at which rank a process is that looks at all of them
    stamp,      \* the turn that each process has seen
    label,      \* the label that it waits with
    do,         \* what it takes the lock for
    lock,       \* who has the lock; -1: nobody
    calls,      \* waits begun
    came,       \* history: <<turn, label>> of each arrival
    told,       \* history: <<turn, outcome>> of each wait that has ended
    alive       \* who has not been killed

vars == <<mem, buf, pc, at, stamp, label, do, lock, calls, came, told, alive>>

Gen(t) == t \div 16
Count(t) == (t % 16) \div 4
Open(t) == t % 4 = 0
Passed(t) == (Gen(t) + 1) * 16
Ended(t, state) == t - (t % 4) + 4 + state    \* a state that was there is kept: see StoreTurn
States == [abort |-> 2, fence |-> 1, pass |-> 0, join |-> 0, reset |-> 0, part |-> 0]
Kinds == [abort |-> "broken", fence |-> "lost", pass |-> "mismatch", join |-> "lost", part |-> "mismatch"]
Line(p) == IF OwnLine THEN p ELSE RankOf(p)

Init ==
    /\ mem = [turn |-> [i \in {0} |-> 0], word |-> [p \in All |-> -1], label |-> [p \in All |-> 0],
              flag |-> [p \in All |-> 0], life |-> [r \in Ranks |-> 0], why |-> [e \in 0 .. 3 |-> "none"]]
    /\ buf = [p \in All |-> <<>>]
    /\ pc = [p \in All |-> IF p \in Ranks THEN "out" ELSE IF p = Owner THEN "ask" ELSE "away"]
    /\ at = [p \in All |-> 0] /\ stamp = [p \in All |-> 0] /\ label = [p \in All |-> 0]
    /\ do = [p \in All |-> "none"]
    /\ lock = -1
    /\ calls = [p \in All |-> 0]
    /\ came = [p \in All |-> {}] /\ told = [p \in All |-> {}]
    /\ alive = [p \in All |-> TRUE]

Own(p, word, i) == {k \in DOMAIN buf[p] : buf[p][k][1] = word /\ buf[p][k][2] = i}
Newest(I) == CHOOSE k \in I : \A j \in I : k >= j
Load(p, word, i) == IF Own(p, word, i) = {} THEN mem[word][i] ELSE buf[p][Newest(Own(p, word, i))][3]
Put(p, word, i, to) == buf' = [buf EXCEPT ![p] = Append(@, <<word, i, to>>)]
At(p, from) == pc[p] = from
To(p, there) == pc' = [pc EXCEPT ![p] = there]
Set(f, p, to) == [f EXCEPT ![p] = to]
Tell(p, what) == told' = [told EXCEPT ![p] = @ \cup {<<stamp[p], what>>}]

\* Who stands for a rank, as its lives say.
Counted(life, r) == IF r = 0 /\ life >= 2 THEN Next0 ELSE r

-----------------------------------------------------------------------------
TypeOK ==
    /\ mem.turn[0] \in Nat /\ \A r \in Ranks : mem.life[r] \in Nat
    /\ lock \in {-1} \cup All /\ alive \in [All -> BOOLEAN]
    /\ \A p \in All : do[p] \in {"none", "pass", "withdraw", "fence", "abort", "join", "reset", "part"}

\* A round that was passed had all ranks in it, with one label.
PassNeedsAll ==
    \A p \in All : \A end \in told[p] : end[2] = "passed" =>
        \E l \in 0 .. L - 1 : \A r \in Ranks : \E q \in All : RankOf(q) = r /\ q # Owner /\ <<end[1], l>> \in came[q]

\* A round is passed once. Who arrived in one turn is told one thing. Only who gives up by itself hears another one, and then nobody passes.
OneFate ==
    \A p, q \in All : \A a \in told[p], b \in told[q] :
        /\ a[1] = b[1] /\ a[2] # b[2] /\ "refused" \notin {a[2], b[2]} =>
            "timeout" \in {a[2], b[2]} /\ "passed" \notin {a[2], b[2]}
        /\ Gen(a[1]) = Gen(b[1]) /\ {a[2], b[2]} = {"passed"} => a[1] = b[1]

\* One process of a rank passes.
OneEach ==
    \A p, q \in All : p # q /\ RankOf(p) = RankOf(q) =>
        \A end \in told[p] \cap told[q] : end[2] # "passed"

\* There is always a reason that can be said.
Reasons == \A p \in All : \A end \in told[p] : end[2] # "none"

\* When nothing can go on, and nobody was killed, nobody sleeps whose wait is over, or who could end it.
Stands(q, t) == (\E l \in 0 .. L - 1 : <<t, l>> \in came[q]) /\ <<t, "timeout">> \notin told[q]
AllHere(t) == \A r \in Ranks : Stands(Counted(mem.life[r], r), t)
Settled == \A p \in All : buf[p] = <<>> /\ pc[p] \in {"out", "away", "ask", "done", "asleep"}
NoLostWakeUp == Settled => \A p \in All : pc[p] = "asleep" => mem.turn[0] = stamp[p] /\ ~AllHere(stamp[p])

\* A wait ends when all are there, when somebody is gone, and when somebody has ended it.
Missed(r) == mem.life[r] % 2 = 1 \/ ~alive[Counted(mem.life[r], r)]
Over(p) == pc[p] = "asleep" /\ (mem.turn[0] # stamp[p] \/ AllHere(stamp[p]) \/ \E r \in Ranks : Missed(r))
=============================================================================
