"""The published queue's steps beside our producer and consumer, for the same scenarios. Nothing is corrected there."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable
from typing import Any

from fdcomm.mq.consumer import Consumer
from fdcomm.mq.frames import coded
from fdcomm.mq.payloads import Payloads, Pieces, pieces_of
from fdcomm.mq.producer import Producer
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from tests.traces.fmq_bed import Inbox, Network

__all__ = ("RACES", "race")

_PAYLOAD = b"a large payload"


class _Shipped:
    """A pipe that forgets what it has sent, and segments that go with the process that made them.

    Args:
        step: Called before each access to what both processes use.
    """

    def __init__(self, step: Callable[[], None]) -> None:
        self.step = step
        self.pipe: list[Any] = []
        self.segments: dict[int, bytes] = {}

    def put(self, message: Any) -> None:
        """Send, and forget."""
        self.step()
        self.pipe.append(message)

    def put_large(self, number: int, payload: bytes) -> None:
        """Make the segment, then send where it is."""
        self.step()
        self.segments[number] = payload
        self.put(number)

    def producer_exits(self) -> None:
        """Its resource tracker removes what it has made."""
        self.step()
        self.segments.clear()

    def get(self) -> Any:
        """Return what came next, or None."""
        self.step()
        return self.pipe.pop(0) if self.pipe else None

    def read(self, number: int) -> bytes:
        """Return the payload. One that is not there counts as empty."""
        self.step()
        return self.segments.pop(number, b"")


class _Ours:
    """The producer and consumers that ship, over a network in memory; files are real."""

    def __init__(self, runtime: ControlledRuntime) -> None:
        self.runtime = runtime
        self.network = Network(runtime)
        folder = tempfile.mkdtemp(prefix="fdcomm-mq-", dir="/tmp")
        self._end = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.payloads = Payloads(os.path.join(folder, "queue"), folder)
        self.producer = Producer(
            self.network,
            "queue",
            window=2,
            linger_s=0.0,
            payloads=self.payloads,
            runtime=runtime,
            identity=b"producer",
        )

    def consumer(self) -> Consumer:
        """Open a consumer."""
        return Consumer(Inbox(self.network), "queue", ack_every=1, payloads=self.payloads, runtime=self.runtime)

    def put(self, number: int) -> None:
        """Put a small message."""
        self.producer.put(*coded(number, True, False), None)

    def put_large(self, payload: bytes) -> None:
        """Put a large one."""
        made = pieces_of(payload, 1)
        if isinstance(made, Pieces):
            self.producer.put(made.kind, made, None)

    def left(self) -> list[str]:
        """Return the files that are there after the next consumer has looked, and remove them."""
        for _ in self.payloads.sweep():
            pass
        found = os.listdir(self.payloads.directory)
        self._end()
        return found


def _forgotten(runtime: ControlledRuntime, *, shipped: bool) -> Scenario:
    """The consumer ends with a message that it has taken and not handled; another one comes."""
    handled: list[int] = []
    if shipped:
        queue = _Shipped(lambda: runtime.access("queue", change=True))

        def first() -> None:
            queue.get()  # it ends before it has handled it

        def second() -> None:
            while (message := queue.get()) is not None:
                handled.append(message)

        def consumers() -> None:
            first()
            second()

        tasks: dict[str, Callable[[], None]] = {"puts": lambda: queue.put(1), "consumers": consumers}
        state = queue.pipe
    else:
        bed = _Ours(runtime)
        state = []

        def puts() -> None:
            bed.put(1)
            bed.producer.flush(None)
            bed.producer.end(0.0)

        def ours() -> None:
            consumer = bed.consumer()
            consumer.get(None)
            consumer.close(done=False)
            another = bed.consumer()
            handled.append(another.get(None).payload)
            another.close()

        tasks = {"puts": puts, "consumers": ours}

    def final() -> None:
        if not shipped:
            bed.left()
        assert [*handled, *state] == [1], f"handled are {handled}, and {state} is still to be read"

    return Scenario(tasks, final=final)


def _lost(runtime: ControlledRuntime, *, shipped: bool) -> Scenario:
    """The producer ends after it has sent, before or after the consumer reads."""
    got: list[bytes] = []
    if shipped:
        queue = _Shipped(lambda: runtime.access("queue", change=True))

        def produces() -> None:
            queue.put_large(1, _PAYLOAD)
            queue.producer_exits()

        def consumes() -> None:
            if (number := queue.get()) is not None:
                got.append(queue.read(number))

        tasks: dict[str, Callable[[], None]] = {"produces": produces, "consumes": consumes}
    else:
        bed = _Ours(runtime)
        consumer = bed.consumer()

        def ours() -> None:
            bed.put_large(_PAYLOAD)
            bed.producer.end(0.0)

        def reads() -> None:
            message = consumer.look()
            if message is not None:
                got.append(message.payload)
            consumer.close()

        tasks = {"produces": ours, "consumes": reads}

    def final() -> None:
        left = [] if shipped else bed.left()
        assert set(got) <= {_PAYLOAD}, f"the consumer was given {got}"
        assert shipped or left == [], f"left behind: {left}"

    return Scenario(tasks, final=final)


RACES: dict[str, tuple[Callable[..., Scenario], str, Bound]] = {
    "sent-is-forgotten": (_forgotten, "invariant", Bound(preemptions=0)),
    "payload-lost": (_lost, "invariant", Bound(preemptions=1)),
}
"""Race -> its program, what it comes to on the published steps, and the bound."""


def race(name: str, *, shipped: bool) -> Program:
    """Return the program of a race, over the published steps or over ours."""
    build = RACES[name][0]
    return Program(f"{name}, {'shipped' if shipped else 'ours'}", lambda runtime: build(runtime, shipped=shipped), {})
