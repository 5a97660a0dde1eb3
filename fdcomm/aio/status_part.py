"""A part of a component whose engine runs in an asyncio loop: :class:`fdcomm.status_part.StatusPart` in a thread."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from fdcomm.aio.takes import Takes
from fdcomm.aio.threads import InThreads
from fdcomm.aio.watched import LOOK_S
from fdcomm.core.status import Goal
from fdcomm.deadline import Timeout, timeout_seconds
from fdcomm.errors import ClosedError, FdcommError, StaleReportError
from fdcomm.handle import Handle
from fdcomm.status_part import PartStatistics, StatusOrder, StatusPart, checked_work

__all__ = ("AsyncStatusOrder", "AsyncStatusPart")


class AsyncStatusOrder:
    """What a part is asked to do. Report about it once, with :meth:`done` or :meth:`fail`.

    A report whose ``await`` is cancelled is made nevertheless.
    """

    def __init__(self, order: StatusOrder, threads: InThreads) -> None:
        """Made by :meth:`AsyncStatusPart.take`."""
        self._order = order
        self._threads = threads
        self.number = order.number
        self.goal: Goal = order.goal

    async def done(self) -> None:
        """As :meth:`StatusOrder.done`."""
        await self._threads._tell(self._order.done)

    async def fail(self, reason: str) -> None:
        """As :meth:`StatusOrder.fail`."""
        await self._threads._tell(partial(self._order.fail, reason))


class AsyncStatusPart(Takes[StatusOrder]):
    """One part of a component, in the process that holds it. One task takes at a time; another one waits for its turn.

    A cancelled :meth:`take` loses nothing: what the host hands out then is the answer of the next one.
    """

    def __init__(self, queue: Handle, component: str, part: int | None = None) -> None:
        """As :class:`StatusPart`. Close with :meth:`aclose`."""
        self._part = StatusPart(queue, component, part)
        super().__init__("status part", lambda wait_s: self._part.take(timeout=wait_s), "the part was closed")

    async def take(self, *, timeout: Timeout = 0.0) -> AsyncStatusOrder | None:
        """As :meth:`StatusPart.take`."""
        order = await self._next(timeout_seconds(timeout, "status.take"))
        return None if order is None else AsyncStatusOrder(order, self)

    async def serve(
        self, does: Mapping[Goal, Callable[[], Awaitable[object]]], stop: Callable[[], bool] = lambda: False
    ) -> None:
        """As :meth:`StatusPart.serve`, with coroutine functions. ``stop`` is asked once a second, in the loop.

        Work that is cancelled with this call is reported as the part's failure.
        """
        checked_work(does, stop)
        while not stop():
            try:
                order = await self.take(timeout=LOOK_S)
            except ClosedError:
                return
            if order is not None:
                await self._do(order, does)

    def statistics(self) -> PartStatistics:
        """As :meth:`StatusPart.statistics`."""
        return self._part.statistics()

    @staticmethod
    async def _do(order: AsyncStatusOrder, does: Mapping[Goal, Callable[[], Awaitable[object]]]) -> None:
        failure = ""
        try:
            await does[order.goal]()
        except BaseException as error:
            failure = f"{type(error).__name__}: {error}"
            if not isinstance(error, Exception):
                with contextlib.suppress(FdcommError):
                    await order.fail(failure)
                raise
        with contextlib.suppress(StaleReportError):  # nobody waits any more; the next order says what is wanted
            await (order.fail(failure) if failure else order.done())
