"""What asyncio's forms of waiting calls share: a call in a thread, how it goes, and its end when nobody wants it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

from fdcomm.deadline import Deadline
from fdcomm.errors import FdcommError
from fdcomm.runtime import SYSTEM
from fdcomm.watched import AGAIN_S

__all__ = ("LOOK_S", "change", "end_of", "to_the_end", "told")

T = TypeVar("T")
LOOK_S: Final = 1.0
"""How long one call that cannot be ended from outside waits in the host: so long it goes on when nobody wants it."""


async def told(
    answer: asyncio.Future[T],
    look: Callable[[], Awaitable[Any]],
    progress: Callable[[Any], object] | None,
    every: float | None,
) -> None:
    """Return when the call is answered; meanwhile call ``progress``, in the loop, with what a look shows."""
    while not (await asyncio.wait([answer], timeout=every))[0]:
        try:
            seen = await look()
        except FdcommError:  # what has happened to the host is what the call is told, too
            continue
        if progress is not None:
            progress(seen)


async def change(
    watch: Callable[[Any, float], Awaitable[dict[str, Any]]], seen: Mapping[str, Any] | None, limit: float | None
) -> dict[str, Any]:
    """Watch in short calls: one whose ``await`` is cancelled is in the way of others for a second at most."""
    deadline = Deadline(limit, SYSTEM.monotonic)
    while True:
        left = deadline.remaining()
        found = await watch(seen, LOOK_S if left is None else min(left, LOOK_S))
        if seen is None or found["changes"] != seen["changes"] or deadline.expired():
            return found


def end_of(future: concurrent.futures.Future[Any], end: Callable[[], object]) -> None:
    """Call ``end`` until a call has ended: it may not have reached the host yet. For a thread."""
    while not future.done():
        with contextlib.suppress(FdcommError):  # then the call itself ends with this error
            end()
        concurrent.futures.wait([future], AGAIN_S)


async def to_the_end(work: Awaitable[T]) -> T:
    """Wait for what must not be left half done, also when this is cancelled; then raise that."""
    task, cancelled = asyncio.ensure_future(work), None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled from task.exception()
    return task.result()
