"""The waiting parts of fdcomm for asyncio: a class for each, whose calls wait in threads of its own."""

from __future__ import annotations

from fdcomm.aio.control import AsyncControlClient
from fdcomm.aio.pause import AsyncPauseControl
from fdcomm.aio.readiness import AsyncReadiness
from fdcomm.aio.status import AsyncStatusCoordinator
from fdcomm.aio.transfer import AsyncTransferClient

__all__ = (
    "AsyncControlClient",
    "AsyncPauseControl",
    "AsyncReadiness",
    "AsyncStatusCoordinator",
    "AsyncTransferClient",
)
