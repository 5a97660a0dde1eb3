"""What is claimed of the pause protocol, and the situations in which the claims say something."""

from __future__ import annotations

from collections.abc import Callable

from models.kernel import Action
from models.liveness import Fair, LeadsTo
from models.pause_state import ABORT, AWAY, DEAD, KEEP, LIVE, LOST, Config, State

__all__ = ("action_properties", "fairness", "invariants", "liveness", "sometimes", "sometimes_steps")


def invariants(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return the properties of single states."""
    ranks, clients = range(config.ranks), range(1, config.clients + 1)

    def type_ok(s: State) -> bool:
        return (
            s.phase in ("run", "pause")
            and KEEP <= s.mode <= ABORT
            and all(status in (AWAY, LIVE, DEAD, LOST) for status in s.status)
            and s.quiet <= set(ranks)
            and s.holders <= set(clients)
            and all(0 <= number <= s.order for number in (*s.seen, *s.awaited, s.began))
            and all(gate in ("open", "shut") for gate in s.gate)
            and min(*s.running, *s.parked, 0) == 0
            and all(call in ("idle", "pause", "resume", "cancel") for call in s.waiting)
        )

    def quiet_means_shut(s: State) -> bool:
        return all(s.gate[r] == "shut" and s.running[r] == 0 for r in s.quiet if s.status[r] == LIVE)

    def paused_means_still(s: State) -> bool:
        return not s.promised or (s.phase == "pause" and _nothing(s))

    def held_means_paused(s: State) -> bool:
        return not s.holders or (s.phase == "pause" and _nothing(s))

    return {
        "TypeOK": type_ok,
        "QuietMeansShut": quiet_means_shut,
        "PausedMeansStill": paused_means_still,
        "HeldMeansPaused": held_means_paused,
    }


def _nothing(s: State) -> bool:
    """No job runs, and none can start."""
    return not any(s.running) and all(s.gate[r] == "shut" for r, status in enumerate(s.status) if status == LIVE)


def action_properties(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return the properties of single steps."""
    from models.pause import expects, still

    def only_owner_ends(s: State, action: Action, t: State) -> bool:
        ends = s.phase == "pause" and t.phase == "run"
        expected = any(expects(s, client) for client in range(1, config.clients + 1))
        if not ends or (still(s, config.guards) and not expected):
            return True
        return any(before == "idle" and after == "cancel" for before, after in zip(s.waiting, t.waiting, strict=True))

    return {"OnlyOwnerEnds": only_owner_ends}


def fairness(config: Config) -> list[Fair[State]]:
    """Jobs end, ranks take orders and report, the host notices and tells, holders let go. Nothing else is assumed."""
    by_rank = [("rank", rank, name) for rank in range(config.ranks) for name in ("Fence", "Take", "Quiet", "Done")]
    by_client = [
        ("client", client, name)
        for client in range(1, config.clients + 1)
        for name in ("PauseReturns", "PauseEnded", "ResumeReturns", "LetGo")
    ]
    return [
        Fair(f"{name}({who})", lambda s, a, key=key, who=who, name=name: a.name == name and a.param(key) == who)  # type: ignore[misc]
        for key, who, name in (*by_rank, *by_client)
    ]


def liveness(config: Config) -> dict[str, list[LeadsTo[State]]]:
    """Return the liveness properties: families over the clients."""
    clients = range(config.clients)
    return {
        "PauseComes": [_call_returns("PauseComes", client, ("pause",)) for client in clients],
        "ResumeComes": [_call_returns("ResumeComes", client, ("resume", "cancel")) for client in clients],
    }


def _call_returns(name: str, client: int, calls: tuple[str, ...]) -> LeadsTo[State]:
    return LeadsTo(
        f"{name}(client={client + 1})",
        lambda s: s.waiting[client] in calls,
        lambda s: s.waiting[client] not in calls,
    )


def sometimes(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return situations that the configuration must reach; without them the properties would say little."""
    most = config.max_jobs or 1
    found: dict[str, Callable[[State], bool]] = {
        "a pause has returned": lambda s: s.promised,
        "a pause is held": lambda s: bool(s.holders),
        "a pause is ordered while all ranks have jobs": lambda s: (
            s.phase == "pause" and all(count == most for count in s.running)
        ),
        "it runs again": lambda s: s.phase == "run" and s.order > 0 and any(s.running),
    }
    if KEEP in config.modes:
        found["a pause has returned while jobs are parked"] = lambda s: s.promised and any(s.parked)
    if config.mortal:
        found["a pause has returned without a rank that was lost"] = lambda s: s.promised and LOST in s.status
        found["a pause waits for a rank whose end is not noticed"] = lambda s: "pause" in s.waiting and DEAD in s.status
    if config.clients > 1:
        found["two clients wait for one pause"] = lambda s: s.waiting.count("pause") > 1
    return found


def sometimes_steps(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return steps that the configuration must be able to take."""
    found: dict[str, Callable[[State, Action, State], bool]] = {
        "a rank joins during a pause": lambda s, a, t: a.name == "Join" and s.phase == "pause",
        "a job ends while its rank has not taken the pause": lambda s, a, t: (
            a.name == "Done" and s.phase == "pause" and s.seen[a.param("rank") or 0] < s.order
        ),
    }
    if config.clients > 1:
        found["a pause ends under a client that waits for it"] = lambda s, a, t: a.name == "PauseEnded"
    if len(config.modes) > 1:
        found["a pause is made sharper"] = lambda s, a, t: (
            a.name == "CallPause" and s.phase == "pause" and t.order > s.order
        )
    return found
