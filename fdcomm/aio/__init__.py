"""The waiting parts of fdcomm for asyncio: a class for each, whose calls wait in threads of its own.

Those of FMQ need the extra ``zmq``, and are imported when they are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fdcomm.aio.control import AsyncControlClient
from fdcomm.aio.control_server import AsyncControlRequest, AsyncControlServer
from fdcomm.aio.jobs import AsyncJob
from fdcomm.aio.pause import AsyncPauseControl
from fdcomm.aio.readiness import AsyncReadiness
from fdcomm.aio.status import AsyncStatusCoordinator
from fdcomm.aio.status_part import AsyncStatusOrder, AsyncStatusPart
from fdcomm.aio.transfer import AsyncTransferClient

if TYPE_CHECKING:
    from fdcomm.aio.mq import AsyncFMQ, AsyncQueue, AsyncTopic

__all__ = (
    "AsyncControlClient",
    "AsyncControlRequest",
    "AsyncControlServer",
    "AsyncFMQ",
    "AsyncJob",
    "AsyncPauseControl",
    "AsyncQueue",
    "AsyncReadiness",
    "AsyncStatusCoordinator",
    "AsyncStatusOrder",
    "AsyncStatusPart",
    "AsyncTopic",
    "AsyncTransferClient",
)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name in ("AsyncFMQ", "AsyncQueue", "AsyncTopic"):
            from fdcomm.aio import mq

            return getattr(mq, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
