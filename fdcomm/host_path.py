"""``HostPath``: how a handle puts and gets through the host: one round trip for each call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fdcomm.deadline import Timeout, timeout_seconds
from fdcomm.errors import CommTimeoutError
from fdcomm.ring.payload import item_of

if TYPE_CHECKING:
    from fdcomm.handle import Handle

__all__ = ("HostPath",)


class HostPath:
    """One handle's way to one channel of its host. What it does where shared memory is in reach is a local look."""

    def __init__(self, handle: Handle, protocol: str) -> None:
        self._handle = handle
        self._protocol = protocol

    # -- items -------------------------------------------------------------------------------------------------------

    def put(self, item: Any, timeout: Timeout, name: str, count: int) -> None:
        """Give an item, in which are ``count`` things, to every rank."""
        limit = timeout_seconds(timeout, name)
        payload = self._handle._pickle(item, name)
        self._act("put_tasks", payload, limit, name, count, timeout=limit, name=name)

    def take(self, rank: int, ticket: int, limit: float | None, name: str) -> tuple[int, Any, bool]:
        """Take the rank's next item: ``(number, item, all_read)``; number 0 is "nothing".

        From then on the handle has claimed its rank in this channel.
        """
        claimed = self._handle._claimed
        try:
            number, payload, all_read = self._act("get_tasks", ticket, limit, name, timeout=limit, name=name)
        except CommTimeoutError:
            claimed.add(self._protocol)
            raise
        claimed.add(self._protocol)
        return number, self._item(payload, name) if number else None, all_read

    def clear(self, name: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Drop what no rank has taken. Returns what was dropped, and who has taken the oldest item that stays."""
        cleared: tuple[tuple[int, ...], tuple[int, ...]] = self._act("clear_data", name, name=name)
        return cleared

    # -- reads -------------------------------------------------------------------------------------------------------

    def has_claimed(self) -> bool:
        """Return True when this handle reads for its rank."""
        return self._protocol in self._handle._claimed

    def oldest(self, name: str) -> int:
        """Return the number of the oldest item that some rank has not taken, or 0. Local where words are mapped."""
        if self._has_words():
            return self._handle._load(self._protocol, 0, name)
        log = self._view(name)["log"]
        return int(log[0][0]) if log else 0

    def ticket(self, rank: int, name: str) -> int:
        """Return the number of the oldest item that the rank has not taken, or 0. Local as :meth:`oldest`."""
        if self._has_words():
            return self._handle._load(self._protocol, 1 + rank, name)
        return int(self._view(name)["ticket"])

    def num_items(self, name: str) -> int:
        """Return how many items are retained."""
        return int(self._view(name)["num_tasks"])

    def num_things(self, name: str) -> int:
        """Return how many things are in them."""
        return int(self._view(name)["count"])

    def items(self, name: str) -> list[Any]:
        """Return the retained items, oldest first."""
        return [self._item(payload, name) for payload in self._act("items", name=name)]

    # -- helpers -----------------------------------------------------------------------------------------------------

    def _act(self, action: str, *args: Any, timeout: float | None = 0.0, name: str) -> Any:
        return self._handle._act(self._protocol, action, *args, timeout=timeout, name=name)

    def _view(self, name: str) -> dict[str, Any]:
        return self._handle._view(self._protocol, name=name)

    def _has_words(self) -> bool:
        """The host stores this channel's words, and they are mapped here. Those of a ring are in the ring."""
        return self._handle._page is not None and self._protocol not in self._handle._welcome["rings"]

    def _item(self, payload: bytes | tuple[bytes, int], name: str) -> Any:
        if isinstance(payload, tuple):  # the host has it from a ring: buffers may stand beside the stream
            return item_of(memoryview(payload[0]), payload[1], name)
        return self._handle._unpickle(payload, name)
