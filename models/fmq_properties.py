"""What is claimed of the FMQ queue, and the situations in which the claims say something."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from models.fmq_state import GONE, LIVE, Config, Frame, State, before, readable
from models.kernel import Action
from models.liveness import Fair, LeadsTo

__all__ = ("action_properties", "fairness", "invariants", "liveness", "sometimes", "sometimes_steps")


def invariants(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return the properties of single states."""
    everybody = range(config.producers)

    def type_ok(s: State) -> bool:
        def good(frame: Frame) -> bool:
            return frame.n >= 1 and frame.base >= 0

        return (
            all(life in (LIVE, GONE) for life in s.life)
            and s.consumer in (0, s.starts)
            and all(
                0 <= s.base[p] <= s.sent[p]
                and all(good(frame) for flow in (*s.flow[p], s.pipe[p]) for frame in flow)
                and all(1 <= n <= s.sent[p] for n in s.ack[p])
                and -1 <= s.last[p] <= s.sent[p]
                and 0 <= s.done[p] <= max(s.last[p], 0)
                and -1 <= s.told[p] <= max(s.last[p], 0)
                and (0 <= s.peer[p] <= len(s.flow[p]) or not s.consumer)
                and all(n in config.large for n in s.there[p])
                and all(1 <= n <= s.sent[p] for n in (*s.given[p], *s.finished[p], *s.skipped[p]))
                for p in everybody
            )
        )

    def no_hole(s: State) -> bool:
        heads = [(p, flow[0]) for p in everybody for c, flow in enumerate(s.flow[p], 1) if readable(s, p, c)]
        return all(frame.n <= before(s, p, frame.base) + 1 for p, frame in heads)

    def held_there(s: State) -> bool:
        return not s.consumer or all(
            n in s.there[p] for p in everybody for n in s.given[p] if n in config.large and s.done[p] < n <= s.last[p]
        )

    return {
        "TypeOK": type_ok,
        "InOrder": lambda s: all(a < b for given in s.given for a, b in pairwise(given)),
        "NoHole": no_hole,
        "AckedWasDone": lambda s: (
            not config.keep or all(set(range(1, s.base[p] + 1)) <= s.finished[p] for p in everybody)
        ),
        "SkipsOnlyDone": lambda s: all(s.skipped[p] <= s.finished[p] for p in everybody),
        "HeldThere": held_there,
        "Bounded": lambda s: all(s.sent[p] - s.base[p] <= config.window for p in everybody),
    }


def action_properties(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return the properties of single steps."""
    everybody = range(config.producers)

    def acked_stays(s: State, action: Action, t: State) -> bool:
        return not config.keep or all(
            len(t.given[p]) <= len(s.given[p]) or t.given[p][-1] > s.base[p] for p in everybody
        )

    def goes_when_done(s: State, action: Action, t: State) -> bool:
        return all(
            s.life[p] == GONE
            or all(n in t.finished[p] or (not config.keep and n <= s.base[p]) for n in s.there[p] - t.there[p])
            for p in everybody
        )

    return {"AckedStays": acked_stays, "GoesWhenDone": goes_when_done}


def fairness(config: Config) -> list[Fair[State]]:
    """Who is there goes on."""
    found: list[Fair[State]] = [Fair("StartConsumer", lambda s, a: a.name == "StartConsumer")]
    for p in range(config.producers):
        for name in ("Connect", "HearAck", "Finish", "Acknowledge", "Reclaim"):
            found.append(Fair(f"{name}({p})", _is(name, p=p)))
        for c in range(1, (config.max_cuts or 0) + 2):
            found += [Fair(f"{name}({p}, {c})", _is(name, p=p, c=c)) for name in ("Take", "Skip", "Drop")]
    return found


def _is(name: str, **params: int) -> Callable[[State, Action], bool]:
    return lambda s, a: a.name == name and all(a.param(key) == value for key, value in params.items())


def liveness(config: Config) -> dict[str, list[LeadsTo[State]]]:
    """Return what must happen in the end."""
    everybody = range(config.producers)
    settles = [_settles(p, n) for p in everybody for n in range(1, (config.max_sent or 0) + 1)]
    return {"Settles": settles, "LeftoversGo": [_goes(p) for p in everybody]}


def _settles(p: int, n: int) -> LeadsTo[State]:
    return LeadsTo(f"Settles(p={p}, n={n})", lambda s: s.sent[p] >= n, lambda s: s.base[p] >= n or s.life[p] == GONE)


def _goes(p: int) -> LeadsTo[State]:
    return LeadsTo(
        f"LeftoversGo(p={p})",
        lambda s: s.consumer > 0 and s.life[p] == GONE and s.last[p] >= 0,
        lambda s: not s.there[p] or not s.consumer,
    )


def sometimes(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return situations that the configuration must reach; without them the properties would say little."""
    found: dict[str, Callable[[State], bool]] = {"everything is done": lambda s: max(s.base) >= (config.max_sent or 1)}
    if config.max_cuts and config.keep:
        found["two connections of a producer can be read"] = lambda s: any(
            sum(map(bool, flows)) > 1 for flows in s.flow
        )
    if config.mortal and config.large:
        found["a payload outlives its producer"] = lambda s: any(
            life == GONE and there for life, there in zip(s.life, s.there, strict=True)
        )
    return found


def sometimes_steps(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return steps that the configuration must be able to take."""
    found: dict[str, Callable[[State, Action, State], bool]] = {}
    if config.mortal:
        found["a message of a producer that is gone is taken"] = _of_gone("Take")
    if config.mortal and (config.max_sent or 2) > 1:
        found["what is left of a producer is removed"] = lambda s, a, t: (
            _of_gone("Reclaim")(s, a, t) and s.there != t.there
        )
    if config.max_starts is None or config.max_starts > 1:
        found["a message is given to a second consumer"] = lambda s, a, t: a.name == "Take" and s.consumer > 1
    return found


def _of_gone(name: str) -> Callable[[State, Action, State], Any]:
    return lambda s, a, t: a.name == name and s.life[a.params[0][1]] == GONE
