"""Level V5 of the ring's segments: in no schedule is a message lost, changed or left behind, and each guard that the
code lacks is missed."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from functools import partial

import pytest

from fdcomm.deadline import Deadline
from fdcomm.ring.overflow import Overflow
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from tests.schedules.checks import every_schedule_is_right, failure_is_found
from tests.schedules.ring_segment_bed import SteppedOverflows
from tests.schedules.ring_segment_programs import PROGRAMS, given_up, killed, leaves, used_again


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_schedule(name: str) -> None:
    gc.collect()
    before = os.listdir("/proc/self/fd")
    every_schedule_is_right(*PROGRAMS[name])
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == len(before), "processes that were ended have left descriptors"


class _UsesAtOnce(SteppedOverflows):
    def _is_over(self, item: Overflow, over: int) -> bool:
        return True


class _ForgetsZombies(SteppedOverflows):
    def get(self, nbytes: int, passed: int, zombies: bool, limit: Callable[[], Deadline]) -> Overflow:
        return super().get(nbytes, passed, False, limit)


class _RemovesUnread(SteppedOverflows):
    def _take(self, over: int, deadline: Deadline) -> int:
        return super()._take(1 << 40, deadline)


class _LeavesNothing(SteppedOverflows):
    def close(self, deadline: Deadline, *, remove: bool, passed: int = 0) -> None:
        for item in list(self._pool):
            self._remove(item, deadline)


FAULTS: dict[str, tuple[Callable[..., Scenario], type[SteppedOverflows], str]] = {
    "AfterReaders": (used_again, _UsesAtOnce, "got [2, 2] of [1, 2]"),
    "AfterZombies": (given_up, _ForgetsZombies, "saw"),
    "TakesUnread": (killed, _RemovesUnread, "segment is gone"),
    "LeavesUnread": (leaves, _LeavesNothing, "segment is gone"),
}


@pytest.mark.parametrize("guard", FAULTS)
def test_a_guard_that_is_left_out_is_missed(guard: str) -> None:
    build, pool, message = FAULTS[guard]

    def broken(scheduling: ControlledRuntime) -> Scenario:
        return build(scheduling, pool=pool)

    failure = failure_is_found(Program(f"without {guard}", partial(broken), {}), Bound(preemptions=2))
    assert message in failure.message, failure.message
