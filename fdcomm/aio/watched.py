"""What asyncio's forms of waiting calls share: a call in a thread, how it goes, and its end when nobody wants it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fdcomm.errors import FdcommError
from fdcomm.watched import AGAIN_S

__all__ = ("end_of", "to_the_end", "told")

T = TypeVar("T")


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
