"""What is claimed of readiness, and the situations in which the claims say something."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, combinations

from models.kernel import Action
from models.liveness import Fair, LeadsTo
from models.readiness_state import AWAY, DEAD, LIVE, LOST, Config, State

__all__ = ("action_properties", "fairness", "invariants", "liveness", "sometimes", "sometimes_steps")


def invariants(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return the properties of single states."""
    everyone = config.all

    def type_ok(s: State) -> bool:
        return (
            set(s.status) <= {AWAY, LIVE, DEAD, LOST}
            and set(s.said) <= {"nothing", "starting", "ready", "failed"}
            and all(s.stamps[p] <= set(range(1, s.inc[p] + 1)) and 0 <= s.ghost[p] <= s.inc[p] for p in everyone)
            and all(s.serves[p] in (0, s.inc[p]) for p in everyone)
            and all(w.outcome in ("open", "done", "failed", "late", "gone") for w in s.waits)
            and all((w.by, w.mask, w.patient) in _kinds(config) for w in s.waits)
        )

    def said_is_so(s: State) -> bool:
        return all(s.serves[p] == s.inc[p] for p in everyone if s.status[p] == LIVE and s.said[p] == "ready")

    def gone_is_not_ready(s: State) -> bool:
        return all(s.said[p] == "nothing" for p in everyone if s.status[p] in (AWAY, LOST))

    def no_circle(s: State) -> bool:
        waiting = {
            (w.by - 1, q)
            for w in s.waits
            if w.by and w.outcome == "open"
            for q in config.awaited(w.mask)
            if s.said[q] != "ready" and s.said[w.by - 1] != "ready"
        }
        idle = sorted({p for p, _ in waiting})
        groups = chain.from_iterable(combinations(idle, size) for size in range(1, len(idle) + 1))
        return not any(all(any((p, q) in waiting for q in group) for p in group) for group in groups)

    return {"TypeOK": type_ok, "SaidIsSo": said_is_so, "GoneIsNotReady": gone_is_not_ready, "NoCircle": no_circle}


def _kinds(config: Config) -> set[tuple[int, int, int]]:
    return {(by, mask, how) for by in config.askers for mask in config.masks for how in config.patience}


def _trouble(config: Config, s: State, w: int) -> bool:
    return any(s.said[p] == "failed" or s.status[p] == LOST for p in config.awaited(s.waits[w].mask))


def action_properties(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return the properties of single steps."""

    def ended(s: State, t: State, how: str) -> list[int]:
        return [w for w, one in enumerate(s.waits) if one.outcome == "open" and t.waits[w].outcome == how]

    def done_is_ready(s: State, action: Action, t: State) -> bool:
        return all(
            s.status[p] in (LIVE, DEAD) and (s.serves[p] == s.inc[p] or s.status[p] == DEAD)
            for w in ended(s, t, "done")
            for p in config.awaited(s.waits[w].mask)
        )

    def done_is_fresh(s: State, action: Action, t: State) -> bool:
        return all(s.inc[p] in s.stamps[p] for w in ended(s, t, "done") for p in config.awaited(s.waits[w].mask))

    def failed_is_true(s: State, action: Action, t: State) -> bool:
        return all(not s.waits[w].patient and _trouble(config, s, w) for w in ended(s, t, "failed"))

    def end_stays(s: State, action: Action, t: State) -> bool:
        return all(one == t.waits[w] or one.outcome == "open" for w, one in enumerate(s.waits))

    return {
        "DoneIsReady": done_is_ready,
        "DoneIsFresh": done_is_fresh,
        "FailedIsTrue": failed_is_true,
        "EndStays": end_stays,
    }


def fairness(config: Config, *, timed: bool = True) -> list[Fair[State]]:
    """The host notices what is gone and does what follows; ``timed``: and a wait knows its time limit."""
    waits = range(1, (config.max_waits or 0) + 1)
    found: list[Fair[State]] = [
        Fair(f"{name}({p})", lambda s, a, name=name, p=p: (a.name, a.param("p")) == (name, p))  # type: ignore[misc]
        for name in ("Fence", "Stall", "Recover")
        for p in config.there
    ]
    names = ("Complete", "GiveUp", "Expire") if timed else ("Complete", "GiveUp")
    found += [
        Fair(f"{name}({w})", lambda s, a, name=name, w=w: (a.name, a.param("w")) == (name, w))  # type: ignore[misc]
        for name in names
        for w in waits
    ]
    return found


def liveness(config: Config) -> dict[str, list[LeadsTo[State]]]:
    """Return the liveness properties: families over the waits. They differ in what is assumed."""
    numbers = range(config.max_waits or 0)

    def is_open(w: int) -> Callable[[State], bool]:
        return lambda s: w < len(s.waits) and s.waits[w].outcome == "open"

    def troubled(w: int) -> Callable[[State], bool]:
        return lambda s: is_open(w)(s) and not s.waits[w].patient and _trouble(config, s, w)

    def is_ended(w: int) -> Callable[[State], bool]:
        return lambda s: not is_open(w)(s)

    return {
        "WaitsEnd": [LeadsTo(f"WaitsEnd(w={w + 1})", is_open(w), is_ended(w)) for w in numbers],
        "TroubleTells": [LeadsTo(f"TroubleTells(w={w + 1})", troubled(w), is_ended(w)) for w in numbers],
    }


def sometimes(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return situations that the configuration must reach; without them the properties would say little."""
    found: dict[str, Callable[[State], bool]] = {
        "all are ready": lambda s: all(s.said[p] == "ready" for p in config.there),
        "a wait is done": lambda s: any(w.outcome == "done" for w in s.waits),
    }
    if config.hangs:
        found["a loop stands still"] = lambda s: any(s.stuck)
    if config.max_inc is None or config.max_inc > 1:
        if config.cuts:
            found["a process that was fenced runs beside its successor"] = lambda s: any(
                ghost and inc > ghost and status == LIVE
                for ghost, inc, status in zip(s.ghost, s.inc, s.status, strict=True)
            )
        if config.mortal:
            found["a successor is ready"] = lambda s: any(
                inc > 1 and said == "ready" for inc, said in zip(s.inc, s.said, strict=True)
            )
    if config.askers - {0}:
        found["a part waits"] = lambda s: any(w.by and w.outcome == "open" for w in s.waits)
    return found


def sometimes_steps(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return steps that the configuration must be able to take."""
    found: dict[str, Callable[[State, Action, State], bool]] = {}
    if config.failing and 0 in config.patience:
        found["a failure ends a wait"] = lambda s, a, t: a.name == "GiveUp" and "failed" in s.said
    if config.mortal and 0 in config.patience:
        found["a loss ends a wait"] = lambda s, a, t: a.name == "GiveUp" and LOST in s.status
    if config.hangs:
        found["a wait is done after a loop has stood still"] = lambda s, a, t: a.name == "Recover"
    return found
