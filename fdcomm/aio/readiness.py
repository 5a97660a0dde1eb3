"""Readiness for asyncio: :class:`fdcomm.readiness.Readiness` in threads of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

from fdcomm.aio.threads import InThreads
from fdcomm.aio.watched import change, end_of
from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.handle import Handle
from fdcomm.readiness import DEFAULT_LIMIT_S, Readiness, _tokens, wanted
from fdcomm.readiness_results import PartHealth, Progress, parts_of, why
from fdcomm.watched import period

__all__ = ("AsyncReadiness",)

_THREADS: Final = 8


class AsyncReadiness(InThreads):
    """What needs parts, and what a part says, as coroutines. A cancelled task cancels its wait in the host.

    At most 8 waits are under way at a time; more wait for their turn. What a part has begun to say is said, also when
    the ``await`` is cancelled.
    """

    def __init__(self, queue: Handle, *, limit: float | None = DEFAULT_LIMIT_S) -> None:
        """As :class:`Readiness`. The loop of a part is the asyncio loop. Close with :meth:`aclose`."""
        super().__init__("readiness", _THREADS)
        self._readiness = Readiness(queue, limit=limit)
        self._saying = 0

    # -- a part --------------------------------------------------------------------------------------------------

    async def starting(
        self, component: str, rank: int | None = None, *, stage: str = "", fraction: float | None = None
    ) -> None:
        """As :meth:`Readiness.starting`."""
        await self._say(partial(self._readiness.starting, component, rank, stage=stage, fraction=fraction))

    async def ready(self, component: str | None = None, rank: int | None = None, *, limit: Timeout = DEFAULT) -> None:
        """As :meth:`Readiness.ready`. From then on :meth:`keep_beating` has to run, or :meth:`beat` be called."""
        await self._say(partial(self._readiness.ready, component, rank, limit=limit))

    async def failed(self, reason: str) -> None:
        """As :meth:`Readiness.failed`."""
        await self._say(partial(self._readiness.failed, reason))

    async def withdraw(self, reason: str = "") -> None:
        """As :meth:`Readiness.withdraw`."""
        await self._say(partial(self._readiness.withdraw, reason))

    async def leave(self) -> None:
        """As :meth:`Readiness.leave`."""
        await self._say(self._readiness.leave)

    async def beat(self) -> None:
        """As :meth:`Readiness.beat`: the asyncio loop has come round. Awaits nothing where the word is within reach."""
        if self._saying:  # the part's word may be another one in a moment, and what is said is news of it, too
            return
        if self._readiness._loop.in_reach:
            self._readiness.beat()
        else:
            await self._at_once(self._readiness.beat)

    async def keep_beating(self, every: float = 1.0) -> None:
        """Beat every so many seconds until this is cancelled: for a task beside the engine's work.

        A loop that is blocked, by a call that should have been in a thread, does not beat: the part is stuck then.
        A part that is starting, failed or gone beats for nothing.

        Raises:
            HostLostError: As :meth:`Readiness.beat`.
            ProtocolViolationError: No part was named yet.
        """
        seconds = period(self.beat, every, "readiness.keep_beating")
        while seconds is not None:
            await self.beat()
            await asyncio.sleep(seconds)

    # -- whoever needs parts -------------------------------------------------------------------------------------

    async def wait(
        self,
        components: str | Iterable[str],
        *,
        timeout: Timeout = DEFAULT,
        progress: Progress | None = None,
        restarts: bool = False,
    ) -> None:
        """As :meth:`Readiness.wait`. ``progress`` is called in the loop."""
        name, token = "readiness.wait", next(_tokens)
        names, restarts = wanted(components, progress, restarts, name)
        limit, clock = timeout_seconds(timeout, name), self._readiness._queue._runtime.monotonic
        deadline, seen = Deadline(limit, clock), None if progress is None else -1
        future: concurrent.futures.Future[dict[str, Any]] | None = None
        try:
            while True:
                step = partial(self._readiness._step, token, names, deadline.remaining(), restarts, seen)
                future = self._threads.submit(step)
                end = await asyncio.wrap_future(future)
                if end["outcome"] != "open":
                    break
                if progress is not None:
                    progress(parts_of(end["parts"]))
                    seen = end["changes"]
        except BaseException:
            await self._tell(partial(_abandon, future, partial(self._readiness._give_up, token)))
            raise
        if end["outcome"] != "done":
            raise why(name, end, limit)

    async def check(self, *components: str) -> None:
        """As :meth:`Readiness.check`."""
        await self._at_once(partial(self._readiness.check, *components))

    async def health(self) -> tuple[PartHealth, ...]:
        """As :meth:`Readiness.health`."""
        return await self._at_once(self._readiness.health)

    async def watch(self, seen: dict[str, Any] | None = None, *, timeout: Timeout = DEFAULT) -> dict[str, Any]:
        """As :meth:`Readiness.watch`. A cancelled task's call goes on in its thread for a second at most."""

        def watch(seen: Any, wait_s: float) -> asyncio.Future[dict[str, Any]]:
            return self._in_thread(partial(self._readiness.watch, seen, timeout=wait_s))

        return await change(watch, seen, timeout_seconds(timeout, "readiness.watch"))

    async def statistics(self) -> dict[str, Any]:
        """As :meth:`Readiness.statistics`."""
        return await self._at_once(self._readiness.statistics)

    async def _say(self, call: Callable[[], None]) -> None:
        self._saying += 1
        try:
            await self._tell(call)
        finally:
            self._saying -= 1


def _abandon(step: concurrent.futures.Future[Any] | None, give_up: Callable[[], object]) -> None:
    """End a wait of which a step may be under way: one that comes to the host now leaves the wait open there."""
    if step is not None and not step.cancel():
        end_of(step, give_up)
    give_up()
