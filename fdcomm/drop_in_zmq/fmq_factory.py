"""FastDeploy's ``fmq_factory``: the eight ends of its four queues."""

from __future__ import annotations

from fdcomm.drop_in_zmq.fmq import FMQ, Queue

__all__ = ("FMQ", "FMQFactory")


class FMQFactory:
    """The four queues between API server (a), engine (e) and workers (w)."""

    @classmethod
    def q_a2e_producer(cls) -> Queue:
        """The API server's end of the queue to the engine."""
        return FMQ().queue("q_a2e", "producer")

    @classmethod
    def q_a2e_consumer(cls) -> Queue:
        """The engine's end of the queue from the API server."""
        return FMQ().queue("q_a2e", "consumer")

    @classmethod
    def q_e2w_producer(cls) -> Queue:
        """The engine's end of the queue to the workers."""
        return FMQ().queue("q_e2w", "producer")

    @classmethod
    def q_e2w_consumer(cls) -> Queue:
        """A worker's end of the queue from the engine."""
        return FMQ().queue("q_e2w", "consumer")

    @classmethod
    def q_w2e_producer(cls) -> Queue:
        """A worker's end of the queue to the engine."""
        return FMQ().queue("q_w2e", "producer")

    @classmethod
    def q_w2e_consumer(cls) -> Queue:
        """The engine's end of the queue from the workers."""
        return FMQ().queue("q_w2e", "consumer")

    @classmethod
    def q_e2a_producer(cls) -> Queue:
        """The engine's end of the queue to the API server."""
        return FMQ().queue("q_e2a", "producer")

    @classmethod
    def q_e2a_consumer(cls) -> Queue:
        """The API server's end of the queue from the engine."""
        return FMQ().queue("q_e2a", "consumer")

    @classmethod
    async def destroy(cls) -> None:
        """As :meth:`FMQ.destroy`."""
        await FMQ().destroy()
