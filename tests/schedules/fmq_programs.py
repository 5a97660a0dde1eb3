"""Programs over the shipping producer and consumer of a queue: threads that put, connections that break, and ends."""

from __future__ import annotations

from collections.abc import Callable

from fdcomm.errors import ClosedError, CommTimeoutError, FdcommError
from fdcomm.mq.consumer import Consumer
from fdcomm.mq.frames import coded
from fdcomm.mq.producer import Producer
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from models.dispatch_trace import accept
from tests.traces.fmq_bed import Inbox, Network
from tests.traces.fmq_runs import Record

__all__ = ("PROGRAMS", "SLOW")


class _Bed:
    """Handles on a controlled runtime over a network in memory; at the end the model judges what they recorded."""

    def __init__(self, runtime: ControlledRuntime, window: int = 2) -> None:
        self.runtime = runtime
        self.network = Network(runtime)
        self.record = Record(1, window, 0)
        self.producer = Producer(
            self.network,
            "queue",
            window=window,
            linger_s=0.0,
            runtime=runtime,
            trace=self.record.trace,
            identity=b"producer",
        )
        self.got: list[int] = []
        self.told: list[str] = []

    def consumer(self) -> Consumer:
        """Return a consumer."""
        return Consumer(
            Inbox(self.network), "queue", ack_every=1, pickles=True, runtime=self.runtime, trace=self.record.trace
        )

    def put(self, *numbers: int, timeout: float | None = None) -> None:
        """Put these."""
        for number in numbers:
            try:
                self.producer.put(*coded(number, True, False), timeout)
            except FdcommError as error:
                self.told.append(type(error).__name__)

    def take(self, count: int) -> None:
        """A consumer takes so many, and ends."""
        consumer = self.consumer()
        while len(self.got) < count:
            self.got.append(consumer.get(None).payload)
        consumer.close()

    def scenario(self, tasks: dict[str, Callable[[], None]], wanted: list[int], told: set[str]) -> Scenario:
        """Return the scenario: at its end these were given, and nothing else was told."""

        def final() -> None:
            assert sorted(set(self.got)) == wanted, f"given were {self.got}"
            assert set(self.told) <= told, self.told
            verdict = accept(self.record.lines())[0]
            assert verdict.accepted, str(verdict)

        return Scenario(tasks, final=final)


def _one_by_one(runtime: ControlledRuntime) -> Scenario:
    bed = _Bed(runtime, window=1)

    def puts() -> None:
        bed.put(1, 2)
        bed.producer.flush(None)
        bed.producer.end(0.0)

    return bed.scenario({"puts": puts, "takes": lambda: bed.take(2)}, [1, 2], set())


def _two_threads(runtime: ControlledRuntime) -> Scenario:
    bed = _Bed(runtime, window=1)
    left = runtime.condition()
    ended: list[int] = []

    def puts(number: int) -> None:
        bed.put(number)
        with left:
            ended.append(number)
            last = len(ended) == 2
        if last:
            bed.producer.flush(None)
            bed.producer.end(0.0)

    tasks = {"one": lambda: puts(1), "two": lambda: puts(2), "takes": lambda: bed.take(2)}
    return bed.scenario(tasks, [1, 2], set())


def _breaks(runtime: ControlledRuntime) -> Scenario:
    bed = _Bed(runtime)

    def puts() -> None:
        bed.put(1)
        bed.producer.flush(None)
        bed.producer.end(0.0)

    return bed.scenario({"puts": puts, "takes": lambda: bed.take(1), "cut": lambda: bed.network.cut(0)}, [1], set())


def _ends(runtime: ControlledRuntime) -> Scenario:
    bed = _Bed(runtime, window=1)

    def puts() -> None:
        bed.put(1, 2)

    return bed.scenario({"puts": puts, "ends": lambda: bed.producer.close()}, [], {"ClosedError"})


def _waits(runtime: ControlledRuntime) -> Scenario:
    bed = _Bed(runtime)
    consumer = bed.consumer()

    def takes() -> None:
        try:
            consumer.get(None)
        except ClosedError as error:
            bed.told.append(type(error).__name__)

    def ends() -> None:
        consumer.close()
        bed.producer.end(0.0)

    return bed.scenario({"takes": takes, "ends": ends}, [], {"ClosedError"})


def _full(runtime: ControlledRuntime) -> Scenario:
    bed = _Bed(runtime, window=1)

    def puts() -> None:
        bed.put(1, 2, timeout=0.05)
        bed.producer.end(0.0)

    return bed.scenario({"puts": puts}, [], {CommTimeoutError.__name__})


PROGRAMS: dict[str, tuple[Program, Bound]] = {
    "one by one": (Program("one by one", _one_by_one), Bound(preemptions=1)),
    "two threads put": (Program("two threads put", _two_threads), Bound(preemptions=0)),
    "a connection breaks": (Program("a connection breaks", _breaks), Bound(preemptions=0)),
    "an end while a put waits": (Program("an end while a put waits", _ends), Bound(preemptions=1)),
    "an end while a get waits": (Program("an end while a get waits", _waits), Bound(preemptions=1)),
    "no room": (Program("no room", _full), Bound(preemptions=2)),
}
SLOW = {"two threads put", "one by one"}
