"""What is claimed of the blocks protocol, and the situations in which the claims say something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from models.blocks_state import SERVING, Config, State, in_flight
from models.kernel import Action
from models.liveness import Fair, LeadsTo

__all__ = ("action_properties", "fairness", "invariants", "liveness", "sometimes", "sometimes_steps")

_STAGES = ("issuing", "queued", "taken", "posted", "hand", "late", "done", "refused")
_OUT = ("", "ok", "failed", "cancelled")
_TOLD = (*_OUT, "refused", "lost", "closed")


def invariants(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return the properties of single states."""
    blocks = frozenset(config.blocks)

    def type_ok(s: State) -> bool:
        return (
            (config.max_gen is None or 0 <= s.gen <= config.max_gen)
            and s.phase in (*SERVING, "lost", "closed")
            and s.free <= blocks
            and all(lease.ids and lease.ids <= blocks and 0 <= lease.gen <= s.gen for lease in s.leases)
            and all(
                task.held <= blocks and task.stage in _STAGES and task.out in _OUT and task.told in _TOLD
                for task in s.tasks
            )
            and 0 <= s.hand <= len(s.tasks)
        )

    def conservation(s: State) -> bool:
        places = Counter(s.free)
        for lease in s.leases:
            if lease.gen == s.gen:
                places.update(lease.ids)
        for task in s.tasks:
            if in_flight(task):
                places.update(task.held)
        return places == Counter(blocks)

    def writers_own(s: State) -> bool:
        for task in s.tasks:
            if task.at:
                others = Counter(s.free)
                others.update(block for lease in s.leases if lease.gen == s.gen for block in lease.ids)
                others.update(block for one in s.tasks if one is not task and in_flight(one) for block in one.held)
                if any(others[block] for block in task.written):
                    return False
        return True

    def nobody_is_left(s: State) -> bool:
        return s.phase == "open" or all(task.told for task in s.tasks)

    return {
        "TypeOK": type_ok,
        "Conservation": conservation,
        "WritersOwn": writers_own,
        "NobodyIsLeft": nobody_is_left,
    }


def action_properties(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return the properties of single steps."""

    def answers_stay(s: State, action: Action, t: State) -> bool:
        return all(
            new.told == (old.told or new.told) and (in_flight(old) or new.stage == old.stage)
            for old, new in zip(s.tasks, t.tasks, strict=False)
        )

    def stale_moves_nothing(s: State, action: Action, t: State) -> bool:
        return t.free == s.free or not any(lease.gen < s.gen for lease in s.leases - t.leases)

    return {"AnswersStay": answers_stay, "StaleMovesNothing": stale_moves_nothing}


def fairness(config: Config) -> list[Fair[State]]:
    """Calls of the port return, ranks end what they took, and the receiver goes on. No task has to be taken."""

    def of(number: int, *names: str) -> Fair[State]:
        return Fair(f"{names[0]}({number})", lambda s, a: a.name in names and a.param("task") == number)

    def withdrawn(number: int) -> Fair[State]:
        return Fair(f"Withdraw({number})", lambda s, a: a == Action("Withdraw", (("task", number),)) and _resetting(s))

    pairs = (
        *(("Accept", "Refuse"), ("Register",), ("Succeed", "Fail", "Overrun")),
        *(("Quiet",), ("Receive",), ("Handle",), ("Settle",)),
    )
    numbers = range(1, (config.max_tasks or 0) + 1)
    found = [of(number, *names) for number in numbers for names in pairs]
    found += [withdrawn(number) for number in numbers]
    return [*found, Fair("Rebuild", lambda s, a: a.name == "Rebuild")]


def liveness(config: Config) -> dict[str, list[LeadsTo[State]]]:
    """Return the liveness properties."""

    def told(number: int) -> LeadsTo[State]:
        def has_result(s: State) -> bool:
            return len(s.tasks) >= number and not s.tasks[number - 1].told and s.tasks[number - 1].out != ""

        return LeadsTo(f"NobodyWaitsForEver(task={number})", has_result, lambda s: not has_result(s))

    return {
        "NobodyWaitsForEver": [told(number) for number in range(1, (config.max_tasks or 0) + 1)],
        "ResetEnds": [LeadsTo("ResetEnds", _resetting, lambda s: not _resetting(s))],
    }


def _resetting(s: State) -> bool:
    return s.phase == "resetting"


def sometimes(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return situations that the configuration must reach; without them the properties would say little."""
    if not config.max_tasks:
        return {}
    found: dict[str, Callable[[State], bool]] = {
        "a task is done": lambda s: any(task.told == "ok" for task in s.tasks),
        "a task has failed": lambda s: any(task.told == "failed" for task in s.tasks),
        "a result comes before its number": lambda s: bool(s.hand) and not s.tasks[s.hand - 1].known,
    }
    if config.overruns:
        found["a task is late, and a rank at it"] = lambda s: any(task.stage == "late" and task.at for task in s.tasks)
        found["a rank has ended before its late result is handled"] = lambda s: (
            bool(s.hand) and s.tasks[s.hand - 1].late and not s.tasks[s.hand - 1].at
        )
    if config.overruns and config.max_gen != 0:
        found["a reset waits for a late task"] = lambda s: (
            _resetting(s) and any(task.stage == "late" for task in s.tasks)
        )
    if config.max_gen != 0:
        found["a reset waits for a result in the receiver's hand"] = lambda s: _resetting(s) and bool(s.hand)
        found["a reset waits for a call of the port"] = lambda s: (
            _resetting(s) and any(task.stage == "issuing" for task in s.tasks)
        )
        found["somebody has a stale lease of a block that is leased again"] = lambda s: any(
            a.gen < s.gen and b.gen == s.gen and a.ids & b.ids for a in s.leases for b in s.leases
        )
    return found


def sometimes_steps(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """The same for steps."""
    if not config.max_gen or not config.max_tasks:
        return {}
    return {"a result is handled during a reset": lambda s, a, t: a.name == "Handle" and _resetting(s)}
