"""FMQ: queues and topics over ZeroMQ, large payloads in shared memory. Needs pyzmq and msgspec (``fdcomm[zmq]``)."""

from __future__ import annotations

from fdcomm.mq.config import Config, Endpoint, EndpointType, Role, SocketOptions, load_config
from fdcomm.mq.factory import FMQFactory
from fdcomm.mq.fmq import FMQ
from fdcomm.mq.frames import Message
from fdcomm.mq.queue import Queue
from fdcomm.mq.statistics import ConsumerStatistics, ProducerStatistics, TopicStatistics
from fdcomm.mq.topic import Topic
from fdcomm.zsocket.curve import CurveKeys

__all__ = (
    "FMQ",
    "Config",
    "ConsumerStatistics",
    "CurveKeys",
    "Endpoint",
    "EndpointType",
    "FMQFactory",
    "Message",
    "ProducerStatistics",
    "Queue",
    "Role",
    "SocketOptions",
    "Topic",
    "TopicStatistics",
    "load_config",
)
