"""The shipped use of barriers beside ours, for the same scenarios."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fdcomm.testing import ControlledRuntime, Program, Scenario
from tests.schedules.barrier_programs import Bed, of_ranks

__all__ = ("RACES", "PlainBarrier", "race")


class PlainBarrier:
    """A barrier as the standard library has it: filling, draining or resetting; it knows no ranks."""

    def __init__(self, runtime: ControlledRuntime, parties: int) -> None:
        self._condition = runtime.condition()
        self._parties = parties
        self._state, self._count = "filling", 0

    def wait(self) -> str:
        """Return "passed" or "broken"."""
        with self._condition:
            while self._state != "filling":
                self._condition.wait()
            self._count += 1
            if self._count == self._parties:
                self._state = "draining"
                self._condition.notify_all()
            else:
                while self._state == "filling":
                    self._condition.wait()
            told = "passed" if self._state == "draining" else "broken"
            self._count -= 1
            if self._count == 0:
                self._state = "filling"
                self._condition.notify_all()
            return told

    def reset(self) -> None:
        """Throw out who waits; nothing while it drains."""
        with self._condition:
            if self._count and self._state == "filling":
                self._state = "resetting"
                self._condition.notify_all()


class _OurBarrier:
    """The same interface over the shipping host service."""

    def __init__(self, runtime: ControlledRuntime) -> None:
        self.bed = Bed(runtime, 2)

    def wait(self, rank: int) -> str:
        """Return "passed" or the error's name."""
        self.bed.wait(rank)
        told = self.bed.told[rank][-1]
        return "passed" if told in (0, 1) else str(told)

    def reset(self, rank: int) -> None:
        """Reset."""
        self.bed.act(rank, "reset")


class _ShippedBarrier:
    def __init__(self, runtime: ControlledRuntime) -> None:
        self._barrier = PlainBarrier(runtime, 2)

    def wait(self, rank: int) -> str:
        """Wait. The barrier does not ask who."""
        return self._barrier.wait()

    def reset(self, rank: int) -> None:
        """Reset."""
        self._barrier.reset()


def _two_rounds(barrier: _OurBarrier | _ShippedBarrier, resetters: tuple[int, ...]) -> Scenario:
    def rank(number: int) -> None:
        for turn in range(2):
            told = barrier.wait(number)
            assert told == "passed", f"rank {number} is {told} in round {turn}"
            if number in resetters:
                barrier.reset(number)

    return Scenario(of_ranks(2, rank))


def _two_threads(barrier: _OurBarrier | _ShippedBarrier) -> Scenario:
    """P5.6: two threads of rank 0 come to one barrier, and rank 1 does not."""
    told: list[str] = []

    def thread() -> None:
        told.append(barrier.wait(0))
        assert "passed" not in told, "rank 0 has passed, and rank 1 was not there"

    def end() -> None:
        if isinstance(barrier, _OurBarrier):
            barrier.bed.service.shut_down()

    return Scenario({"thread 1": thread, "thread 2": thread, "end": end})


_Build = Callable[["_OurBarrier | _ShippedBarrier"], Scenario]

# id -> the scenario; each fails with an error on the shipped steps.
RACES: dict[str, _Build] = {
    "P4.2": partial(_two_rounds, resetters=(0,)),
    "P4.3": partial(_two_rounds, resetters=(0, 1)),
    "P5.6": _two_threads,
}


def race(name: str, *, shipped: bool) -> Program:
    """Return the scenario of a race on the shipped steps or on ours."""

    def build(runtime: ControlledRuntime) -> Scenario:
        return RACES[name](_ShippedBarrier(runtime) if shipped else _OurBarrier(runtime))

    return Program(
        f"{name} on {'the shipped barrier' if shipped else 'ours'}", build, {"race": name, "shipped": shipped}
    )
