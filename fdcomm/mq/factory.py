"""The four queues between API server, engine and workers, under FastDeploy's names."""

from __future__ import annotations

from fdcomm.mq.fmq import FMQ
from fdcomm.mq.queue import Queue

__all__ = ("FMQFactory",)


class FMQFactory:
    """Opens an end of ``q_a2e``, ``q_e2w``, ``q_w2e`` or ``q_e2a`` (a: API server, e: engine, w: worker).

    Called on the class it uses one FMQ of this process, which :meth:`destroy` ends.
    """

    _fmq: FMQ | None = None

    @classmethod
    def _opened(cls, name: str, role: str) -> Queue:
        if FMQFactory._fmq is None:
            FMQFactory._fmq = FMQ()
        return FMQFactory._fmq.queue(name, role)

    @classmethod
    def q_a2e_producer(cls) -> Queue:
        """The API server's end of the queue to the engine."""
        return cls._opened("q_a2e", "producer")

    @classmethod
    def q_a2e_consumer(cls) -> Queue:
        """The engine's end of the queue from the API server."""
        return cls._opened("q_a2e", "consumer")

    @classmethod
    def q_e2w_producer(cls) -> Queue:
        """The engine's end of the queue to the workers."""
        return cls._opened("q_e2w", "producer")

    @classmethod
    def q_e2w_consumer(cls) -> Queue:
        """A worker's end of the queue from the engine."""
        return cls._opened("q_e2w", "consumer")

    @classmethod
    def q_w2e_producer(cls, name: str | None = None) -> Queue:
        """A worker's end of the queue to the engine. With a name: of the queue ``q_w2e_<name>``."""
        return cls._opened("q_w2e" if name is None else f"q_w2e_{name}", "producer")

    @classmethod
    def q_w2e_consumer(cls, name: str | None = None) -> Queue:
        """The engine's end of the queue from the workers. With a name: of the queue ``q_w2e_<name>``."""
        return cls._opened("q_w2e" if name is None else f"q_w2e_{name}", "consumer")

    @classmethod
    def q_e2a_producer(cls) -> Queue:
        """The engine's end of the queue to the API server."""
        return cls._opened("q_e2a", "producer")

    @classmethod
    def q_e2a_consumer(cls) -> Queue:
        """The API server's end of the queue from the engine."""
        return cls._opened("q_e2a", "consumer")

    @classmethod
    def destroy(cls) -> None:
        """Close all that was opened here."""
        fmq, FMQFactory._fmq = FMQFactory._fmq, None
        if fmq is not None:
            fmq.destroy()
