"""The scheduler itself: known bugs are found by every strategy, their fixed twins are exhausted, nothing is lost."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from fdcomm.testing import (
    PCT,
    TICK,
    Bound,
    ControlledRuntime,
    Exhaustive,
    NondeterminismError,
    Program,
    RandomWalk,
    Scenario,
    Schedule,
    explore,
    replay,
    shrink,
)
from tests.schedules.known import BROKEN, FIXED, barrier, unlocked_counter

BOUND = Bound(ticks=1, spurious=1)


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize(
    "make",
    [
        Exhaustive,
        lambda: Exhaustive(reduce=False),
        lambda: Exhaustive(prune=False),
        lambda: Exhaustive(prune=False, reduce=False),
    ],
    ids=["prune and reduce", "prune", "reduce", "neither"],
)
def test_a_known_bug_is_found_by_search(name: str, make: Callable[[], Exhaustive]) -> None:
    program, verdict = BROKEN[name]
    report = explore(program, make(), BOUND)
    assert report.failure is not None, str(report)
    assert report.failure.verdict == verdict, str(report)
    assert not report.complete


@pytest.mark.parametrize("name", BROKEN)
def test_a_known_bug_is_found_by_chance(name: str, seed: int) -> None:
    program, verdict = BROKEN[name]
    for strategy in (RandomWalk(seed, 3000), PCT(seed, 3000)):
        report = explore(program, strategy, BOUND)
        assert report.failure is not None, f"{type(strategy).__name__}, seed {seed}: {report}"
        assert report.failure.verdict == verdict


@pytest.mark.parametrize("name", FIXED)
def test_a_fixed_twin_is_exhausted(name: str) -> None:
    reports = [
        explore(FIXED[name], Exhaustive(prune=prune, reduce=reduce), BOUND)
        for prune, reduce in itertools.product((True, False), repeat=2)
    ]
    assert all(report.complete and report.failure is None for report in reports), list(map(str, reports))
    assert reports[0].executions < reports[-1].executions, "pruning and reduction spare nothing"


def test_the_bound_of_preemptions_is_a_bound() -> None:
    program, _ = BROKEN["unlocked counter"]
    assert explore(program, Exhaustive(), Bound(preemptions=0)).complete
    report = explore(program, Exhaustive(), Bound(preemptions=1))
    assert report.outcome is not None
    assert report.outcome.preemptions == 1


def test_time_and_spurious_wake_ups_need_to_be_allowed() -> None:
    assert explore(BROKEN["one-shot wait"][0], Exhaustive(), Bound()).complete
    assert explore(BROKEN["impatient"][0], Exhaustive(), Bound()).complete


def test_a_deadlock_is_explained() -> None:
    report = explore(BROKEN["locks in two orders"][0], Exhaustive())
    assert report.failure is not None
    assert "first waits for the lock of condition 2, held by second" in report.failure.message
    assert "second waits for the lock of condition 1, held by first" in report.failure.message
    assert "acquire lock of condition 1" in str(report)


def test_time_passes_when_nothing_else_can() -> None:
    def build(runtime: ControlledRuntime) -> Scenario:
        woke: list[float] = []
        start = runtime.monotonic()

        def sleep(seconds: float) -> None:
            runtime.sleep(seconds)
            woke.append(runtime.monotonic() - start)

        def final() -> None:
            assert woke == [0.5, 2.0, 3600.0]

        return Scenario({f"{s}": lambda s=s: sleep(s) for s in (3600.0, 0.5, 2.0)}, final=final)  # type: ignore[misc]

    report = explore(Program("sleepers", build), Exhaustive(prune=False, reduce=False))
    assert report.complete, str(report)


def test_spawned_tasks_are_joined() -> None:
    def build(runtime: ControlledRuntime) -> Scenario:
        words = runtime.words(1)

        def child() -> None:
            runtime.store(words, 0, 1)

        def parent() -> None:
            thread = runtime.spawn(child, "child")
            thread.join()
            assert not thread.is_alive()
            assert runtime.load(words, 0) == 1

        return Scenario({"parent": parent})

    assert explore(Program("spawn", build), Exhaustive()).complete


def test_a_killed_task_keeps_its_lock() -> None:
    def build(runtime: ControlledRuntime) -> Scenario:
        lock = runtime.condition()

        def use() -> None:
            with lock:
                pass

        return Scenario({"victim": use, "other": use, "killer": lambda: runtime.kill("victim")})

    report = explore(Program("kill", build), Exhaustive())
    assert report.failure is not None
    assert report.failure.message == "other waits for the lock of condition 1, held by victim (killed)"


def test_what_does_not_repeat_is_an_error() -> None:
    runs = itertools.count()

    def build(runtime: ControlledRuntime) -> Scenario:
        changing = next(runs)

        def task() -> None:
            for _ in range(1 + changing % 2):
                runtime.point("p")

        return Scenario({"a": task, "b": task})

    with pytest.raises(NondeterminismError):
        explore(Program("changing", build), Exhaustive(prune=False, reduce=False))


def test_a_foreign_thread_is_an_error() -> None:
    def build(runtime: ControlledRuntime) -> Scenario:
        caught: list[BaseException] = []

        def foreign() -> None:
            try:
                runtime.point("p")
            except NondeterminismError as error:
                caught.append(error)

        def task() -> None:
            thread = threading.Thread(target=foreign)
            thread.start()
            thread.join()
            assert not caught, str(caught[0])

        return Scenario({"task": task})

    report = explore(Program("foreign", build), Exhaustive())
    assert report.failure is not None
    assert "start it with spawn()" in report.failure.message


def test_a_real_wait_is_an_error() -> None:
    never = threading.Event()

    def build(runtime: ControlledRuntime) -> Scenario:
        def blocks() -> None:
            runtime.point("p")
            never.wait()

        return Scenario({"blocks": blocks, "other": lambda: runtime.point("q")})

    before = threading.active_count()
    try:
        with pytest.raises(NondeterminismError, match="blocks before point p at test_scheduler"):
            explore(Program("blocks", build), Exhaustive(), Bound(watchdog_s=0.5))
    finally:
        never.set()
    for thread in threading.enumerate():
        if thread.name == "fdcomm-task":
            thread.join(60)
    assert threading.active_count() <= before


def test_foreign_words_are_an_error() -> None:
    words = memoryview(bytearray(8)).cast("q")
    program = Program("words", lambda runtime: Scenario({"task": lambda: runtime.store(words, 0, 1)}))
    report = explore(program, Exhaustive())
    assert report.failure is not None
    assert "ControlledRuntime.words()" in report.failure.message


def test_an_endless_loop_is_a_livelock() -> None:
    def build(runtime: ControlledRuntime) -> Scenario:
        def spin() -> None:
            while True:
                runtime.point("again")

        return Scenario({"spin": spin})

    report = explore(Program("spin", build), Exhaustive(), Bound(max_steps=50))
    assert report.failure is not None
    assert report.failure.verdict == "livelock"


def test_a_schedule_is_replayed_kept_and_shrunk(tmp_path: Path, seed: int) -> None:
    program = Program("counter", unlocked_counter(3, 2), {"adders": 3})
    found = explore(program, RandomWalk(seed, 100)).failure
    assert found is not None
    small = shrink(program, found)
    assert (small.verdict, small.message) == (found.verdict, found.message)
    before, after = replay(program, found), replay(program, small)
    assert after.failed
    assert after.preemptions <= before.preemptions
    small.save(tmp_path / "s.json")
    assert Schedule.load(tmp_path / "s.json") == small
    assert small.constants == {"adders": 3}
    with pytest.raises(NondeterminismError):
        replay(Program("barrier", barrier(reset=False)), small)


def test_a_shrunk_schedule_needs_its_preemptions() -> None:
    program, _ = BROKEN["unlocked counter"]
    found = explore(program, RandomWalk(1, 100)).failure
    assert found is not None
    assert replay(program, shrink(program, found)).preemptions == 1


def test_limits_make_a_report_incomplete() -> None:
    assert not explore(FIXED["barrier"], Exhaustive(), executions=3).complete
    assert not explore(FIXED["barrier"], RandomWalk(1, 3)).complete


def test_time_is_a_choice_where_it_is_allowed() -> None:
    report = explore(BROKEN["impatient"][0], Exhaustive(), Bound(ticks=1))
    assert report.failure is not None
    assert TICK in report.failure.choices
