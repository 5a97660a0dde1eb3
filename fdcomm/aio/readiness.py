"""Readiness for asyncio: :class:`fdcomm.readiness.Readiness` in threads of its own."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Final

from fdcomm import arguments
from fdcomm.aio.threads import InThreads
from fdcomm.deadline import DEFAULT, Timeout
from fdcomm.handle import Handle
from fdcomm.readiness import PartHealth, Progress, Readiness, _tokens

__all__ = ("AsyncReadiness",)

_THREADS: Final = 8


class AsyncReadiness(InThreads):
    """What needs parts, as coroutines: for an API server. A cancelled task cancels its wait in the host.

    At most 8 calls are under way at a time; more wait for their turn. A part is not for asyncio: its loop beats.
    """

    def __init__(self, queue: Handle) -> None:
        """Take part through a handle, which must stay open. Close with :meth:`aclose`."""
        super().__init__("readiness", _THREADS)
        self._readiness = Readiness(queue)

    async def wait(
        self,
        components: str | Iterable[str],
        *,
        timeout: Timeout = DEFAULT,
        progress: Progress | None = None,
        restarts: bool = False,
    ) -> None:
        """As :meth:`Readiness.wait`. ``progress`` is called in a thread."""
        token = next(_tokens)
        names = (
            components if isinstance(components, str) else arguments.texts(components, "components", "readiness.wait")
        )
        call = partial(self._readiness._wait, token, names, timeout, progress, restarts=restarts)
        await self._ended(call, partial(self._readiness._give_up, token), self.health)

    async def check(self, *components: str) -> None:
        """As :meth:`Readiness.check`."""
        await self._at_once(partial(self._readiness.check, *components))

    async def health(self) -> tuple[PartHealth, ...]:
        """As :meth:`Readiness.health`."""
        return await self._at_once(self._readiness.health)

    async def watch(self, seen: dict[str, Any] | None = None, *, timeout: Timeout = DEFAULT) -> dict[str, Any]:
        """As :meth:`Readiness.watch`. A cancelled task's call goes on in its thread until its time is over."""
        return await self._in_thread(partial(self._readiness.watch, seen, timeout=timeout))

    async def statistics(self) -> dict[str, Any]:
        """As :meth:`Readiness.statistics`."""
        return await self._at_once(self._readiness.statistics)
