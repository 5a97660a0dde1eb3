"""What is claimed of the transfer protocol, and the situations in which the claims say something."""

from __future__ import annotations

from collections.abc import Callable

from models.kernel import Action
from models.liveness import Fair, LeadsTo
from models.transfer_state import (
    AWAY,
    CANCELLED,
    DEAD,
    FAILED,
    LIVE,
    LOST,
    OK,
    QUEUED,
    STARTED,
    Config,
    State,
    ended,
    numbers,
    reported,
)

__all__ = ("action_properties", "fairness", "invariants", "liveness", "sometimes", "sometimes_steps")


def invariants(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return the properties of single states."""
    ranks, clients = set(range(config.ranks)), range(1, config.clients + 1)

    def type_ok(s: State) -> bool:
        issued = len(s.state)
        return (
            len(s.owner) == len(s.kind) == len(s.reports) == len(s.without) == len(s.busy) == issued
            and set(s.owner) <= set(clients)
            and set(s.kind) <= set(range(1, config.kinds + 1))
            and set(s.state) <= {QUEUED, STARTED, OK, FAILED, CANCELLED}
            and all(report.rank in ranks for reports in s.reports for report in reports)
            and all(found <= ranks for found in (*s.without, *s.busy))
            and all(0 < number <= issued for results in s.results for number in results)
            and all(0 <= number <= issued for number in s.hand)
            and all(0 < number <= issued for number in s.handled)
            and s.gone <= set(clients)
            and set(s.status) <= {AWAY, LIVE, DEAD, LOST}
            and set(s.vote) <= {"none", "yes", "no"}
            and s.phase in ("run", "stop", "still")
            and 0 <= s.pauses <= config.max_pauses
            and all(0 < number <= issued for found in (*s.jobs, *s.running, *s.held) for number in found)
        )

    def one_result(s: State) -> bool:
        for number, owner in enumerate(s.owner, 1):
            places = s.results[owner - 1].count(number) + (s.hand[owner - 1] == number) + (number in s.handled)
            due = 1 if ended(s, number) else 0
            if places > due or (places < due and owner not in s.gone):
                return False
        return True

    def once_per_rank(s: State) -> bool:
        return all(
            len(reports) == len(reported(s, number)) and not reported(s, number) & s.without[number - 1]
            for number, reports in enumerate(s.reports, 1)
        )

    def cancelled_untouched(s: State) -> bool:
        return all(
            not s.reports[number - 1] and not any(number in jobs for jobs in s.jobs) for number in numbers(s, CANCELLED)
        )

    def ok_is_whole(s: State) -> bool:
        return all(
            reported(s, number) == ranks and all(report.ok for report in s.reports[number - 1])
            for number in numbers(s, OK)
        )

    def all_or_none(s: State) -> bool:
        if not config.inside:
            return True
        return all(
            number in s.jobs[rank] or rank in reported(s, number) or rank in s.without[number - 1]
            for number in numbers(s, STARTED)
            for rank in ranks
        )

    def still_is_quiet(s: State) -> bool:
        return s.phase != "still" or not (
            any(s.jobs) or any(s.running) or any(s.spare) or any(s.busy) or STARTED in s.state
        )

    def targets_held(s: State) -> bool:
        return all(rank in s.busy[number - 1] for rank, running in enumerate(s.running) for number in running)

    def free_is_still(s: State) -> bool:
        for number, owner in enumerate(s.owner, 1):
            taken = s.hand[owner - 1] == number or number in s.handled
            free = taken and number not in s.held[owner - 1] and owner not in s.gone
            if free and any(number in running for running in s.running):
                return False
        return True

    def bounded(s: State) -> bool:
        return len(numbers(s, QUEUED)) <= config.capacity

    return {
        "TypeOK": type_ok,
        "OneResult": one_result,
        "OncePerRank": once_per_rank,
        "CancelledUntouched": cancelled_untouched,
        "OkIsWhole": ok_is_whole,
        "AllOrNone": all_or_none,
        "StillIsQuiet": still_is_quiet,
        "TargetsHeld": targets_held,
        "FreeIsStill": free_is_still,
        "Bounded": bounded,
    }


def action_properties(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return the properties of single steps."""

    def starts_in_order(s: State, action: Action, t: State) -> bool:
        begun = [n for n in numbers(s, QUEUED) if t.state[n - 1] == STARTED]
        return all(older not in numbers(s, QUEUED) or older in begun for n in begun for older in range(1, n))

    def kind_in_order(s: State, action: Action, t: State) -> bool:
        for number in range(1, len(s.state) + 1):
            for report in t.reports[number - 1] - s.reports[number - 1]:
                older = (m for m in s.jobs[report.rank] if m < number and s.kind[m - 1] == s.kind[number - 1])
                if report.ok and any(older):
                    return False
        return True

    def end_stays(s: State, action: Action, t: State) -> bool:
        return all(
            (t.state[i], t.reports[i], t.without[i]) == (s.state[i], s.reports[i], s.without[i])
            for i in range(len(s.state))
            if ended(s, i + 1)
        )

    return {"StartsInOrder": starts_in_order, "KindInOrder": kind_in_order, "EndStays": end_stays}


_WEAK = ("Fence", "Admit", "BackOff", "Refuse", "Return", "Order")
_STRONG = ("Accept", "Release")
_ALONE = ("Start", "Still", "Resume")


def fairness(config: Config) -> list[Fair[State]]:
    """Ranks do what they can, handlers end, the host notices, and pauses end. Nothing is assumed of clients."""
    most = config.max_issued or 0
    found: list[Fair[State]] = [Fair(name, lambda s, a, name=name: a.name == name) for name in _ALONE]  # type: ignore[misc]
    for rank in range(config.ranks):
        for name in (*_WEAK, *_STRONG):
            found.append(
                Fair(
                    f"{name}({rank})",
                    lambda s, a, name=name, rank=rank: a.name == name and a.param("rank") == rank,  # type: ignore[misc]
                    strong=name in _STRONG,
                )
            )
        for number in range(1, most + 1):
            for names in (("Finish",), ("ReportOk", "ReportFailed"), ("Settle",), ("JobDone",)):
                found.append(
                    Fair(
                        f"{names[0]}({rank}, {number})",
                        lambda s, a, names=names, rank=rank, number=number: (  # type: ignore[misc]
                            a.name in names and a.param("rank") == rank and a.param("number") == number
                        ),
                    )
                )
    return found


def liveness(config: Config) -> dict[str, list[LeadsTo[State]]]:
    """Return the liveness properties: families over the tasks."""
    tasks = range(1, (config.max_issued or 0) + 1)
    return {
        "TasksEnd": [_task_ends(number) for number in tasks],
        "TasksSettle": [_task_settles(number) for number in tasks],
        "PauseComes": [LeadsTo("PauseComes", lambda s: s.phase == "stop", lambda s: s.phase != "stop")],
    }


def _task_ends(number: int) -> LeadsTo[State]:
    """A task that has started ends; so does one that is queued, while every rank is there."""

    def begun(s: State) -> bool:
        return number <= len(s.state) and not ended(s, number)

    def over(s: State) -> bool:
        return number <= len(s.state) and (ended(s, number) or (AWAY in s.status and s.state[number - 1] == QUEUED))

    return LeadsTo(f"TasksEnd(number={number})", begun, over)


def _task_settles(number: int) -> LeadsTo[State]:
    """Those who may be at a task will not be."""

    def busy(s: State) -> bool:
        return number <= len(s.busy) and bool(s.busy[number - 1])

    def settled(s: State) -> bool:
        return number <= len(s.busy) and not s.busy[number - 1]

    return LeadsTo(f"TasksSettle(number={number})", busy, settled)


def sometimes(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return situations that the configuration must reach; without them the properties would say little."""
    found: dict[str, Callable[[State], bool]] = {
        "a task was done by all": lambda s: OK in s.state,
        "a task was cancelled": lambda s: CANCELLED in s.state,
        "a result was handled": lambda s: bool(s.handled),
    }
    if config.mortal:
        found["a task failed without a rank that was lost"] = lambda s: FAILED in s.state and any(s.without)
    if config.failing:
        found["one rank failed and the others did it"] = lambda s: any(
            len({report.ok for report in reports}) == 2 for reports in s.reports
        )
    if config.max_pauses:
        found["a pause was reached while a task waits"] = lambda s: s.phase == "still" and QUEUED in s.state
        found["a pause was reached with a result that nobody has taken"] = lambda s: (
            s.phase == "still" and any(s.results)
        )
    if config.max_issued is None or config.max_issued > 1:
        found["two tasks have started"] = lambda s: s.state.count(STARTED) > 1
    if config.impatient or config.slow:
        found["a client waits for a task to settle whose result it has"] = lambda s: any(
            s.busy[number - 1] for held in s.held for number in held
        )
        found["a task has settled whose client has not been told"] = lambda s: any(
            not s.busy[number - 1] for held in s.held for number in held
        )
    if config.impatient and config.inside:
        found["a job runs whose task has ended"] = lambda s: any(ended(s, n) for jobs in s.jobs for n in jobs)
    return found


def sometimes_steps(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return steps that the configuration must be able to take."""
    found: dict[str, Callable[[State, Action, State], bool]] = {
        "a rank comes while a task waits": lambda s, a, t: a.name == "Join" and QUEUED in s.state,
    }
    if config.max_pauses or not config.inside:
        found["a rank backs off because another refused"] = lambda s, a, t: a.name == "BackOff" and "no" in s.vote
        found["a rank that refused is ready again"] = lambda s, a, t: (
            a.name == "Accept" and s.vote[a.param("rank") or 0] == "no"
        )
    if config.frail:
        found["a task of a client that is gone ends"] = lambda s, a, t: (
            a.name in ("ReportOk", "Fence", "Leave") and sum(map(len, t.results)) == sum(map(len, s.results))
            and s.state.count(STARTED) > t.state.count(STARTED)
        )  # fmt: skip
    return found
