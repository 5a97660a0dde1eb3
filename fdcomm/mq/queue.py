"""A queue: many producers, one consumer."""

from __future__ import annotations

from types import TracebackType

from fdcomm.deadline import DEFAULT, Timeout
from fdcomm.errors import ConfigError, WrongRoleError
from fdcomm.mq.config import Config, Delivery, Role, role_of
from fdcomm.mq.consumer import Consumer
from fdcomm.mq.ending import hold, let_go
from fdcomm.mq.frames import PICKLED, Message, coded
from fdcomm.mq.inbox import ZmqInbox
from fdcomm.mq.link import ZmqLine
from fdcomm.mq.payloads import Payloads, pieces_of
from fdcomm.mq.producer import Producer, Trace
from fdcomm.mq.statistics import ConsumerStatistics, ProducerStatistics
from fdcomm.zsocket.context import keep

__all__ = ("Queue",)


class Queue:
    """One end of a queue.

    A message is delivered at least once: a producer keeps it until the consumer is done with it, and sends it again
    when the connection breaks or another consumer comes. One consumer is given it once. With ``delivery="forget"``
    nothing is kept, and ``statistics().dropped`` counts what a broken connection may have lost.

    A producer's handle may be used by several threads, a consumer's by one. Closed by ``close()``, a ``with`` block,
    :meth:`fdcomm.mq.FMQ.destroy`, or the end of the process, each within the linger.

    Attributes:
        name: Its name.
        role: Producer or consumer.
    """

    def __init__(
        self,
        name: str,
        role: str | Role = "producer",
        config: Config | None = None,
        *,
        delivery: Delivery = "acknowledged",
        trace: Trace | None = None,
    ) -> None:
        """Open an end. A producer does not wait for a consumer.

        Raises:
            AddressInUseError: The role is consumer, and the queue has a live one.
            ConfigError: Unknown role or delivery.
            UnsafeConfigError: Strangers could connect.
        """
        self.name = name
        self.role = role_of(role)
        if delivery not in ("acknowledged", "forget"):
            raise ConfigError(f"delivery={delivery!r} is neither 'acknowledged' nor 'forget'")
        config = config or Config()
        endpoint = config.endpoint(name)
        self._threshold = config.shm_threshold
        self._local = endpoint.protocol == "ipc"
        self._pickles = config.allow_pickle
        self._producer: Producer | None = None
        self._consumer: Consumer | None = None
        what = f"queue {name!r}"
        payloads = Payloads(endpoint.address) if self._local else None
        if self.role is Role.CONSUMER:
            self._consumer = Consumer(
                ZmqInbox(endpoint, config),
                what,
                ack_every=config.ack_every,
                payloads=payloads,
                pickles=self._pickles,
                trace=trace,
            )
            keep(self._consumer)
            hold(self._consumer)
        else:
            self._producer = Producer(
                ZmqLine(endpoint, config),
                what,
                window=config.window,
                keeps=delivery == "acknowledged",
                payloads=payloads,
                shm_window=config.shm_window,
                linger_s=config.socket_config.linger / 1000,
                trace=trace,
            )
            keep(self._producer)

    # -- a producer's ------------------------------------------------------------------------------------------------

    def put(self, data: object, shm_threshold: int | None = None, *, timeout: Timeout = DEFAULT) -> int:
        """Put a message. Return its number, from 1.

        On this machine it may be any object that can be pickled, and what is large goes through shared memory;
        elsewhere it is MessagePack, unless ``Config.allow_pickle``.

        Args:
            data: The message.
            shm_threshold: Bytes from which it goes through shared memory; None is the configuration's.
            timeout: Seconds to wait for room, while ``Config.window`` messages, or ``Config.shm_window`` bytes of large
                ones, are not acknowledged.

        Raises:
            CommTimeoutError: There was no room. Nothing was put.
            PayloadError: It cannot be written. Nothing was put.
            SignalSpaceError: Shared memory is full. Nothing was put.
            WrongRoleError: This is a consumer.
        """
        producer = self._as_producer("put")
        threshold = self._threshold if shm_threshold is None else shm_threshold
        if not self._local or _is_small(data, threshold):
            return producer.put(*coded(data, self._local, self._pickles), timeout)
        made = pieces_of(data, threshold)
        return producer.put(PICKLED if isinstance(made, bytes) else made.kind, made, timeout)

    def flush(self, timeout: Timeout = DEFAULT) -> None:
        """Wait until the consumer is done with everything that was put.

        Raises:
            CommTimeoutError: It is not, after so long.
        """
        self._as_producer("flush").flush(timeout)

    # -- a consumer's ------------------------------------------------------------------------------------------------

    def get(self, timeout: Timeout = DEFAULT) -> Message:
        """Return the next message. What ``get`` returned before is done, and is not delivered again.

        Raises:
            CommTimeoutError: None came within ``timeout`` seconds.
            UndecodableError: A message could not be decoded. It alone is lost.
            WrongRoleError: This is a producer.
            WrongThreadError: Another thread uses this consumer.
        """
        return self._as_consumer("get").get(timeout)

    def look(self) -> Message | None:
        """Return the next message, or None if there is none now. As :meth:`get` otherwise."""
        return self._as_consumer("look").look()

    def done(self) -> None:
        """What ``get`` returned is done: tell its producer now, and not with the next ``get``."""
        self._as_consumer("done").done()

    def rebind(self) -> None:
        """Let another thread use this consumer from now on."""
        self._as_consumer("rebind").rebind()

    # -- both --------------------------------------------------------------------------------------------------------

    def statistics(self) -> ProducerStatistics | ConsumerStatistics:
        """Return a snapshot of what was put, acknowledged and dropped, or received."""
        return self._consumer.statistics() if self._consumer is not None else self._as_producer("").statistics()

    @property
    def closed(self) -> bool:
        """True once it was closed, or came here by fork."""
        end = self._consumer or self._producer
        return end is None or end.closed

    def close(self, linger: float | None = None, *, done: bool = True) -> int:
        """Close. Idempotent.

        Args:
            linger: A producer waits so many seconds for acknowledgements; None is the configuration's.
            done: What a consumer's ``get`` has returned is done; else the next consumer gets it again.

        Returns:
            How many messages of this producer are not acknowledged.
        """
        if self._consumer is not None:
            self._consumer.close(done=done)
            let_go(self._consumer)
            return 0
        return self._as_producer("").end(linger)

    def __enter__(self) -> Queue:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(done=kind is None)

    def _as_producer(self, operation: str) -> Producer:
        if self._producer is None:
            raise WrongRoleError(f"{operation}: queue {self.name!r}: this is the consumer", operation=operation)
        return self._producer

    def _as_consumer(self, operation: str) -> Consumer:
        if self._consumer is None:
            raise WrongRoleError(f"{operation}: queue {self.name!r}: this is a producer", operation=operation)
        return self._consumer


def _is_small(data: object, threshold: int) -> bool:
    """Return True for what has no buffers and is not that large."""
    return isinstance(data, (bytes, str)) and len(data) < threshold
