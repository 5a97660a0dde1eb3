"""Programs over the shipping host's rearrangements; and the published steps beside it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any

from fdcomm.errors import (
    CommTimeoutError,
    FencedError,
    HostLostError,
    RearrangeBusyError,
    RearrangeEndedError,
)
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from tests.schedules.rearrange_testbed import RearrangeBed

__all__ = ("PROGRAMS",)

_POLL_S = 0.001


def whole_way(runtime: ControlledRuntime) -> Scenario:
    """One rank: a request is made, loaded, exchanged and waited for; everybody waits for as long as it takes."""
    bed = RearrangeBed(runtime, 1)
    told: list[Any] = []

    def requester() -> None:
        told.append(bed.act(bed.requester, "wait", bed.ask(), None)["what"])

    def coordinator() -> None:
        number = bed.coordinate()
        assert bed.act(bed.workers[0], "take_update", None) == number
        bed.act(bed.workers[0], "updated", number)

    def final() -> None:
        assert told == ["done"], f"{told}"
        assert bed.core.phase == "DONE"

    tasks: dict[str, Callable[[], None]] = {
        "requester": requester,
        "coordinator and worker": coordinator,
        "loader": lambda: _ignore(bed.load(0)),
    }
    return bed.scenario(tasks, final)


def _ignore(value: object) -> None:
    del value


def meeting(runtime: ControlledRuntime) -> Scenario:
    """Two workers meet, exchange, and a third party waits for the end."""
    bed = RearrangeBed(runtime)
    number = bed.up_to_update()
    inside: list[int] = []
    told: list[str] = []

    def worker(rank: int) -> None:
        assert bed.act(bed.workers[rank], "take_update", None) == number
        inside.append(rank)
        bed.act(bed.workers[rank], "updated", number)

    def waiter() -> None:
        told.append(bed.act(bed.requester, "wait", number, None)["what"])
        assert sorted(inside) == [0, 1], "it was over before all had exchanged their weights"

    def final() -> None:
        assert told == ["done"]

    tasks: dict[str, Callable[[], None]] = {
        "worker 0": partial(worker, 0),
        "worker 1": partial(worker, 1),
        "waiter": waiter,
    }
    return bed.scenario(tasks, final)


def two_requesters(runtime: ControlledRuntime) -> Scenario:
    """Two ask at once, and the coordinator takes and calls off whatever comes: none is overwritten, none is lost."""
    bed = RearrangeBed(runtime, 1)
    other = bed.session(0)
    accepted: list[tuple[int, str]] = []
    refused: list[object] = []
    taken: list[tuple[int, tuple[str, ...]]] = []

    def requester(session: int, address: str) -> None:
        try:
            accepted.append((bed.act(session, "request", (address,), None), address))
        except RearrangeBusyError as error:
            refused.append(error.request)

    def coordinator() -> None:
        found = bed.act(bed.coordinator, "take", None)
        taken.append(found)
        bed.act(bed.coordinator, "declare", found[0], "no")

    def final() -> None:
        left = bed.act(bed.coordinator, "take", 0.0)
        assert [*taken, *([left] if left else [])] == [(number, (name,)) for number, name in sorted(accepted)]
        assert len(accepted) + len(refused) == 2
        assert refused in ([], [1])

    tasks: dict[str, Callable[[], None]] = {
        "requester 1": partial(requester, bed.requester, "a"),
        "requester 2": partial(requester, other, "b"),
        "coordinator": coordinator,
    }
    return bed.scenario(tasks, final)


def loader_lost(runtime: ControlledRuntime) -> Scenario:
    """The loader of rank 1 is lost at any moment: its request is loaded by all, or ends and names the rank."""
    bed = RearrangeBed(runtime)
    assert bed.act(bed.loaders[1], "take_load", 0.0) is None
    number = bed.ask()
    assert bed.act(bed.coordinator, "take", 0.0) == (number, ())
    bed.act(bed.coordinator, "begin_load", number, b"plan")
    told: list[object] = []

    def coordinator() -> None:
        try:
            bed.act(bed.coordinator, "gather", number, None)
            bed.act(bed.coordinator, "declare", number, None)
            told.append("loaded")
        except RearrangeEndedError as error:
            told.append(error.missing)

    def loader(rank: int) -> None:
        try:
            bed.load(rank)
        except (FencedError, RearrangeEndedError):
            told.append(f"loader {rank} refused")

    def network() -> None:
        bed.lose(bed.loaders[1])

    def final() -> None:
        outcome = bed.act(bed.requester, "wait", number, 0.0)
        assert (outcome["what"], outcome["missing"]) == ("lost", (1,)), f"{outcome}, {told}"
        assert ("loaded" in told) != ((1,) in told), f"{told}"

    tasks: dict[str, Callable[[], None]] = {"coordinator": coordinator, "network": network}
    return bed.scenario(tasks | {"loader 1": partial(loader, 1), "loader 0": lambda: _load_if(bed)}, final)


def _load_if(bed: RearrangeBed) -> None:
    """Rank 0 loads, if there still is something to load."""
    taken = bed.act(bed.loaders[0], "take_load", 0.0)
    if taken is not None:
        with contextlib.suppress(RearrangeEndedError):
            bed.act(bed.loaders[0], "report", taken[0], None)


def worker_lost(runtime: ControlledRuntime) -> Scenario:
    """The worker of rank 1 is lost at any moment of the exchange: nobody is left in it, and the outcome says so."""
    bed = RearrangeBed(runtime)
    number = bed.up_to_update()
    told: dict[int, object] = {}

    def worker(rank: int) -> None:
        try:
            told[rank] = bed.act(bed.workers[rank], "take_update", None)
            bed.act(bed.workers[rank], "updated", number)
            told[rank] = "updated"
        except (FencedError, RearrangeEndedError) as error:
            told.setdefault(rank, type(error).__name__)

    def network() -> None:
        bed.lose(bed.workers[1])

    def final() -> None:
        outcome = bed.act(bed.requester, "wait", number, 0.0)
        if told[1] == "updated":
            assert (outcome["what"], told[0]) == ("done", "updated"), f"{outcome} {told}"
            return
        assert (outcome["what"], outcome["missing"]) == ("lost", (1,)), f"{outcome} {told}"
        assert told[0] in ((0, "RearrangeEndedError") if told[1] != number else ("updated",)) or told[0] == "updated"
        assert bed.core.phase == "FREE"

    tasks: dict[str, Callable[[], None]] = {
        "worker 0": partial(worker, 0),
        "worker 1": partial(worker, 1),
        "network": network,
    }
    return bed.scenario(tasks, final)


def overdue(runtime: ControlledRuntime) -> Scenario:
    """The request's limit passes at any moment: all workers exchange their weights, or none does."""
    bed = RearrangeBed(runtime)
    number = bed.up_to_update(5.0)
    told: dict[int, object] = {}

    def worker(rank: int) -> None:
        try:
            told[rank] = bed.act(bed.workers[rank], "take_update", None)
        except RearrangeEndedError:
            told[rank] = "ended"
        if told[rank] == number:
            bed.act(bed.workers[rank], "updated", number)

    def final() -> None:
        what = bed.outcome(number)
        if what == "done":
            assert told == {0: number, 1: number}, f"{told}"
        else:
            assert what == "late"
            assert number not in told.values(), f"a worker has exchanged its weights alone: {told}"

    return bed.scenario({"worker 0": partial(worker, 0), "worker 1": partial(worker, 1)}, final)


