---------------------------- MODULE MeetingState ----------------------------
(* The words and processes of Meeting.tla, and what is claimed of them. *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    N,                  \* number of ranks: processes 0 .. N-1
    L,                  \* number of labels
    P,                  \* number of barriers that are used in turn; a wait is for number place * L + label
    Calls,              \* bound: waits of each rank
    Aborts, Fences,     \* may process N, who is no rank, abort barrier 0, and undo that? give rank 0 up? One of them
    Parts,              \* may that process end the waits of a round because it is in another one?
    Absent,             \* ranks that do not wait
    Timed,              \* ranks whose waits may run out of time
    Mortal,             \* processes that may be killed
    Comes,              \* does process N + 1 come for rank 0 when that was given up?
    Spurious            \* may a sleep end without a reason?

CONSTANTS LooksAgain, WithdrawsLocked, LabelsChecked, PlacesChecked, FindsApart, GoesOn, TwoBanks, FindsDead, CompletesFence, OwnLine, ChecksLife, Barrier,
    Wakes, Rechecks

Ranks == 0 .. N - 1
Owner == N
Next0 == N + 1          \* the second process of rank 0
Waiters == IF Comes THEN Ranks \cup {Next0} ELSE Ranks
Last == IF Comes THEN N + 1 ELSE IF Aborts \/ Fences \/ Parts THEN N ELSE N - 1
All == 0 .. Last
RankOf(p) == IF p = Next0 THEN 0 ELSE p

ASSUME /\ {N, L, P, Calls} \subseteq Nat \ {0} /\ (Timed \cup Absent) \subseteq Waiters /\ Mortal \subseteq All
       /\ {Aborts, Fences, Parts, Comes, Spurious} \subseteq BOOLEAN

VARIABLES
    mem,        \* the words in memory: the turn; of each line its arrival and its label; flags; of each rank twice its
                \* lives, odd when it was given up; why waits of this round have ended; in two banks, of which the
                \* round says which one is right, how often each barrier was passed
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
Passed(t) == (Gen(t) + 1) * 16 + (t % 4)    \* a barrier that is aborted stays so when another one is passed
Place(l) == l \div L
OpenFor(t, l) == t % 2 = 0 /\ (t % 4 < 2 \/ Place(l) # 0)
Bank(t) == IF TwoBanks THEN Gen(t) % 2 ELSE 0
Ended(t, state) == t - (t % 4) + 4 + state    \* a state that was there is kept: see StoreTurn
States == [abort |-> 2, fence |-> 1, pass |-> 0, join |-> 0, reset |-> 0, part |-> 0]
Kinds == [abort |-> "broken", fence |-> "lost", pass |-> "mismatch", join |-> "lost", reset |-> "reset",
          part |-> "mismatch"]
Mine(p) == IF p = Next0 THEN 2 ELSE 0       \* its life
Line(p) == IF OwnLine THEN p ELSE RankOf(p)

Init ==
    /\ mem = [turn |-> [i \in {0} |-> 0], word |-> [p \in All |-> -1], label |-> [p \in All |-> 0],
              flag |-> [p \in All |-> 0], life |-> [r \in Ranks |-> 0], why |-> [e \in 0 .. 3 |-> "none"],
              passes |-> [i \in 0 .. 2 * P - 1 |-> 0]]
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

(* What a process finds when it looks at the ranks, one after the other; who is gone; what is decided for whom. *)

\* One rank after the other. A label does not change while its arrival stands, so both are loaded in one step. A rank at
\* another barrier may give up there and come here, as long as not all have come: N is added to `at` when one was seen.
Seen(p) == LET r == at[p] % N IN IF OwnLine THEN Counted(Load(p, "life", r), r) ELSE r
Elsewhere(p) == PlacesChecked /\ Place(Load(p, "label", Seen(p))) # Place(label[p])
Apart(p) == at[p] >= N \/ Elsewhere(p)
Look(p) ==
    LET here == Load(p, "word", Seen(p)) = stamp[p]
        same == Elsewhere(p) \/ Load(p, "label", Seen(p)) % L = label[p] % L \/ ~LabelsChecked
    IN IF ~here THEN "missing" ELSE IF ~same THEN "differs" ELSE IF at[p] % N < N - 1 THEN "more"
       ELSE IF ~Apart(p) THEN "all" ELSE IF FindsApart THEN "apart" ELSE "missing"
Further(p) == IF Look(p) = "more" THEN (at[p] % N) + 1 + (IF Apart(p) THEN N ELSE 0) ELSE 0

\* The kernel's locks say who is dead. A hint: what is done about it is decided under the lock.
Gone(r) == IF mem.life[r] % 2 = 1 THEN CompletesFence
           ELSE FindsDead /\ ~alive[Counted(mem.life[r], r)]

Free(p) == do[p] \in {"abort", "join", "reset", "part"} \/ (p = Owner /\ do[p] = "fence")    \* not about a wait of one's own
Commit == IF P > 1 THEN "count" ELSE "next"
First == CHOOSE r \in Ranks : Gone(r) /\ \A q \in Ranks : Gone(q) => r <= q
Whom(p) == IF p = Owner THEN 0 ELSE First

Both(old, new) == IF new \in {0, old} \/ old = 3 THEN old ELSE old + new
StillLost == IF \E r \in Ranks \ {0} : mem.life[r] % 2 = 1 THEN 1 ELSE 0

-----------------------------------------------------------------------------
TypeOK ==
    /\ mem.turn[0] \in Nat /\ \A r \in Ranks : mem.life[r] \in Nat
    /\ lock \in {-1} \cup All /\ alive \in [All -> BOOLEAN]
    /\ \A p \in All : do[p] \in {"none", "pass", "withdraw", "fence", "abort", "join", "reset", "part"}

\* A round that was passed had all ranks in it, at one barrier, with one label.
PassNeedsAll ==
    \A p \in All : \A end \in told[p] : end[2] = "passed" =>
        \E l \in 0 .. L * P - 1 : \A r \in Ranks : \E q \in All : RankOf(q) = r /\ q # Owner /\ <<end[1], l>> \in came[q]

\* A round is passed once. Who arrived in one turn is told one thing: of an ending that was not about another barrier. Only who gives up by itself hears another one, and then nobody passes.
OneFate ==
    \A p, q \in All : \A a \in told[p], b \in told[q] :
        /\ a[1] \div 4 = b[1] \div 4 /\ a[2] # b[2] /\ "refused" \notin {a[2], b[2]} =>
            "timeout" \in {a[2], b[2]} /\ "passed" \notin {a[2], b[2]}
        /\ Gen(a[1]) = Gen(b[1]) /\ {a[2], b[2]} = {"passed"} => a[1] = b[1]

\* One process of a rank passes.
OneEach ==
    \A p, q \in All : p # q /\ RankOf(p) = RankOf(q) =>
        \A end \in told[p] \cap told[q] : end[2] # "passed"

\* There is always a reason that can be said.
Reasons == \A p \in All : \A end \in told[p] : end[2] # "none"

\* Only waits at the barrier that was aborted end.
OwnAbort ==
    \A p \in All : \A end \in told[p] : end[2] = "broken" =>
        \E l \in 0 .. L * P - 1 : Place(l) = 0 /\ \E t \in {a[1] : a \in came[p]} : t \div 4 = end[1] \div 4 /\ <<t, l>> \in came[p]

\* The counts are right as soon as the turn says so, and each pass is counted where it was.
Passes(q) == {t \in UNION {{end[1] : end \in {e \in told[p] : e[2] = "passed"}} : p \in All} :
                 \A p \in All : \A a \in came[p] : a[1] = t => Place(a[2]) = q}    \* nobody has given up elsewhere in it
RECURSIVE Sum(_, _)
Sum(t, q) == IF q < 0 THEN 0 ELSE mem.passes[Bank(t) * P + q] + Sum(t, q - 1)
Counts ==
    P > 1 => LET t == mem.turn[0] IN
        /\ Sum(t, P - 1) = Gen(t)
        /\ \A q \in 0 .. P - 1 : mem.passes[Bank(t) * P + q] >= Cardinality(Passes(q))

\* When nothing can go on, and nobody was killed, nobody sleeps whose wait is over, or who could end it.
Stands(q, t) == (\E l \in 0 .. L * P - 1 : <<t, l>> \in came[q]) /\ <<t, "timeout">> \notin told[q]
AllHere(t) == \A r \in Ranks : Stands(Counted(mem.life[r], r), t)
Settled == \A p \in All : buf[p] = <<>> /\ pc[p] \in {"out", "away", "ask", "done", "asleep"}
NoLostWakeUp == Settled => \A p \in All : pc[p] = "asleep" => mem.turn[0] = stamp[p] /\ ~AllHere(stamp[p])

\* A wait ends when all are there, when somebody is gone, and when somebody has ended it.
Missed(r) == mem.life[r] % 2 = 1 \/ ~alive[Counted(mem.life[r], r)]
Over(p) == pc[p] = "asleep" /\ (mem.turn[0] # stamp[p] \/ AllHere(stamp[p]) \/ \E r \in Ranks : Missed(r))
=============================================================================
