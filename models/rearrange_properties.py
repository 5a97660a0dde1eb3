"""What is claimed of rearrangements: invariants, steps, liveness, and the situations that must be reachable."""

from __future__ import annotations

from collections.abc import Callable

from models.kernel import Action
from models.liveness import Fair, LeadsTo
from models.rearrange_state import AWAY, DEAD, LIVE, Config, State

__all__ = ("action_properties", "fairness", "invariants", "liveness", "sometimes", "sometimes_steps")

_PHASES = ("FREE", "ASKED", "DOING", "LOAD_SUCC", "UPDATING", "DONE")
_OUTCOMES = ("open", "done", "failed", "lost", "late")


def _loaded(s: State) -> bool:
    return s.phase in ("LOAD_SUCC", "UPDATING")


def invariants(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return the state invariants under a configuration."""
    peers = frozenset(range(1, config.peers + 1))

    def type_ok(s: State) -> bool:
        most = s.running if config.max_requests is None else config.max_requests
        return (
            all(status in (AWAY, LIVE, DEAD) for status in s.status)
            and s.phase in _PHASES
            and s.running <= most
            and all(outcome in _OUTCOMES for outcome in s.outcome)
            and s.reached <= peers
            and all(load in ("none", "asked", "taken", "ok") for load in s.load)
            and all(0 <= request <= most for request in (*s.job, *s.table, *s.swap))
            and all(worker in ("idle", "here", "swap", "done", "lost") for worker in s.worker)
        )

    def one_running(s: State) -> bool:
        running = s.phase not in ("FREE", "DONE")
        return all((what == "open") == (i == s.running and running) for i, what in enumerate(s.outcome, 1))

    def loaded_by_all(s: State) -> bool:
        if not _loaded(s) or s.committed:
            return True
        return set(s.load) == {"ok"} and set(s.table) == {s.running}

    def swaps_are_running(s: State) -> bool:
        return all(request == 0 or (s.phase == "UPDATING" and request == s.running) for request in s.swap)

    return {
        "TypeOK": type_ok,
        "OneRunning": one_running,
        "LoadedByAll": loaded_by_all,
        "PeersReached": lambda s: not _loaded(s) or s.reached == peers,
        "SwapsAreRunning": swaps_are_running,
        "TablesKept": lambda s: all(
            not request or request == held for request, held in zip(s.swap, s.table, strict=True)
        ),
    }


def action_properties(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return the properties of single steps."""
    del config

    def swaps_together(s: State, action: Action, t: State) -> bool:
        began = any(not before and after for before, after in zip(s.swap, t.swap, strict=True))
        return not began or set(t.swap) == {s.running}

    def ends_once(s: State, action: Action, t: State) -> bool:
        return all(old in ("open", new) for old, new in zip(s.outcome, t.outcome, strict=False))

    return {"SwapsTogether": swaps_together, "EndsOnce": ends_once}


def fairness(config: Config, *, timed: bool) -> list[Fair[State]]:
    """The host notices who is gone, an exchange ends, a wait ends, what is done is freed; ``timed``: limits pass."""
    fair = [_fair("Fence", "party", party) for party in range(2 * config.ranks + 1)]
    fair += [_fair(name, "rank", rank) for name in ("Updated", "Withdraw") for rank in range(config.ranks)]
    fair.append(Fair("Free", lambda s, a: a.name == "Free"))
    if timed:
        fair.append(Fair("EndTimeout", lambda s, a: a.name == "EndTimeout"))
    return fair


def _fair(name: str, key: str, value: int) -> Fair[State]:
    return Fair(f"{name}({value})", lambda s, a: a.name == name and a.param(key) == value)


def liveness(config: Config) -> dict[str, list[LeadsTo[State]]]:
    """Return the liveness properties; RequestsEnd needs ``timed``."""
    return {
        "RequestsEnd": [_request_ends(request) for request in range(1, 1 + (config.max_requests or 0))],
        "LostEnds": [_lost_ends(party) for party in range(2 * config.ranks + 1)],
        "WaitsEnd": [_wait_ends(rank) for rank in range(config.ranks)],
    }


def _request_ends(request: int) -> LeadsTo[State]:
    return LeadsTo(
        f"RequestsEnd({request})",
        lambda s: s.running == request and s.phase != "FREE",
        lambda s: s.phase == "FREE" or s.running > request,
    )


def _lost_ends(party: int) -> LeadsTo[State]:
    return LeadsTo(
        f"LostEnds({party})",
        lambda s: s.status[party] == DEAD and s.phase == "DOING",
        lambda s: s.phase != "DOING",
    )


def _wait_ends(rank: int) -> LeadsTo[State]:
    return LeadsTo(f"WaitsEnd({rank})", lambda s: s.worker[rank] == "here", lambda s: s.worker[rank] != "here")


def sometimes(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return situations that the configuration must reach; without them the properties would say little."""
    found: dict[str, Callable[[State], bool]] = {
        "a request is done": lambda s: s.phase == "DONE",
        "weights are exchanged": lambda s: any(s.swap),
    }
    if (config.max_requests or 0) > 1:
        found["a loader still works for the last request"] = lambda s: any(0 < job < s.running for job in s.job)
        found["a rank holds an old table while another is loaded"] = lambda s: any(
            0 < held < s.running and load == "taken" for held, load in zip(s.table, s.load, strict=True)
        )
    workers = set(range(config.ranks, 2 * config.ranks))
    if config.movers & workers:
        found["a worker died in the exchange"] = lambda s: any(
            request and s.status[config.ranks + rank] == DEAD for rank, request in enumerate(s.swap)
        )
    if config.movers & workers and config.ranks > 1:
        found["an exchange goes on after a loss"] = lambda s: "lost" in s.worker
    return found


def sometimes_steps(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return steps that the configuration must be able to take."""
    found: dict[str, Callable[[State, Action, State], bool]] = {}
    if (config.max_requests or 0) > 1:
        found["a report about an older request is refused"] = lambda s, a, t: (
            a.name == "RefuseReport" and s.job[a.params[0][1]] < s.running and s.phase == "DOING"
        )
    if config.movers:
        found["a dead party is served"] = lambda s, a, t: a.name in ("ReportOk", "Updated", "Take") and DEAD in s.status
        found["a loss ends the request"] = lambda s, a, t: t.outcome[-1:] == ("lost",) != s.outcome[-1:]
    return found
