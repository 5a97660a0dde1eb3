"""The counter of B28, shipped and ours, and programs that stop threads before each instruction of its code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from fdcomm.core.pause import Order
from fdcomm.core.rank_gate import RankGate
from fdcomm.runtime import Condition
from fdcomm.testing import Bound, ControlledRuntime, Exhaustive, Program, RandomWalk, Report, Scenario, explore

__all__ = ("OurCounter", "ShippedCounter", "explored", "program")


def _by_instruction(runtime: ControlledRuntime, task: Callable[[], None], codes: set[CodeType]) -> Callable[[], None]:
    """Run a task so that the scheduler may switch before each instruction of these functions."""

    def local(frame: FrameType, event: str, arg: Any) -> Any:
        if event == "opcode":
            runtime.point(f"{frame.f_code.co_name}.{frame.f_lasti}")
        return local

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        if frame.f_code not in codes:
            return None
        frame.f_trace_opcodes = True
        return local

    def run() -> None:
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            task()
        finally:
            sys.settrace(before)

    return run


class ShippedCounter:
    """The counter of a transfer process: the loop adds, and the pool's threads subtract."""

    def __init__(self, runtime: ControlledRuntime) -> None:
        del runtime
        self.inflight = 1  # a task runs

    def begin(self) -> None:
        """The loop submits."""
        self.inflight += 1

    def end(self) -> None:
        """A task has ended."""
        self.inflight -= 1


class OurCounter:
    """The gate of a rank, under the lock that its jobs pass it with."""

    def __init__(self, runtime: ControlledRuntime) -> None:
        self._lock: Condition = runtime.condition()
        self._gate = RankGate(Order(0, "run", "drain"))
        self._gate.admit()

    @property
    def inflight(self) -> int:
        """Jobs that run."""
        return self._gate.running

    def begin(self) -> None:
        """Admit."""
        with self._lock:
            self._gate.admit()

    def end(self) -> None:
        """Done."""
        with self._lock:
            self._gate.done()


def program(kind: type[ShippedCounter] | type[OurCounter]) -> Program:
    """Return the program of one counter: one thread begins a task while another ends one."""
    codes = {kind.begin.__code__, kind.end.__code__}
    codes |= {RankGate.admit.__code__, RankGate.done.__code__} if kind is OurCounter else set()

    def build(runtime: ControlledRuntime) -> Scenario:
        counter = kind(runtime)

        def final() -> None:
            found = counter.inflight
            assert found == 1, f"1 task runs, and the counter is {found}"

        tasks = {"loop": counter.begin, "pool": counter.end}
        return Scenario({name: _by_instruction(runtime, task, codes) for name, task in tasks.items()}, final=final)

    made = Program(kind.__name__, build, {})
    explore(made, RandomWalk(1, 3), Bound())  # an interpreter reports no instructions of a function's first run
    return made


def explored(kind: type[ShippedCounter] | type[OurCounter]) -> Report:
    """Run every schedule of it with two preemptions."""
    return explore(program(kind), Exhaustive(prune=False, reduce=False), Bound(preemptions=2))
