"""The shipping host service under every schedule of small programs, and under random ones of larger programs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fdcomm.core.dispatch import Dispatch
from fdcomm.host.channel import DispatchChannel
from fdcomm.testing import Bound, ControlledRuntime, Exhaustive, Program, explore
from fdcomm.testing.controlled import ControlledCondition
from tests.schedules.checks import every_schedule_is_right, random_schedules_are_right
from tests.schedules.handles import close_in_another_thread
from tests.schedules.programs import LARGER, PROGRAMS, program


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_schedule(name: str) -> None:
    every_schedule_is_right(*PROGRAMS[name])


@pytest.mark.parametrize("name", LARGER)
def test_random_schedules_of_larger_programs(name: str, seed: int) -> None:
    random_schedules_are_right(LARGER[name], seed, 150)


def test_reduction_changes_no_verdict() -> None:
    """The smallest programs again, with every operation a scheduling point and nothing left out."""
    for name in ("close while put waits", "close while get waits", "put of 1 s, the reader does not come"):
        scenario, bound = PROGRAMS[name]
        report = explore(scenario, Exhaustive(prune=False, reduce=False), bound)
        assert report.failure is None, str(report)
        assert report.complete


@pytest.mark.parametrize("method", ["put", "get"])
def test_a_handle_is_closed_while_another_thread_waits_in_it(method: str) -> None:
    # The handle's own fields are shared without a lock, so nothing is pruned.
    report = explore(close_in_another_thread(method), Exhaustive(prune=False, reduce=False), Bound(preemptions=2))
    assert report.failure is None, str(report)
    assert report.complete


# -- the programs have teeth: each planted fault is found --------------------------------------------------------------


def _deaf(condition: str) -> Callable[[pytest.MonkeyPatch], None]:
    """Notifications of one of the channel's conditions are lost."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        notify = ControlledCondition.notify_all

        def lost(self: ControlledCondition) -> None:
            if not self.name.endswith(condition):
                notify(self)

        patch.setattr(ControlledCondition, "notify_all", lost)

    return plant


def _lower_late(patch: pytest.MonkeyPatch) -> None:
    """The words are written after the lock was given back (B02)."""
    get, publish = DispatchChannel.get_tasks, DispatchChannel._publish
    late: list[DispatchChannel] = []

    def later(self: DispatchChannel) -> None:
        (late.append if not self._core.log else publish)(self)

    def get_tasks(self: DispatchChannel, session: int, ticket: int, timeout: float | None) -> object:
        result = get(self, session, ticket, timeout)
        while late:
            publish(late.pop())
        return result

    patch.setattr(DispatchChannel, "_publish", later)
    patch.setattr(DispatchChannel, "get_tasks", get_tasks)


def _stays_up(patch: pytest.MonkeyPatch) -> None:
    """A clear does not publish (P1.3)."""
    clear = Dispatch.clear_producer

    def quiet(self: Dispatch[bytes], producer: int) -> tuple[int, ...]:
        dropped = clear(self, producer)
        if dropped:
            patch.setattr(DispatchChannel, "_publish", lambda channel: None)
        return dropped

    patch.setattr(Dispatch, "clear_producer", quiet)


def _any_order(patch: pytest.MonkeyPatch) -> None:
    """Any waiting put may go first (P1.9)."""

    def put_tasks(self: Dispatch[bytes], call: int) -> object:
        if self.lost or len(self.log) >= self.depth:
            return None
        self.waiting.sort(key=lambda other: other.id != call)
        return put(self, call)

    put = Dispatch.put_tasks
    patch.setattr(Dispatch, "put_tasks", put_tasks)


def _clear_every_time(patch: pytest.MonkeyPatch) -> None:
    """Every rank's clear clears (P1.5)."""
    clear = Dispatch._clear
    patch.setattr(Dispatch, "_clear", lambda self, seen: clear(self, self.epoch))


def _forgets_to_fence(patch: pytest.MonkeyPatch) -> None:
    """A lost producer's calls stay (B82)."""

    def fence(self: Dispatch[bytes], producer: int) -> None:
        del self.prod_seen[producer]

    patch.setattr(Dispatch, "fence_producer", fence)


@pytest.mark.parametrize(
    ("plant", "name", "verdict"),
    [
        (_deaf("condition 1"), "1 putter, 2 readers, 2 batches", "deadlock"),
        (_deaf("condition 2"), "1 putter, 2 readers, 2 batches", "deadlock"),
        (_deaf("condition 2"), "close while put waits", "deadlock"),
        (_lower_late, "poll of the exist word, then get", "invariant"),
        (_stays_up, "tickets, with a clear between", "invariant"),
        (_any_order, "2 putters, 1 reader", "invariant"),
        (_clear_every_time, "clear by every rank of one epoch, and a new put", "deadlock"),
        (_forgets_to_fence, "fence of a producer whose put waits", "invariant"),
    ],
)
def test_a_planted_fault_is_found(
    plant: Callable[[pytest.MonkeyPatch], None], name: str, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario, bound = PROGRAMS[name]

    def build(runtime: ControlledRuntime) -> object:
        monkeypatch.undo()
        plant(monkeypatch)
        return scenario.build(runtime)

    report = explore(Program(name, build), Exhaustive(), bound)  # type: ignore[arg-type]
    assert report.failure is not None, f"not found: {report}"
    assert report.failure.verdict == verdict, str(report)


def test_programs_are_found_by_name() -> None:
    assert program("deliver", ranks=1, batches=1, depth=1).constants == {"ranks": 1, "batches": 1, "depth": 1}
