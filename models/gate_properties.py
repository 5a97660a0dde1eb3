"""What is claimed of the gate: invariants, steps, liveness, and the situations that must be reachable."""

from __future__ import annotations

from collections.abc import Callable

from models.gate_state import AWAY, DEAD, HEIR, LIVE, LOST, Config, Round, State
from models.kernel import Action
from models.liveness import Fair, LeadsTo

__all__ = ("action_properties", "fairness", "invariants", "liveness", "sometimes", "sometimes_steps")


def invariants(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return the state invariants under a configuration. In a recorded run nothing is known of the requests."""
    free = config.max_issues is None

    def type_ok(s: State) -> bool:
        issues = range(len(s.issued) + 1) if free else range(1, len(s.issued) + 1)
        ranks = range(config.ranks)
        statuses = (AWAY, LIVE, DEAD, LOST) if config.guards.OpenFences else (AWAY, LIVE, DEAD, LOST, HEIR)
        return (
            len(s.todo) == len(s.status) == len(s.late) == config.ranks
            and all(1 <= key <= config.keys for key in (*s.issued, *(key for owed in s.late for key in owed)))
            and all(issue in issues for mine in (*s.todo, s.collected, s.ended) for issue in mine)
            and all(status in statuses for status in s.status)
            and all(1 <= r.key <= config.keys and r.answers and r.without <= set(ranks) for r in s.rounds)
            and all(a.rank in ranks and a.issue in issues for r in s.rounds for a in r.answers)
        )

    def once_per_round(s: State) -> bool:
        return all(len(r.answered) == len(r.answers) and not r.answered & r.without for r in s.rounds)

    def different_keys(s: State) -> bool:
        return len({r.key for r in s.rounds}) == len(s.rounds)

    def no_mixing(s: State) -> bool:
        return free or all(len(r.issues) == 1 and all(s.issued[i - 1] == r.key for i in r.issues) for r in s.rounds)

    def one_fate(s: State) -> bool:
        over = s.collected | s.ended
        return free or (not s.collected & s.ended and not any(r.issues & over for r in s.rounds))

    def bounded(s: State) -> bool:
        return len(s.rounds) <= config.capacity and all(len(owed) <= config.max_late for owed in s.late)

    return {
        "TypeOK": type_ok,
        "OncePerRound": once_per_round,
        "DifferentKeys": different_keys,
        "NoMixing": no_mixing,
        "OneFate": one_fate,
        "Bounded": bounded,
    }


def action_properties(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return the properties of single steps."""
    everyone = frozenset(range(config.ranks))
    steady = everyone - config.skippers - config.mortal - config.silent

    def whole_rounds(s: State, action: Action, t: State) -> bool:
        kept = {answer for r in t.rounds for answer in r.answers}
        gone = {answer for r in s.rounds for answer in r.answers} - kept
        return not gone or any(
            gone == r.answers and ((r.answered == everyone and r.issues <= t.collected) or r.issues <= t.ended)
            for r in s.rounds
        )

    def lost_owes_nothing(s: State, action: Action, t: State) -> bool:
        return all(
            old == LOST or new != LOST or not owed for old, new, owed in zip(s.status, t.status, t.late, strict=True)
        )

    def return_awaited(s: State, action: Action, t: State) -> bool:
        return all(old != HEIR or new != LOST for old, new in zip(s.status, t.status, strict=True))

    def vanished_is_lost(s: State, action: Action, t: State) -> bool:
        rank = action.param("rank") or 0
        return action.name != "Vanish" or s == t or (t.status[rank] == LOST and not t.late[rank])

    def refuses_only_late(s: State, action: Action, t: State) -> bool:
        if action.name != "RefuseLate" or action.param("rank") not in steady or config.max_issues is None:
            return True
        return action.param("issue") in s.ended

    return {
        "WholeRounds": whole_rounds,
        "LostOwesNothing": lost_owes_nothing,
        "ReturnAwaited": return_awaited,
        "VanishedIsLost": vanished_is_lost,
        "RefusesOnlyLate": refuses_only_late,
    }


def fairness(config: Config, *, timed: bool) -> list[Fair[State]]:
    """The host notices what is gone, and the engine goes on collecting; ``timed``: time limits pass. Nobody answers."""
    fair: list[Fair[State]] = [Fair("Collect or EndLost", lambda s, a: a.name in ("Collect", "EndLost"))]
    fair += [_fence(rank) for rank in range(config.ranks)]
    if timed:
        fair.append(Fair("EndTimeout", lambda s, a: a.name == "EndTimeout"))
    return fair


def _fence(rank: int) -> Fair[State]:
    return Fair(f"Fence({rank})", lambda s, a: a.name == "Fence" and a.param("rank") == rank)


def liveness(config: Config) -> dict[str, list[LeadsTo[State]]]:
    """Return the liveness properties; RoundsEnd needs ``timed``. Each is a family over requests (and ranks)."""
    issues = range(1, 1 + (config.max_issues or 0))
    return {
        "RoundsEnd": [_rounds_end(issue) for issue in issues],
        "LostEnds": [_lost_ends(issue, rank) for issue in issues for rank in range(config.ranks)],
        "CompleteCollected": [_collected(issue, config) for issue in issues],
    }


def _about(s: State, issue: int) -> list[Round]:
    return [r for r in s.rounds if issue in r.issues]


def _rounds_end(issue: int) -> LeadsTo[State]:
    return LeadsTo(f"RoundsEnd({issue})", lambda s: bool(_about(s, issue)), lambda s: not _about(s, issue))


def _lost_ends(issue: int, rank: int) -> LeadsTo[State]:
    def lacks(s: State) -> bool:
        return s.status[rank] == LOST and any(rank not in r.answered for r in _about(s, issue))

    return LeadsTo(f"LostEnds({issue}, rank={rank})", lacks, lambda s: not lacks(s))


def _collected(issue: int, config: Config) -> LeadsTo[State]:
    def waits(s: State) -> bool:
        return any(len(r.answered) == config.ranks for r in _about(s, issue))

    return LeadsTo(f"CompleteCollected({issue})", waits, lambda s: issue in s.collected)


def sometimes(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return situations that the configuration must reach; without them the properties would say little."""
    found: dict[str, Callable[[State], bool]] = {
        "a round is complete": lambda s: any(len(r.answered) == config.ranks for r in s.rounds),
        "a request is over and another under way": lambda s: bool(s.collected) and bool(s.rounds),
        "a rank owes an answer": lambda s: any(s.late),
    }
    if config.capacity > 1 and config.keys > 1:
        found["a complete round behind one that waits"] = lambda s: (
            len(s.rounds) > 1 and len(s.rounds[1].answered) == config.ranks > len(s.rounds[0].answered)
        )
    if config.mortal:
        found["a round can not become complete"] = lambda s: any(r.without for r in s.rounds)
    if config.mortal and (config.keys > 1 or config.overlap):
        found["a restarted rank has a request while its old round is open"] = lambda s: any(
            s.status[rank] == LIVE and s.todo[rank] for r in s.rounds for rank in r.without
        )
    if config.max_issues is not None and config.max_issues > config.keys:
        found["a key came again"] = lambda s: len(s.issued) > len(set(s.issued)) and bool(s.rounds)
    return found


def sometimes_steps(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return steps that the configuration must be able to take."""
    found: dict[str, Callable[[State, Action, State], bool]] = {
        "a late answer is refused": lambda s, a, t: a.name == "RefuseLate" and a.param("issue") in s.ended,
    }
    if config.skippers and (config.max_issues or 0) > config.keys:
        found["an answer to a new request is refused"] = lambda s, a, t: (
            a.name == "RefuseLate" and a.param("issue") not in s.ended
        )
    if config.silent:
        found["a rank vanishes that owes an answer"] = lambda s, a, t: (
            a.name == "Vanish" and bool(s.late[a.param("rank") or 0])
        )
    if config.mortal:
        found["a dead rank is served"] = lambda s, a, t: a.name == "PutAnswer" and s.status[a.params[0][1]] == DEAD
        found["an answer of a lost rank is collected"] = lambda s, a, t: a.name == "Collect" and LOST in s.status
    return found
