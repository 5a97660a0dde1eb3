"""Real handles of a queue over a network in memory, in one process: it breaks connections, and records what they do."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import deque
from collections.abc import Sequence
from typing import Any

from fdcomm.mq.consumer import Consumer
from fdcomm.mq.frames import coded
from fdcomm.mq.payloads import Payloads, pieces_of
from fdcomm.mq.producer import Producer
from fdcomm.runtime import SYSTEM, Runtime
from fdcomm.zsocket.codec import Buffer
from tests.traces.fmq_runs import Record

__all__ = ("Bed", "Inbox", "Network")


class _Link:
    """A connection of the network's: what its producer has sent and the consumer has not read, and back."""

    def __init__(self, network: Network, peer: bytes) -> None:
        self.peer = peer
        self.to: deque[tuple[Buffer, ...]] = deque()
        self.back: deque[int] = deque()
        self.up = True
        self._network = network

    def state(self) -> Any:
        """Up until it breaks."""
        with self._network.lock:
            return "up" if self.up else "down"

    def send(self, parts: Sequence[Buffer]) -> None:
        """Send, if it is not broken."""
        with self._network.lock:
            if self.up:
                self.to.append(tuple(parts))
                self._network.rings(1)

    def hear(self) -> int:
        """Hear."""
        with self._network.lock:
            return self.back.popleft() if self.back else 0

    def close(self, linger_s: float) -> None:
        """What was sent still arrives."""
        with self._network.lock:
            self.up = False


class Network:
    """Stands in for the sockets of one producer and of its consumers, one after the other. Waits end at a ring."""

    def __init__(self, runtime: Runtime = SYSTEM) -> None:
        self.lock = runtime.condition()
        self._rung = [False, False]
        self.serves = False
        self.links: list[_Link] = []

    # -- the producer's line -----------------------------------------------------------------------------------------

    def open(self, peer: bytes) -> _Link | None:
        """Connect, if a consumer is there."""
        with self.lock:
            if not self.serves:
                return None
            self.links.append(_Link(self, peer))
            return self.links[-1]

    def wait(self, link: Any, seconds: float | None) -> None:
        """Wait for a ring, and without a connection no longer than that."""
        self.waits(0, seconds)

    def ring(self) -> None:
        """Ring."""
        with self.lock:
            self.rings(0)

    def close(self) -> None:
        """Nothing is open."""

    # -- the consumer's inbox ----------------------------------------------------------------------------------------

    def start(self) -> None:
        """Serve."""
        with self.lock:
            self.serves = True
            self.rings(0)

    def receive(self) -> tuple[bytes, Buffer, Buffer | None] | None:
        """Return a message of any connection."""
        with self.lock:
            for link in self.links:
                if link.to:
                    frame, *body = link.to.popleft()
                    return link.peer, frame, body[0] if body else None
            return None

    def send(self, peer: bytes, data: bytes) -> bool:
        """Send to a connection, if it is not broken."""
        with self.lock:
            for link in self.links:
                if link.peer == peer and link.up:
                    number = int.from_bytes(data, "little")
                    if number:
                        link.back.append(number)
                    self.rings(0)
                    return True
            return False

    def stop(self) -> None:
        """All connections break, and what was not read is gone."""
        with self.lock:
            self.serves = False
            for link in self.links:
                link.up = False
            self.links = []
            self.rings(0)

    def release(self) -> None:
        """Nothing is held."""

    # -- what happens ------------------------------------------------------------------------------------------------

    @property
    def linked(self) -> bool:
        """True while a connection holds."""
        return any(link.up for link in self.links)

    def cut(self, keep: int) -> None:
        """Break the connection; of what was not read the first messages still arrive."""
        with self.lock:
            for link in self.links:
                if link.up:
                    link.up = False
                    while len(link.to) > keep:
                        link.to.pop()
            self.rings(0)

    def waits(self, who: int, seconds: float | None) -> None:
        """Wait: the producer (0) or the consumer (1)."""
        with self.lock:
            if not self._rung[who]:
                self.lock.wait(seconds)
            self._rung[who] = False

    def rings(self, who: int) -> None:
        """Ring, under the lock."""
        self._rung[who] = True
        self.lock.notify_all()


