"""What is claimed of the barriers, and the situations in which the claims say something."""

from __future__ import annotations

from collections.abc import Callable

from models.barrier_state import AWAY, DEAD, LIVE, LOST, UNSAID, Config, State
from models.kernel import Action
from models.liveness import Fair, LeadsTo

__all__ = ("action_properties", "fairness", "invariants", "liveness", "sometimes", "sometimes_steps")

_LIVES = (AWAY, LIVE, DEAD, LOST)


def _there(s: State, barrier: int) -> list[int]:
    return [a.rank for a in s.arrived[barrier]]


def _waiting(s: State) -> set[int]:
    return {a.rank for there in s.arrived for a in there}


def invariants(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return the properties of single states."""
    ranks, barriers = range(config.ranks), range(config.barriers)

    def type_ok(s: State) -> bool:
        arrivals = [a for there in s.arrived for a in there]
        return (
            all(status in _LIVES for status in s.status)
            and all(a.rank in ranks and 0 <= a.label < config.labels and a.round >= UNSAID for a in arrivals)
            and all(0 <= s.undone[b] <= s.aborts[b] for b in barriers)
            and (config.max_rounds is None or max(s.generation) <= config.max_rounds)
        )

    def together(s: State) -> bool:
        return all(counts == s.generation for counts in s.passed)

    def no_ghost_arrival(s: State) -> bool:
        return all(s.status[rank] in (LIVE, DEAD) for rank in _waiting(s))

    def one_arrival(s: State) -> bool:
        return sum(len(there) for there in s.arrived) == len(_waiting(s))

    def one_label(s: State) -> bool:
        return all(len({a.label for a in there}) <= 1 for there in s.arrived)

    def round_as_named(s: State) -> bool:
        return all(a.round in (UNSAID, s.generation[b]) for b in barriers for a in s.arrived[b])

    def no_cross_wait(s: State) -> bool:
        return len(_waiting(s)) < config.ranks

    def aborts_hold(s: State) -> bool:
        return all(s.broken[b] == (s.undone[b] < s.aborts[b]) for b in barriers)

    return {
        "TypeOK": type_ok,
        "Together": together,
        "NoGhostArrival": no_ghost_arrival,
        "OneArrival": one_arrival,
        "OneLabel": one_label,
        "RoundAsNamed": round_as_named,
        "NoCrossWait": no_cross_wait,
        "AbortsHold": aborts_hold,
    }


def action_properties(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return the properties of single steps."""
    barriers = range(config.barriers)

    def pass_needs_all(s: State, action: Action, t: State) -> bool:
        for b in barriers:
            if t.generation[b] == s.generation[b]:
                continue
            there = _there(s, b)
            if (
                t.generation[b] != s.generation[b] + 1
                or len(set(there)) != len(there)
                or len(there) != config.ranks - 1
            ):
                return False
            if any(new[b] != old[b] + 1 for old, new in zip(s.passed, t.passed, strict=True)):
                return False
        return True

    def resets_break_nobody(s: State, action: Action, t: State) -> bool:
        return action.name != "Reset" or s.arrived == t.arrived

    def ends_for_a_reason(s: State, action: Action, t: State) -> bool:
        for b in barriers:
            gone = set(_there(s, b)) - set(_there(t, b))
            if not gone or t.generation[b] == s.generation[b] + 1 or (t.broken[b] and not s.broken[b]):
                continue
            own = action.name in ("Timeout", "Leave") and gone == {action.param("rank")}
            if not own and action.name not in ("Fence", "Mismatch"):
                return False
        return True

    return {
        "PassNeedsAll": pass_needs_all,
        "ResetBreaksNobody": resets_break_nobody,
        "EndsForAReason": ends_for_a_reason,
    }


def fairness(config: Config) -> list[Fair[State]]:
    """The host notices what is gone. Nothing else is assumed."""
    return [
        Fair(f"Fence({rank})", lambda s, a, rank=rank: a.name == "Fence" and a.param("rank") == rank)  # type: ignore[misc]
        for rank in range(config.ranks)
    ]


def liveness(config: Config) -> dict[str, list[LeadsTo[State]]]:
    """Return the liveness properties: a family over the ranks."""
    return {"WaitReturns": [_wait_returns(rank) for rank in range(config.ranks)]}


def _wait_returns(rank: int) -> LeadsTo[State]:
    def may_come(s: State) -> bool:
        waiting = _waiting(s)
        return any(status in (LIVE, AWAY) and who not in waiting for who, status in enumerate(s.status))

    return LeadsTo(
        f"WaitReturns(rank={rank})",
        lambda s: rank in _waiting(s),
        lambda s: rank not in _waiting(s) or may_come(s),
    )


def sometimes(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return situations that the configuration must reach; without them the properties would say little."""
    most = config.max_rounds
    found: dict[str, Callable[[State], bool]] = {
        "every barrier was passed as often as it may be": lambda s: all(count == most for count in s.generation),
    }
    if config.ranks > 1:
        found["all but one rank wait at one barrier"] = lambda s: any(len(a) == config.ranks - 1 for a in s.arrived)
        if most is None or most > 1:
            found["a rank waits in a later round"] = lambda s: any(
                there and s.generation[b] > 0 for b, there in enumerate(s.arrived)
            )
    if config.ranks > 2 and config.barriers > 1:
        found["ranks wait at two barriers"] = lambda s: sum(bool(there) for there in s.arrived) > 1
    if config.mortal and config.ranks > 1:
        found["a dead rank's arrival is counted"] = lambda s: any(s.status[rank] == DEAD for rank in _waiting(s))
    if config.max_aborts and config.ranks > 1:
        found["a barrier was aborted and used again"] = lambda s: any(
            s.undone[b] and there for b, there in enumerate(s.arrived)
        )
    return found


def sometimes_steps(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return steps that the configuration must be able to take."""
    found: dict[str, Callable[[State, Action, State], bool]] = {}
    if config.ranks > 1:
        found["a late arrival gives up, and others go on waiting"] = lambda s, a, t: (
            a.name == "Timeout" and (config.ranks == 2 or bool(_waiting(t)))
        )
        if config.labels > 1 or config.barriers > 1:
            found["a mismatch ends the wait of others"] = lambda s, a, t: a.name == "Mismatch" and bool(_waiting(s))
    if config.named:
        found["a round that is over is refused"] = lambda s, a, t: (
            a.name == "Refuse" and LOST not in s.status and not any(s.broken)
        )
    if config.mortal and config.ranks > 1:
        found["a loss ends the wait of others"] = lambda s, a, t: (
            a.name == "Fence" and bool(_waiting(s) - {a.param("rank")})
        )
        found["a dead rank completes a round"] = lambda s, a, t: a.name == "Pass" and s.status[a.params[0][1]] == DEAD
    if config.leavers and config.ranks > 1:
        found["a leave takes back an arrival"] = lambda s, a, t: a.name == "Leave" and s.arrived != t.arrived
    return found