def own_limit(runtime: ControlledRuntime) -> Scenario:
    """The limit of one worker's wait passes at any moment; it comes again, and they meet."""
    bed = RearrangeBed(runtime)
    number = bed.up_to_update()
    told: list[object] = []

    def impatient() -> None:
        try:
            told.append(bed.act(bed.workers[0], "take_update", 5.0))
        except CommTimeoutError as error:
            told.append(error.missing)
            told.append(bed.act(bed.workers[0], "take_update", None))
        bed.act(bed.workers[0], "updated", number)

    def patient() -> None:
        assert bed.act(bed.workers[1], "take_update", None) == number
        bed.act(bed.workers[1], "updated", number)

    def final() -> None:
        assert told in ([number], [(1,), number]), f"{told}"
        assert bed.outcome(number) == "done"

    return bed.scenario({"worker 0": impatient, "worker 1": patient}, final)


def closing(runtime: ControlledRuntime) -> Scenario:
    """The host ends while everybody waits: all are told."""
    bed = RearrangeBed(runtime)
    number = bed.up_to_update()
    raised: list[str] = []

    def call(name: str, what: Callable[[], object]) -> None:
        try:
            what()
        except HostLostError:
            raised.append(name)

    tasks: dict[str, Callable[[], None]] = {
        "requester": lambda: call("wait", lambda: bed.act(bed.requester, "wait", number, None)),
        "coordinator": lambda: call("take", lambda: bed.act(bed.coordinator, "take", None)),
        "worker": lambda: call("update", lambda: bed.act(bed.workers[0], "take_update", None)),
        "host": bed.service.shut_down,
    }

    def final() -> None:
        assert sorted(raised) == ["take", "update", "wait"], f"{raised}"

    return bed.scenario(tasks, final)


_ALL: dict[str, tuple[Callable[[ControlledRuntime], Scenario], Bound]] = {
    "1 rank, from the request to the end": (whole_way, Bound(preemptions=0, spurious=1)),
    "2 workers meet": (meeting, Bound()),
    "2 requesters": (two_requesters, Bound(spurious=1)),
    "a loader is lost": (loader_lost, Bound(preemptions=1)),
    "a worker is lost": (worker_lost, Bound(spurious=1)),
    "the request's limit passes": (overdue, Bound(ticks=1, spurious=1)),
    "a worker's own limit passes": (own_limit, Bound(ticks=1, spurious=1)),
    "the host ends": (closing, Bound()),
}
PROGRAMS = {name: (Program(f"rearrange: {name}", build, {}), bound) for name, (build, bound) in _ALL.items()}
