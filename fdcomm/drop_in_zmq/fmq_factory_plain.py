"""FastDeploy's later ``fmq_factory``: plain calls, and a queue of its own for each worker that has a name."""

from __future__ import annotations

from fdcomm.drop_in_zmq.fmq_plain import FMQ, Queue

__all__ = ("FMQ", "FMQFactory")


class FMQFactory:
    """The four queues between API server (a), engine (e) and workers (w). Each call opens an end, in an FMQ of its own.

    ``name``: of a worker, whose queue is then ``q_w2e_<name>``.
    """

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
    def q_w2e_producer(cls, name: str | None = None) -> Queue:
        """A worker's end of the queue to the engine."""
        return FMQ().queue("q_w2e" if name is None else f"q_w2e_{name}", "producer")

    @classmethod
    def q_w2e_consumer(cls, name: str | None = None) -> Queue:
        """The engine's end of the queue from the workers."""
        return FMQ().queue("q_w2e" if name is None else f"q_w2e_{name}", "consumer")

    @classmethod
    def q_e2a_producer(cls) -> Queue:
        """The engine's end of the queue to the API server."""
        return FMQ().queue("q_e2a", "producer")

    @classmethod
    def q_e2a_consumer(cls) -> Queue:
        """The API server's end of the queue from the engine."""
        return FMQ().queue("q_e2a", "consumer")
