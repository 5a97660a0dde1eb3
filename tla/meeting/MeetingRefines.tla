--------------------------- MODULE MeetingRefines ---------------------------
(***************************************************************************)
(* A meeting is a group of barriers: every step is a step of Barrier, or   *)
(* changes nothing there. What is broken, and how often each barrier was   *)
(* passed, is read off memory. History variables keep the rest; they       *)
(* follow from each step, and restrict nothing.                            *)
(*                                                                         *)
(* A wait arrives when its store has reached memory and Barrier would let  *)
(* it wait there. When all have come in memory, the last one is let in by  *)
(* the turn of the pass, or once somebody else has given up. An arrival in *)
(* an older turn counts as long as no ending since was about it. A rank is *)
(* dead when it was killed, or when its life says that it was given up;    *)
(* and lost, or live again, when the turn says so. All ranks have joined   *)
(* at the start, and none leaves.                                          *)
(***************************************************************************)
EXTENDS Meeting, TLC

VARIABLES
    status,         \* life of each rank
    arrived,        \* who waits at each barrier, in order of arrival
    been,           \* <<turn, barrier>> of each round that a rank was in when it was passed
    aborts, undone

refVars == <<vars, status, arrived, been, aborts, undone>>

Barriers == 0 .. P - 1

\* What the words m say.
TurnOf(m) == m.turn[0]
WordOf(m, r) == m.word[Counted(m.life[r], r)]
LabelOf(m, r) == m.label[Counted(m.life[r], r)]
BrokenIn(m) == [b \in Barriers |-> b = 0 /\ (TurnOf(m) % 4) \div 2 = 1]
PassesIn(m) == [b \in Barriers |-> IF P = 1 THEN Gen(TurnOf(m)) ELSE m.passes[Bank(TurnOf(m)) * P + b]]

