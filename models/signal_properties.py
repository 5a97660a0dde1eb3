"""What is claimed of a segment's life, and the situations in which the claims say something."""

from __future__ import annotations

from collections.abc import Callable

from models.kernel import Action
from models.liveness import Fair, LeadsTo
from models.signal_state import (
    NOBODY,
    NOTHING,
    OF_ATTACH,
    OF_CLEAR,
    OF_CREATE,
    Config,
    State,
)

__all__ = ("action_properties", "fairness", "invariants", "liveness", "sometimes", "sometimes_steps")

_STEPS = {"idle", "dead", "late-lock", *OF_CREATE, *OF_CLEAR, *OF_ATTACH}
_INSIDE = {*OF_CREATE, *OF_CLEAR} - {"wait", "clear-wait", "close"}
_CONTENTS = {"none", "empty", "blank", "whole", "foreign"}


def _actor(action: Action) -> int:
    """The process that acts, or NOBODY: other software."""
    process = action.param("process")
    return NOBODY if process is None else process


def invariants(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return the properties of single states."""
    processes = range(config.processes)
    files = set(range(1, config.files + 1))

    def type_ok(s: State) -> bool:
        return (
            {s.name, s.temp, *s.seen, *s.made} <= files | {NOTHING}
            and set(s.content) <= _CONTENTS
            and set(s.mark) <= files | {0, -1}
            and {*s.lock, s.guard, *s.shared} <= {NOBODY, *processes}
            and set(s.pc) <= _STEPS
            and all(held <= files for held in (*s.owned, *s.attached))
        )

    def usable(s: State, file: int) -> bool:
        return s.content[file - 1] in ("whole", "foreign")

    def only_whole(s: State) -> bool:
        return (
            (s.name == NOTHING or usable(s, s.name))
            and all(usable(s, s.seen[p]) for p in processes if s.pc[p] == "check")
            and all(s.content[i - 1] == "whole" for held in s.attached for i in held)
        )

    def holders_can_know(s: State) -> bool:
        return all(
            i in (s.name, s.made[p]) or s.mark[i - 1] != 0 for p in processes for i in s.owned[p] | s.attached[p]
        )

    def one_owner(s: State) -> bool:
        return sum(i != s.made[p] and s.mark[i - 1] == 0 for p in processes for i in s.owned[p]) <= 1

    def nothing_in_the_way(s: State) -> bool:
        return "make" not in s.pc or s.temp == NOTHING

    def guarded_inside(s: State) -> bool:
        return (
            all((s.guard == p) == (s.pc[p] in _INSIDE) for p in processes)
            and s.shared == {p for p in processes if s.pc[p] in ("again", "attach-leave")}
            and (s.guard == NOBODY or not s.shared)
        )

    def left_by_crash(s: State) -> bool:
        if s.crashed or s.guard != NOBODY:
            return True
        return s.temp == NOTHING and (s.name == NOTHING or s.mark[s.name - 1] == 0)

    return {
        "TypeOK": type_ok,
        "OnlyWhole": only_whole,
        "HoldersCanKnow": holders_can_know,
        "OneOwner": one_owner,
        "NothingInTheWay": nothing_in_the_way,
        "GuardedInside": guarded_inside,
        "LeftByCrash": left_by_crash,
    }


def action_properties(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return the properties of single steps."""
    processes = range(config.processes)

    def only_examined(s: State, action: Action, t: State) -> bool:
        if s.name == t.name:
            return True
        p = _actor(action)
        return s.name == (NOTHING if p == NOBODY else s.seen[p])

    def live_is_kept(s: State, action: Action, t: State) -> bool:
        p = _actor(action)
        if s.name in (NOTHING, t.name) or p == NOBODY or s.insist[p]:
            return True
        owners = {q for q in processes if s.name in s.owned[q]}
        return s.content[s.name - 1] != "foreign" and owners <= {p}

    def attachers_change_nothing(s: State, action: Action, t: State) -> bool:
        p = _actor(action)
        return p == NOBODY or s.pc[p] not in (*OF_ATTACH, "close") or s[:4] == t[:4]

    return {
        "OnlyExamined": only_examined,
        "LiveIsKept": live_is_kept,
        "AttachersChangeNothing": attachers_change_nothing,
    }


_UNFAIR = ("Call", "GiveUp", "NoSpace", "Crash", "Restart", "ForeignCreate", "TakeGuard", "ShareGuard")


def fairness(config: Config) -> list[Fair[State]]:
    """A process that is alive goes on, and gets the guard when it is free again and again."""

    def goes_on(p: int) -> Callable[[State, Action], bool]:
        def of(s: State, a: Action) -> bool:
            closes_freely = a.name == "Close" and s.pc[p] == "idle"
            return a.param("process") == p and not a.name.startswith(_UNFAIR) and not closes_freely

        return of

    def gets(p: int, name: str) -> Callable[[State, Action], bool]:
        return lambda s, a: a.name == name and a.param("process") == p

    found: list[Fair[State]] = []
    for p in range(config.processes):
        found.append(Fair(f"Steps({p})", goes_on(p)))
        found += [Fair(f"{name}({p})", gets(p, name), strong=True) for name in ("TakeGuard", "ShareGuard")]
    return found


def liveness(config: Config) -> dict[str, list[LeadsTo[State]]]:
    """Return the liveness properties: families over the processes."""
    processes = range(config.processes)
    return {
        "CallEnds": [_call_ends(p) for p in processes],
        "CreateSucceeds": [_create_succeeds(config, p) for p in processes],
    }


def _call_ends(p: int) -> LeadsTo[State]:
    def over(s: State) -> bool:
        return s.pc[p] in ("idle", "dead")

    return LeadsTo(f"CallEnds(process={p})", lambda s: not over(s), over)


def _create_succeeds(config: Config, p: int) -> LeadsTo[State]:
    def nothing_against_it(s: State) -> bool:
        if s.pc[p] != "examine" or config.full:
            return False
        there = s.name
        live = there != NOTHING and s.lock[there - 1] != NOBODY and there not in s.owned[p]
        return s.insist[p] or not (config.foreign or live)

    return LeadsTo(
        f"CreateSucceeds(process={p})",
        nothing_against_it,
        lambda s: s.name in s.owned[p] or s.pc[p] == "dead",
    )


def sometimes(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return situations that the configuration must reach; without them the properties would say little."""
    found: dict[str, Callable[[State], bool]] = {
        "a process owns the segment at the name": lambda s: any(s.name in held for held in s.owned),
    }
    dying = bool(config.mortal & config.creators)
    if config.files > 1 and config.creators:
        found["an owner's segment was replaced"] = lambda s: any(
            s.mark[i - 1] > 0 and i != s.name and s.guard == NOBODY for held in s.owned for i in held
        )
        if dying:
            found["a killed replace left a mark"] = lambda s: (
                s.guard == NOBODY and s.name != NOTHING and s.mark[s.name - 1] > 0
            )
    if config.attachers:
        found["a cleared segment is still attached"] = lambda s: any(s.mark[i - 1] == -1 for a in s.attached for i in a)
    if dying:
        found["a killed create left its file"] = lambda s: s.guard == NOBODY and s.temp not in (NOTHING, s.name)
        found["a killed create left two names of one segment"] = lambda s: s.guard == NOBODY and s.temp == s.name != 0
        found["the owner of a segment is gone"] = lambda s: s.name != 0 and s.lock[s.name - 1] == NOBODY
    return found


def sometimes_steps(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return steps that the configuration must be able to take."""
    found: dict[str, Callable[[State, Action, State], bool]] = {}
    if len(config.creators) > 1:
        found["a create is refused over a live owner"] = lambda s, a, t: (
            a.name == "Examine" and "leave" in t.pc and s.content[s.name - 1] == "whole"
        )
    if config.insisters and len(config.creators) > 1:
        found["a live owner's segment is replaced"] = lambda s, a, t: (
            a.name == "Publish"
            and s.name != t.name
            and any(s.name in s.owned[q] for q in range(config.processes) if q != a.param("process"))
        )
    if config.foreign and config.files > 1 and config.creators:
        found["other software is faster than a link"] = lambda s, a, t: a.name == "Publish" and "retry" in t.pc
    if config.mortal & config.creators:
        found["what a crash left is dropped"] = lambda s, a, t: (
            a.name == "DropTemp" and s.temp not in (NOTHING, s.name) and "tidy" in s.pc
        )
    if config.creators - config.attachers and config.attachers:
        found["a second look finds what was made meanwhile"] = lambda s, a, t: (
            a.name == "Open" and "again" in s.pc and s.name != NOTHING
        )
    return found
