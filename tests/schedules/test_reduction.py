"""Pruning and reduction lose nothing: random programs explored all four ways have the same ends."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from fdcomm.testing import Bound, ControlledRuntime, Exhaustive, Outcome, Program, Scenario, explore

_LARGEST = 400  # executions of a program that is still compared


def _random_program(seed: int) -> Callable[[set[object]], Program]:
    """Return a program of a few tasks over two locks, two words and a condition, made from a seed.

    It adds what was seen at the end of each execution to a set.
    """
    choose = random.Random(seed)
    kinds = ["load", "store", "locked add", "locked store", "notify", "wait", "sleep", "object", "point", "nested"]
    tasks = choose.randrange(2, 4)
    plans = [
        [
            (choose.choice(kinds), choose.randrange(2), choose.randrange(1, 4))
            for _ in range(choose.randrange(1, 6 - tasks))
        ]
        for _ in range(tasks)
    ]

    def make(ends: set[object]) -> Program:
        def build(runtime: ControlledRuntime) -> Scenario:
            words = runtime.words(2)
            locks = [runtime.condition(), runtime.condition()]
            shared: list[int] = []
            guarded: list[list[int]] = [[], []]
            seen: list[list[object]] = [[] for _ in plans]

            def act(number: int, kind: str, which: int, value: int) -> None:
                lock, note = locks[which], seen[number]
                if kind == "load":
                    note.append(runtime.load(words, which))
                elif kind == "store":
                    runtime.store(words, which, value)
                elif kind == "locked add":
                    with lock:
                        runtime.store(words, which, runtime.load(words, which) + value)
                        guarded[which].append(number)
                elif kind == "locked store":
                    with lock:
                        note.append(tuple(guarded[which]))
                        runtime.store(words, which, value)
                elif kind == "notify":
                    with lock:
                        guarded[which].append(-1)
                        lock.notify_all()
                elif kind == "wait":
                    with lock:
                        note.append(lock.wait(None if value == 1 else float(value)))
                        note.append(tuple(guarded[which]))
                elif kind == "sleep":
                    runtime.sleep(float(value))
                    note.append(runtime.monotonic())
                elif kind == "object":
                    runtime.access("object", change=value > 1)
                    if value > 1:
                        shared.append(number)
                    else:
                        note.append(tuple(shared))
                elif kind == "point":
                    runtime.point("here")
                    note.append(runtime.monotonic())
                else:
                    with locks[which], locks[1 - which]:
                        guarded[0].append(number)
                        guarded[1].append(number)

            def run(number: int) -> None:
                for kind, which, value in plans[number]:
                    act(number, kind, which, value)

            def final() -> None:
                ends.add((bytes(words), str(seen), str(shared), str(guarded)))

            return Scenario({f"t{n}": lambda n=n: run(n) for n in range(len(plans))}, final=final)  # type: ignore[misc]

        return Program(f"random {seed}", build)

    return make


class _Collect(Exhaustive):
    """Goes on after a failure, and keeps its message."""

    def __init__(self, ends: set[object], *, prune: bool, reduce: bool) -> None:
        super().__init__(prune=prune, reduce=reduce)
        self.ends = ends

    def end(self, outcome: Outcome) -> None:
        super().end(outcome)
        if outcome.failed:
            self.ends.add(outcome.message)


def _ends(make: Callable[[set[object]], Program], bound: Bound, *, prune: bool, reduce: bool) -> set[object] | None:
    ends: set[object] = set()
    strategy = _Collect(ends, prune=prune, reduce=reduce)
    program = make(ends)
    left = _LARGEST
    while left > 0:
        report = explore(program, strategy, bound, executions=left)
        left -= report.executions
        if strategy.complete:
            return ends
    return None


@pytest.mark.parametrize("part", range(3))
def test_pruning_and_reduction_lose_no_end(part: int, seed: int) -> None:
    compared = 0
    for number in range(12):
        make = _random_program(seed + 1000 * part + number)
        for bound in (Bound(), Bound(ticks=1, spurious=1), Bound(preemptions=1)):
            full = _ends(make, bound, prune=False, reduce=False)
            if full is None:
                continue  # too large to be the reference
            compared += 1
            for prune, reduce in ((True, False), (False, True), (True, True)):
                ends = _ends(make, bound, prune=prune, reduce=reduce)
                label = f"seed {seed + 1000 * part + number}, {bound}, prune={prune}, reduce={reduce}"
                assert ends is not None, label
                if bound.spurious and any("waits for" in str(end) for end in full):
                    # A deadlock is the end, whether or not a spurious wake-up could have come before it.
                    assert any("waits for" in str(end) for end in ends), label
                else:
                    assert ends == full, label
    assert compared >= 8
