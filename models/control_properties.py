"""What is claimed of the control protocol, and the situations in which the claims say something."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from models.control_state import AWAY, DEAD, LIVE, LOST, Config, State
from models.kernel import Action
from models.liveness import Fair, LeadsTo

__all__ = ("ByNumber", "action_properties", "fairness", "invariants", "liveness", "sometimes", "sometimes_steps")

ByNumber: TypeAlias = Callable[[int], bool]
_ENDS = ("open", "done", "lost", "late", "withdrawn")


def _answered(s: State, number: int) -> set[int]:
    return {given.rank for given in s.answers[number - 1]}


def invariants(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return the properties of single states."""
    ranks = set(range(config.ranks))

    def type_ok(s: State) -> bool:
        return (
            len(s.state) == len(s.answers) == len(s.without) == s.asked
            and set(s.state) <= set(_ENDS)
            and all(without <= ranks for without in s.without)
            and all(given.rank in ranks and 0 < given.meant <= s.asked for all_ in s.answers for given in all_)
            and all(status in (AWAY, LIVE, DEAD, LOST) for status in s.status)
            and all(0 <= number <= s.asked for number in s.served)
            and all(doing in (0, served) for doing, served in zip(s.doing, s.served, strict=True))
        )

    def no_mixing(s: State) -> bool:
        return all(given.meant == number for number, all_ in enumerate(s.answers, 1) for given in all_)

    def once_per_rank(s: State) -> bool:
        return all(
            len(all_) == len(_answered(s, number)) and not _answered(s, number) & s.without[number - 1]
            for number, all_ in enumerate(s.answers, 1)
        )

    def done_is_whole(s: State) -> bool:
        return all(_answered(s, n) == ranks for n, state in enumerate(s.state, 1) if state == "done")

    def bounded(s: State) -> bool:
        return s.state.count("open") <= config.capacity

    return {
        "TypeOK": type_ok,
        "NoMixing": no_mixing,
        "OncePerRank": once_per_rank,
        "DoneIsWhole": done_is_whole,
        "Bounded": bounded,
    }


def action_properties(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return the properties of single steps."""

    def takes_open_in_order(s: State, action: Action, t: State) -> bool:
        return all(
            new == old or (new > old and s.state[new - 1] == "open")
            for old, new in zip(s.served, t.served, strict=True)
        )

    def ended_stays(s: State, action: Action, t: State) -> bool:
        return all(
            state == "open" or (t.state[i] == state and t.answers[i] == s.answers[i]) for i, state in enumerate(s.state)
        )

    return {"TakesOpenInOrder": takes_open_in_order, "EndedStays": ended_stays}


def fairness(config: Config, *, timed: bool = True) -> list[Fair[State]]:
    """The host notices closed connections, and asking calls look again; ``timed``: and know their time limits."""
    most = config.max_asked or 0
    looks = ("Collect", "EndLost", "EndTimeout") if timed else ("Collect", "EndLost")
    pairs = [("Fence", "rank", rank) for rank in range(config.ranks)]
    pairs += [(name, "number", number) for name in looks for number in range(1, most + 1)]
    return [
        Fair(f"{name}({who})", lambda s, a, name=name, key=key, who=who: a.name == name and a.param(key) == who)  # type: ignore[misc]
        for name, key, who in pairs
    ]


def liveness(config: Config) -> dict[str, list[LeadsTo[State]]]:
    """Return the liveness properties: families over the requests."""
    numbers = range(1, (config.max_asked or 0) + 1)
    return {
        "RequestsEnd": [
            LeadsTo(
                f"RequestsEnd(number={number})",
                lambda s, number=number: _open(s, number),  # type: ignore[misc]
                lambda s, number=number: not _open(s, number),  # type: ignore[misc]
            )
            for number in numbers
        ],
        "LostEnds": [_lost_ends(number) for number in numbers],
    }


def _open(s: State, number: int) -> bool:
    return number <= s.asked and s.state[number - 1] == "open"


def _lost_ends(number: int) -> LeadsTo[State]:
    def gone(s: State) -> bool:
        return _open(s, number) and all(
            rank in _answered(s, number) or rank in s.without[number - 1] or status in (DEAD, LOST)
            for rank, status in enumerate(s.status)
        )

    def ended_or_lives(s: State) -> bool:
        if not _open(s, number):
            return True
        return any(rank not in _answered(s, number) and status == LIVE for rank, status in enumerate(s.status))

    return LeadsTo(f"LostEnds(number={number})", gone, ended_or_lives)


def sometimes(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return situations that the configuration must reach; without them the properties would say little."""
    found: dict[str, Callable[[State], bool]] = {
        "a request was done": lambda s: "done" in s.state,
        "a rank does a request that has ended": lambda s: any(n and s.state[n - 1] != "open" for n in s.doing),
    }
    if (config.max_asked is None or config.max_asked > 1) and config.capacity > 1:
        found["two requests are open"] = lambda s: s.state.count("open") > 1
    if config.mortal:
        found["a request ended without a rank that was lost"] = lambda s: "lost" in s.state
    return found


def sometimes_steps(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return steps that the configuration must be able to take."""
    found: dict[str, Callable[[State, Action, State], bool]] = {
        "a rank takes what was asked before it came": lambda s, a, t: a.name == "Join" and "open" in s.state,
    }
    if config.mortal:
        found["a dead rank's answer arrives"] = lambda s, a, t: a.name == "Answer" and s.status[a.params[0][1]] == DEAD
    if config.max_asked is None or config.max_asked > 1:
        found["a rank passes over an ended request"] = lambda s, a, t: (
            a.name == "Take" and t.served[a.params[0][1]] > s.served[a.params[0][1]] + 1
        )
    return found
