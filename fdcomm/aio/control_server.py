"""Requests to a rank whose engine runs in an asyncio loop: :class:`fdcomm.control.ControlServer` in a thread."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from fdcomm import arguments
from fdcomm.aio.takes import Takes
from fdcomm.aio.threads import InThreads
from fdcomm.aio.watched import LOOK_S
from fdcomm.control import ControlRequest, ControlServer
from fdcomm.control_results import ServerStatistics
from fdcomm.deadline import Timeout, timeout_seconds
from fdcomm.errors import ClosedError, PayloadError, PayloadTooLargeError, StaleAnswerError
from fdcomm.handle import Handle

__all__ = ("AsyncControlRequest", "AsyncControlServer")


class AsyncControlRequest:
    """A request that this rank has taken. Answer it once, with :meth:`answer` or :meth:`fail`.

    An answer whose ``await`` is cancelled is given nevertheless.
    """

    def __init__(self, request: ControlRequest, threads: InThreads) -> None:
        """Made by :meth:`AsyncControlServer.take`."""
        self._request = request
        self._threads = threads
        self.number = request.number
        self.payload = request.payload

    async def answer(self, value: Any = None) -> None:
        """As :meth:`ControlRequest.answer`."""
        await self._threads._tell(partial(self._request.answer, value))

    async def fail(self, reason: str) -> None:
        """As :meth:`ControlRequest.fail`."""
        await self._threads._tell(partial(self._request.fail, reason))


class AsyncControlServer(Takes[ControlRequest]):
    """Takes and answers requests for the rank of a handle. One task takes at a time; another one waits for its turn.

    A cancelled :meth:`take` loses nothing: what the host hands out then is the answer of the next one.
    """

    def __init__(self, queue: Handle) -> None:
        """As :class:`ControlServer`. Close with :meth:`aclose`."""
        self._server = ControlServer(queue)
        super().__init__("control server", lambda wait_s: self._server.take(timeout=wait_s), "the server was closed")

    async def take(self, *, timeout: Timeout = 0.0) -> AsyncControlRequest | None:
        """As :meth:`ControlServer.take`."""
        request = await self._next(timeout_seconds(timeout, "control.take"))
        return None if request is None else AsyncControlRequest(request, self)

    async def serve(self, handler: Callable[[Any], Awaitable[Any]], stop: Callable[[], bool] = lambda: False) -> None:
        """As :meth:`ControlServer.serve`, with a coroutine function. ``stop`` is asked once a second, in the loop.

        A request whose work is cancelled with this call is answered as a failure.
        """
        arguments.function(handler, "handler", "control.serve")
        arguments.function(stop, "stop", "control.serve")
        while not stop():
            try:
                request = await self.take(timeout=LOOK_S)
                if request is not None:
                    await self._answer(request, handler)
            except PayloadError:
                continue  # take has answered it
            except ClosedError:
                return

    def statistics(self) -> ServerStatistics:
        """As :meth:`ControlServer.statistics`."""
        return self._server.statistics()

    @staticmethod
    async def _answer(request: AsyncControlRequest, handler: Callable[[Any], Awaitable[Any]]) -> None:
        try:
            value = await handler(request.payload)
        except BaseException as error:
            with contextlib.suppress(StaleAnswerError):
                await request.fail(f"{type(error).__name__}: {error}")
            if isinstance(error, Exception):
                return
            raise
        with contextlib.suppress(StaleAnswerError):
            try:
                await request.answer(value)
            except (PayloadError, PayloadTooLargeError) as error:
                await request.fail(f"{type(error).__name__}: {error}")
