"""Programs over the shipping words and sender of layer-wise progress; and the published reader beside them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fdcomm.core.layerwise import NOTHING, is_later
from fdcomm.errors import ClosedError
from fdcomm.layer_progress import PairWords
from fdcomm.layerwise import LayerSender
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from models.dispatch_trace import accept
from tests.schedules.hosted import judge
from tests.traces.layerwise_runs import Memory

__all__ = ("PROGRAMS", "RACES", "race")

LAYERS = 2
_LIMIT_S = 5.0


# -- the words -----------------------------------------------------------------------------------------------------


class Words:
    """The words of a device whose steps are about to wrap, and what its reader was told."""

    def __init__(self, runtime: ControlledRuntime, *, plain: bool = False) -> None:
        self.runtime = runtime
        self.shared = runtime.words(3)
        for index in range(3):
            runtime.store(self.shared, index, -1)
        step, layer, both = ((self.shared, index) for index in range(3))
        self.writer = PairWords(runtime, step, layer, both)
        self.reader = PairWords(runtime, step, layer, None if plain else both)
        self.computed = NOTHING
        self.told: list[tuple[tuple[int, int], tuple[int, int]]] = []

    def write(self, reports: int, first: int = 0) -> None:
        """Compute and report so many layers."""
        for number in range(first, first + reports):
            self.computed = (2**32 - 1 + number // LAYERS) % 2**32, number % LAYERS
            self.writer.report(*self.computed)

    def read(self, reads: int) -> None:
        """Read so many times."""
        for _ in range(reads):
            self.told.append((self.reader.read(), self.computed))

    def check(self, *, exact: bool) -> None:
        """Nothing was told before it was computed; and, of the packed word, no read went back."""
        for (step, layer), (now, done) in self.told:
            if (step, layer) == NOTHING:
                continue
            ahead = is_later(step, now) or (step == now and layer > done)
            assert not ahead, f"read {(step, layer)}, and computed is {(now, done)}"
        if exact:
            order = [((step + 1) % 2**32, layer) for (step, layer), _ in self.told if (step, layer) != NOTHING]
            assert order == sorted(order), f"the reads went back: {self.told}"


def words(runtime: ControlledRuntime, *, plain: bool) -> Scenario:
    """One writer, two readers."""
    those = Words(runtime, plain=plain)
    again = Words.__new__(Words)
    again.__dict__.update(those.__dict__, told=[])

    def read_again() -> None:
        for _ in range(2):
            again.told.append((those.reader.read(), those.computed))

    def final() -> None:
        those.check(exact=not plain)
        again.check(exact=not plain)

    tasks: dict[str, Callable[[], None]] = {
        "device": lambda: those.write(3),
        "reader": lambda: those.read(2),
        "another reader": read_again,
    }
    return Scenario(tasks, final=final)


def dying(runtime: ControlledRuntime) -> Scenario:
    """The writer is killed between any two stores, and its successor goes on with the next report."""
    those = Words(runtime)

    def successor() -> None:
        runtime.kill("device")
        those.write(1, first=3)

    tasks: dict[str, Callable[[], None]] = {
        "device": lambda: those.write(2),
        "successor": successor,
        "reader": lambda: those.read(3),
    }
    return Scenario(tasks, final=lambda: those.check(exact=True))


class ShippedReader:
    """The published look: layer, then step; and once more after a sleep if it is the last layer."""

    def __init__(self, runtime: ControlledRuntime, shared: Any) -> None:
        self._runtime = runtime
        self._shared = shared

    def read(self) -> tuple[int, int]:
        """Return (step, layer)."""
        step, layer = self._look()
        if layer == LAYERS - 1:
            self._runtime.sleep(0.001)
            step, layer = self._look()
        return NOTHING if layer < 0 else (step % 2**32, layer)

    def _look(self) -> tuple[int, int]:
        layer = self._runtime.load(self._shared, 1)
        return self._runtime.load(self._shared, 0), layer


def _torn(runtime: ControlledRuntime, *, shipped: bool) -> Scenario:
    """P12.1: the device reports five layers while somebody reads once."""
    those = Words(runtime)
    reader: Any = ShippedReader(runtime, those.shared) if shipped else those.reader

    def read() -> None:
        those.told.append((reader.read(), those.computed))

    return Scenario({"device": lambda: those.write(5), "reader": read}, final=lambda: those.check(exact=False))


# -- the sender ----------------------------------------------------------------------------------------------------


class Bed:
    """The shipping sender on a controlled runtime; ``final`` has the model judge what it recorded."""

    def __init__(self, runtime: ControlledRuntime, capacity: int = 4, limit: float | None = None) -> None:
        self.memory = Memory()
        self.sent: list[tuple[Any, int, int]] = []
        self.finished: list[tuple[Any, str]] = []
        self.lost: list[int] = []
        self.sender = LayerSender(
            2,
            LAYERS,
            lambda request, first, last: self.sent.append((request, first, last)),
            lambda request, error: self.finished.append((request, "" if error is None else type(error).__name__)),
            missing=lambda slot, step, error: self.lost.append(step),
            capacity=capacity,
            info_timeout=limit,
            layer_timeout=limit,
            recorder=self.memory,
            runtime=runtime,
        )

    def send(self, count: int) -> None:
        """Run until so many tasks are finished or missing."""
        while len(self.finished) + len(self.lost) < count:
            self.sender.run_once(None)

    def scenario(self, tasks: dict[str, Callable[[], None]], final: Callable[[], None]) -> Scenario:
        """Return the scenario of these tasks."""

        def at_the_end() -> None:
            final()
            judge(accept, self.memory.events)

        return Scenario(tasks, final=at_the_end)

    def layers(self, request: str) -> list[int]:
        """Return the layers of a request in the order in which they were sent."""
        return [layer for who, first, last in self.sent if who == request for layer in range(first, last + 1)]


def sending(runtime: ControlledRuntime, capacity: int = 4) -> Scenario:
    """Two tasks in two slots: their reports and infos meet in any order."""
    bed = Bed(runtime, capacity)

    def device() -> None:
        bed.sender.on_progress(1, 6, 0)
        bed.sender.on_progress(0, 5, 1)
        bed.sender.on_progress(1, 6, 1)

    def engine() -> None:
        bed.sender.on_cache_info("a", 0, 5, None)
        bed.sender.on_cache_info("b", 1, 6, None)

    def final() -> None:
        assert bed.finished == [("a", ""), ("b", "")], f"finished {bed.finished}"
        assert [bed.layers(request) for request in ("a", "b")] == [[0, 1], [0, 1]], f"sent {bed.sent}"

    return bed.scenario({"device": device, "engine": engine, "sender": lambda: bed.send(2)}, final)


def same_slot(runtime: ControlledRuntime) -> Scenario:
    """Two passes of one slot."""
    bed = Bed(runtime)

    def device() -> None:
        bed.sender.on_progress(0, 5, 1)
        bed.sender.on_progress(0, 6, 0)
        bed.sender.on_progress(0, 6, 1)

    def engine() -> None:
        bed.sender.on_cache_info("a", 0, 5)
        bed.sender.on_cache_info("b", 0, 6)

    def final() -> None:
        assert bed.finished == [("a", ""), ("b", "")], f"finished {bed.finished}"
        assert [bed.layers(request) for request in ("a", "b")] == [[0, 1], [0, 1]], f"sent {bed.sent}"

    return bed.scenario({"device": device, "engine": engine, "sender": lambda: bed.send(2)}, final)


def missing(runtime: ControlledRuntime) -> Scenario:
    """An info is lost: its task fails alone when its time is over, whenever that is."""
    bed = Bed(runtime, limit=_LIMIT_S)

    def device() -> None:
        bed.sender.on_progress(0, 5, 1)
        bed.sender.on_progress(1, 6, 1)

    def final() -> None:
        # Of the other task the clock may have been faster than the device, or than the engine.
        wrong = {"LayerTimeoutError": [5], "CacheInfoMissingError": [5, 6], "": [5]}
        ((request, error),) = bed.finished
        assert (request, sorted(bed.lost)) == ("b", wrong[error]), f"missing {bed.lost}, finished {bed.finished}"
        assert bed.layers("b") == ([] if error else [0, 1])

    def send() -> None:
        while not bed.finished or 5 not in bed.lost:
            bed.sender.run_once(None)

    tasks: dict[str, Callable[[], None]] = {
        "device": device,
        "engine": lambda: bed.sender.on_cache_info("b", 1, 6),
        "sender": send,
    }
    return bed.scenario(tasks, final)


def ending(runtime: ControlledRuntime) -> Scenario:
    """A request is aborted at any moment: it is finished once, whole or ended."""
    bed = Bed(runtime)

    def final() -> None:
        assert bed.finished in ([("a", "")], [("a", "TaskEndedError")]), f"finished {bed.finished}"
        assert bed.finished != [("a", "")] or bed.layers("a") == [0, 1]

    def device() -> None:
        bed.sender.on_progress(0, 5, 0)
        bed.sender.on_progress(0, 5, 1)

    def abort() -> None:
        bed.sender.on_end(0, 5)

    tasks: dict[str, Callable[[], None]] = {
        "device": device,
        "engine": lambda: bed.sender.on_cache_info("a", 0, 5),
        "abort": abort,
        "sender": lambda: bed.send(1),
    }
    return bed.scenario(tasks, final)


def closing(runtime: ControlledRuntime) -> Scenario:
    """The sender is closed while an info waits for room, and while it runs: all are told."""
    bed = Bed(runtime, capacity=1)
    bed.sender.on_cache_info("a", 0, 5)
    told: list[str] = []

    def engine() -> None:
        try:
            bed.sender.on_cache_info("b", 1, 6, None)
        except ClosedError:
            told.append("engine")

    def final() -> None:
        assert told == ["engine"]

    tasks: dict[str, Callable[[], None]] = {"engine": engine, "sender": bed.sender.run, "close": bed.sender.close}
    return bed.scenario(tasks, final)


def _program(name: str, build: Callable[[ControlledRuntime], Scenario], bound: Bound) -> tuple[str, Any]:
    return name, (Program(name, build, {}), bound)


PROGRAMS: dict[str, tuple[Program, Bound]] = dict(
    (
        _program("packed word, 2 readers", partial(words, plain=False), Bound()),
        _program("plain words, 2 readers", partial(words, plain=True), Bound(preemptions=2)),
        _program("the writer dies", dying, Bound()),
        _program("2 tasks", sending, Bound(preemptions=1)),
        _program("2 tasks, room for 1", partial(sending, capacity=1), Bound(preemptions=1)),
        _program("2 passes of a slot", same_slot, Bound(preemptions=2)),
        _program("an info is lost", missing, Bound(preemptions=1, ticks=1)),
        _program("a request is aborted", ending, Bound(preemptions=1)),
        _program("the sender is closed", closing, Bound()),
    )
)

RACES = {"P12.1": (_torn, "invariant", Bound(preemptions=3, ticks=1))}
"""Race -> its program, what it comes to on the published steps, and the bound."""


def race(name: str, *, shipped: bool) -> Program:
    """Return the program of a race, over the published steps or over ours."""
    return Program(f"{name}, {'shipped' if shipped else 'ours'}", partial(RACES[name][0], shipped=shipped), {})