class Inbox:
    """The consumer's side of a network: its waits are its own."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self.start, self.receive, self.send = network.start, network.receive, network.send
        self.stop, self.release = network.stop, network.release

    def wait(self, seconds: float | None) -> None:
        """Wait for a ring."""
        self._network.waits(1, seconds)

    def ring(self) -> None:
        """Ring."""
        with self._network.lock:
            self._network.rings(1)


class _Threadless:
    """The runtime of the machine's handles: its keeper is a step of the test."""

    def __getattr__(self, name: str) -> Any:
        return getattr(SYSTEM, name)

    def spawn(self, target: Any, name: str) -> Any:
        """Nobody runs it."""
        return self

    def join(self, timeout: float | None = None) -> None:
        """Nobody ran."""

    def monotonic(self) -> float:
        """A clock that goes a minute each time: every retry is due."""
        self.now = getattr(self, "now", 0.0) + 60.0
        return self.now


class Bed:
    """One producer, whose keeper is moved by :meth:`look`, and consumers, one after the other.

    Args:
        large: Messages whose number it divides go through shared memory; 0: none.
        window: As the producer's.
        keeps: As the producer's.
    """

    def __init__(self, large: int = 3, window: int = 4, keeps: bool = True) -> None:
        self.folder = tempfile.mkdtemp(prefix="fdcomm-mq-", dir="/tmp")
        self.runtime: Any = _Threadless()
        self.network = Network()
        self.large = large
        self.record = Record(1, window, large, keeps)
        self.payloads = Payloads(self.folder + "/queue", self.folder)
        self.producer = Producer(
            self.network,
            "queue",
            window=window,
            keeps=keeps,
            payloads=self.payloads,
            runtime=self.runtime,
            trace=self.record.trace,
            identity=b"producer",
        )
        self.consumer: Consumer | None = None
        self.sent = 0

    def put(self, data: object, large: bool = False) -> None:
        """Put. Raises CommTimeoutError."""
        big = self.large and (self.sent + 1) % self.large == 0
        made = pieces_of(data, 1) if big else None
        if made is None or isinstance(made, bytes):
            self.producer.put(*coded(data, True, False), 0.0)
        else:
            self.producer.put(made.kind, made, 0.0)
        self.sent += 1

    def look(self) -> None:
        """The keeper looks, twice: at a new connection after it was opened."""
        for _ in range(2):
            with self.producer._lock:
                self.producer._look()

    def start(self) -> None:
        """A consumer starts."""
        self.consumer = Consumer(
            Inbox(self.network),
            "queue",
            ack_every=2,
            payloads=self.payloads,
            runtime=self.runtime,
            trace=self.record.trace,
        )

    def kill(self, unheard: bool = False) -> None:
        """The consumer is gone without a word. ``unheard``: what it has acknowledged and was not heard is lost."""
        for link in self.network.links if unheard else ():
            link.back.clear()
        self.network.stop()
        self.record.trace("EndConsumer", {})
        self.consumer = None

    def get(self) -> Any:
        """Return the payload of the next message; None: there is none now."""
        message = None if self.consumer is None else self.consumer.look()
        return None if message is None else message.payload

    def done(self) -> None:
        """What was given is done."""
        if self.consumer is not None:
            self.consumer.done()

    def unsettled(self) -> bool:
        """Return True while the producer waits for acknowledgements."""
        return self.producer.statistics().unacknowledged > 0

    def end(self) -> None:
        """The consumer ends, then the producer."""
        if self.consumer is not None:
            self.consumer.close()
            self.consumer = None
        self.producer.end(0.0)

    def left(self) -> list[str]:
        """Return the files that are there."""
        return os.listdir(self.folder)

    def lines(self) -> list[str]:
        """Return the record."""
        return self.record.lines()

    def close(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.folder, ignore_errors=True)
