"""The published server's bookkeeping and its use of one socket, as described: nothing is corrected here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

__all__ = ("ShippedMailbox", "ShippedWire")


class ShippedWire:
    """A router that drops what is for a client that is gone, and says nothing."""

    def __init__(self, step: Callable[[], None] = lambda: None) -> None:
        self.step = step
        self.got: dict[bytes, list[Any]] = {}
        self.gone: set[bytes] = set()
        self.parts: list[Any] = []

    def send(self, client: bytes, results: Sequence[Any]) -> None:
        """Send results to a client."""
        if client not in self.gone:
            self.got.setdefault(client, []).extend(results)

    def send_parts(self, parts: Sequence[Any]) -> None:
        """Send a message part by part; another thread may come between."""
        for part in parts:
            self.step()
            self.parts.append(part)


class ShippedMailbox:
    """``cached_results`` and ``req_dict``, used by the token thread and the handle thread without a common lock.

    Args:
        wire: Where results go.
        step: Called before each access to what both threads use.
    """

    def __init__(self, wire: ShippedWire, step: Callable[[], None] = lambda: None) -> None:
        self.wire = wire
        self.step = step
        self.cached: dict[str, list[Any]] = {}
        self.clients: dict[str, bytes] = {}

    def known(self, request: str) -> bool:
        """The token thread's look: has the request a handle?"""
        self.step()
        return request in self.clients

    def append(self, request: str, results: Sequence[Any]) -> None:
        """It has none: the results are kept."""
        self.step()
        self.cached.setdefault(request, []).extend(results)

    def flush(self, request: str, results: Sequence[Any], *, last: bool) -> None:
        """It has one: all goes out, and then the cache is emptied."""
        self.step()
        self.wire.send(self.clients[request], [*self.cached.get(request, []), *results])
        self.step()
        self.cached.pop(request, None)
        if last:
            self.clients.pop(request, None)

    def put(self, request: str, results: Sequence[Any], *, last: bool) -> None:
        """The token thread: ``send_response``."""
        if self.known(request):
            self.flush(request, results, last=last)
        else:
            self.append(request, results)

    def handle(self, request: str, client: bytes, ends: Callable[[Any], bool]) -> None:
        """The handle thread: store the handle, and flush if the last result is there."""
        self.step()
        self.clients[request] = client
        self.step()
        kept = self.cached.get(request, [])
        if kept and ends(kept[-1]):
            self.flush(request, [], last=True)