\* Has rank r come, and was no ending since about its wait?
Stays(m, r) ==
    LET w == WordOf(m, r) IN
    /\ w >= 0 /\ Gen(w) = Gen(TurnOf(m))
    /\ \A e \in Count(w) + 1 .. Count(TurnOf(m)) :
           m.why[e] = "reset" \/ (m.why[e] = "broken" /\ Place(LabelOf(m, r)) # 0)

In == UNION {{arrived[b][i].rank : i \in DOMAIN arrived[b]} : b \in Barriers}

\* Rank r has come, and Barrier lets it wait.
Enters(m, r) ==
    LET b == Place(LabelOf(m, r)) IN
    /\ r \notin In /\ Stays(m, r)
    /\ \A q \in Ranks : status[q] # "lost"
    /\ ~BrokenIn(m)[b]
    /\ \A i \in DOMAIN arrived[b] : arrived[b][i].label = LabelOf(m, r) % L
    /\ Len(arrived[b]) < N - 1
    /\ \E q \in Ranks \ {r} : q \notin In

Moves == TurnOf(mem') # TurnOf(mem)

StatusAfter(r) ==
    LET life == mem'.life[r]
        gone == life % 2 = 1 \/ ~alive'[Counted(life, r)]
        lost == Moves /\ TurnOf(mem') % 2 = 1 /\ life % 2 = 1
        replaced == life \div 2 # mem.life[r] \div 2     \* by a process that found a rank given up by half
        back == Moves /\ RankOf(lock) = r /\ do[lock] = "join"
    IN CASE status[r] = "live" /\ gone -> "dead"
         [] status[r] = "dead" /\ (lost \/ replaced) -> "lost"
         [] status[r] = "lost" /\ back -> "live"
         [] OTHER -> status[r]

Fenced(r) == status[r] # "lost" /\ status'[r] = "lost"
Kept(b) == IF \E r \in Ranks : Fenced(r) THEN <<>> ELSE SelectSeq(arrived[b], LAMBDA a : Stays(mem', a.rank))

\* Nothing else happens in this step. Who has come may enter.
Quiet == ~Moves /\ status' = status /\ \A b \in Barriers : Kept(b) = arrived[b]
Entered(r) == [rank |-> r, label |-> LabelOf(mem', r) % L, round |-> -1]
ArrivedAfter(b) ==
    LET E == {r \in Ranks : Enters(mem', r)}
        first == CHOOSE r \in E : \A q \in E : r <= q
    IN IF Quiet /\ E # {} /\ Place(LabelOf(mem', first)) = b THEN Append(arrived[b], Entered(first)) ELSE Kept(b)

\* Whose arrivals stand in the turn that is passed.
BeenAfter(r) ==
    IF Gen(TurnOf(mem')) # Gen(TurnOf(mem)) /\ WordOf(mem, r) = TurnOf(mem)
    THEN been[r] \cup {<<TurnOf(mem), Place(LabelOf(mem, r))>>}
    ELSE been[r]

Aborted == Moves /\ BrokenIn(mem')[0] /\ ~BrokenIn(mem)[0]
Undone == Moves /\ ~BrokenIn(mem')[0] /\ BrokenIn(mem)[0]

RefInit ==
    /\ Init
    /\ status = [r \in Ranks |-> "live"]
    /\ arrived = [b \in Barriers |-> <<>>]
    /\ been = [r \in Ranks |-> {}]
    /\ aborts = [b \in Barriers |-> 0]
    /\ undone = [b \in Barriers |-> 0]

Step ==
    /\ Next
    /\ status' = [r \in Ranks |-> StatusAfter(r)]
    /\ arrived' = [b \in Barriers |-> ArrivedAfter(b)]
    /\ been' = [r \in Ranks |-> BeenAfter(r)]
    /\ aborts' = IF Aborted THEN Set(aborts, 0, aborts[0] + 1) ELSE aborts
    /\ undone' = IF Undone THEN Set(undone, 0, aborts[0]) ELSE undone

RefSpec == RefInit /\ [][Step]_refVars

-----------------------------------------------------------------------------
passed == [r \in Ranks |-> [b \in Barriers |-> Cardinality({x \in been[r] : x[2] = b})]]

Abstract == INSTANCE Barrier WITH
    B <- P,
    MaxRounds <- N * Calls + 1,
    MaxAborts <- 1,
    Named <- Parts,
    Leavers <- {},
    Mortal <- Ranks,
    generation <- PassesIn(mem),
    broken <- BrokenIn(mem),
    FenceWithdraws <- TRUE, FenceWakes <- TRUE, ResetHarmless <- TRUE, ResetNamesAbort <- TRUE, RoundsCount <- TRUE,
    OneWaitPerRank <- TRUE, LabelsChecked <- TRUE, RoundsChecked <- TRUE, CrossWaitFound <- TRUE

AllIn ==
    /\ status = [r \in Ranks |-> "live"]
    /\ PassesIn(mem) = [b \in Barriers |-> 0] /\ ~BrokenIn(mem)[0]
    /\ arrived = Abstract!Nobody
    /\ passed = [r \in Ranks |-> [b \in Barriers |-> 0]]
    /\ aborts = undone /\ undone[0] = 0

-----------------------------------------------------------------------------
(* Each step is one of these of Barrier, with what the rank's wait says, or changes nothing there. *)

\* What has occurred is printed, once by each of TLC's workers: the manifest says which steps that must be.
Names == <<"Join", "Crash", "Fence", "Timeout", "Arrive", "Pass", "Mismatch", "Abort", "Reset">>
ASSUME \A i \in DOMAIN Names : TLCSet(i, FALSE)
Is(i) == TLCGet(i) \/ (TLCSet(i, TRUE) /\ PrintT(<<"IS", Names[i]>>))

\* Whoever asks for another round (AskPart) is a rank that does not wait.
Parted(r) ==
    /\ lock = Owner /\ do[Owner] = "part" /\ r \in Absent
    /\ \E b \in Barriers : Abstract!Mismatch(r, b, 0, PassesIn(mem)[b] + 1)

Known ==
    \/ UNCHANGED Abstract!vars
    \/ \E r \in Ranks : Abstract!Join(r) /\ Is(1)
    \/ \E r \in Ranks : Abstract!Crash(r) /\ Is(2)
    \/ \E r \in Ranks : Abstract!Fence(r) /\ Is(3)
    \/ \E r \in Ranks : WordOf(mem', r) = -1 /\ Abstract!Timeout(r) /\ Is(4)
    \/ \E r \in Ranks : LET b == Place(LabelOf(mem', r))
                           l == LabelOf(mem', r) % L
                       IN \/ Abstract!Arrive(r, b, l, -1) /\ Is(5)
                          \/ Abstract!Pass(r, b, l, -1) /\ Is(6)
                          \/ Abstract!Mismatch(r, b, l, -1) /\ Is(7)
    \/ \E r \in Ranks : Parted(r) /\ Is(7)
    \/ Abstract!Abort(0) /\ Is(8)
    \/ Abstract!Reset(0, aborts[0]) /\ Is(9)

RefinesBarrier == AllIn /\ [][Known]_refVars

\* Who is told of a pass was in it; who is told of another end was not. Who was given up may not be told of a pass.
TruthTold ==
    \A p \in Waiters : \A end \in told[p] :
        LET there == \E b \in Barriers : <<end[1], b>> \in been[RankOf(p)] IN
        /\ end[2] = "passed" => there
        /\ end[2] \notin {"passed", "refused"} => ~there

=============================================================================
