"""The published control requests beside ours, for the same scenarios."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fdcomm.control import ControlClient, ControlServer
from fdcomm.errors import CommTimeoutError, StaleAnswerError
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from tests.schedules.control_testbed import ControlBed

__all__ = ("BOUND", "RACES", "ShippedControl", "race")

BOUND = Bound(ticks=1)


class ShippedControl:
    """One request after the other to all ranks; each answers into a pipe of its own."""

    def __init__(self, runtime: ControlledRuntime, ranks: int) -> None:
        self._runtime = runtime
        self._changed = runtime.condition()
        self._inbox: list[list[int]] = [[] for _ in range(ranks)]
        self._pipe: list[list[int]] = [[] for _ in range(ranks)]
        self._asked = 0

    def close(self) -> None:
        """Nothing is open."""

    def ask(self, timeout: float | None) -> list[int] | None:
        """Return the ranks whose answer to this request was read; None when one did not answer in time."""
        with self._changed:
            self._asked += 1
            for inbox in self._inbox:
                inbox.append(self._asked)
            self._changed.notify_all()
            end = None if timeout is None else self._runtime.monotonic() + timeout
            got: list[int] = []
            late = False
            for rank, pipe in enumerate(self._pipe):
                while not pipe and (end is None or self._runtime.monotonic() < end):
                    self._changed.wait(None if end is None else end - self._runtime.monotonic())
                if not pipe:
                    late = True
                elif pipe.pop(0) == self._asked:
                    got.append(rank)
            return None if late else got

    def serve(self, rank: int) -> None:
        """Do one request."""
        with self._changed:
            while not self._inbox[rank]:
                self._changed.wait()
            number = self._inbox[rank].pop(0)
            self._pipe[rank].append(number)
            self._changed.notify_all()


class OurControl:
    """The shipping classes."""

    def __init__(self, runtime: ControlledRuntime, ranks: int) -> None:
        bed = ControlBed(runtime, ranks)
        self.close = bed.close
        self._engine = ControlClient(bed.handle(-1))
        self._servers = [ControlServer(bed.handle(rank)) for rank in range(ranks)]

    def ask(self, timeout: float | None) -> list[int] | None:
        """Ask; return the ranks that did it."""
        try:
            return [answer.rank for answer in self._engine.ask("what", timeout=timeout).answers if answer.ok]
        except CommTimeoutError:
            return None

    def serve(self, rank: int) -> None:
        """Do one request that has not ended."""
        while (request := self._servers[rank].take(timeout=None)) is not None:
            try:
                request.answer()
            except StaleAnswerError:
                continue
            return


def _late(control: Any) -> Scenario:
    """P14.1: the engine gives up one request; the next one is a success only with an answer to it."""
    told: list[list[int] | None] = []

    def engine() -> None:
        told.append(control.ask(1.0))
        told.append(control.ask(None))
        assert told[1] == [0], f"the second request is a success with the answers of {told[1]}"
        if told[0] is None and isinstance(control, OurControl):
            control.ask(None)  # its rank serves two requests, and has passed over the first

    def rank() -> None:
        control.serve(0)
        control.serve(0)

    return Scenario({"engine": engine, "rank 0": rank}, close=control.close)


_Build = Callable[[Any], Scenario]
RACES: dict[str, tuple[int, _Build]] = {"P14.1": (1, _late)}


def race(name: str, *, shipped: bool) -> Program:
    """Return the scenario of a race on the shipped steps or on ours."""
    ranks, scenario = RACES[name]

    def build(runtime: ControlledRuntime) -> Scenario:
        return scenario((ShippedControl if shipped else OurControl)(runtime, ranks))

    return Program(f"{name} on {'the shipped steps' if shipped else 'ours'}", build, {"race": name})
