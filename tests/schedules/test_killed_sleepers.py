"""A task that was killed in its sleep stays dead, whoever wakes it."""

from __future__ import annotations

import threading

import pytest

from fdcomm.testing import ControlledRuntime, Exhaustive, Program, Scenario, explore
from fdcomm.testing.kernel import ControlledKernel, WeakRuntime


@pytest.mark.parametrize("of", ["futex", "condition"])
def test_nothing_wakes_who_was_killed_asleep(of: str) -> None:
    def build(scheduling: ControlledRuntime) -> Scenario:
        words = scheduling.words(1)
        runtime = WeakRuntime(scheduling.scheduler, [(words, 0)])
        kernel = ControlledKernel(runtime, (words, 0))
        condition = scheduling.condition()
        awake: list[str] = []
        asleep: list[bool] = []

        def sleep() -> None:
            if of == "futex":
                kernel.sleep(0, 0, 60.0)
            else:
                with condition:
                    condition.wait(60.0)
            awake.append(threading.current_thread().name)

        def kill_and_wake() -> None:
            victim = next(task for task in scheduling.scheduler._tasks if task.name == "victim")
            asleep.append(victim.op.kind == "waiting")
            scheduling.kill("victim")
            if of == "futex":
                kernel.wake(0)
            elif asleep[-1]:
                with condition:
                    condition.notify_all()

        def final() -> None:
            assert not (asleep[-1] and awake), "the dead went on"
            seen.extend(asleep)

        return Scenario({"victim": sleep, "killer": kill_and_wake}, final=final)

    seen: list[bool] = []
    report = explore(Program("killed asleep", build), Exhaustive(prune=False, reduce=False))
    assert report.complete, str(report)
    assert set(seen) == {True, False}
