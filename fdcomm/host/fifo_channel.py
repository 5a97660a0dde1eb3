"""A plain first-in-first-out queue of one replica: transfer results, and disaggregated requests.

The done queue of ``spec/bitmask.toml`` (``tla/bitmask/Done.tla``). A result counts as handled when its taker comes back
for the next one: until then the queue is not empty, because "empty" is asked by those who are about to drop the records
that the result is for (B11).
"""

from __future__ import annotations

from collections import deque
from typing import Any

from fdcomm.host.members import Channel, Member, NoRanks, Place

__all__ = ("FifoChannel", "NotesChannel")


class FifoChannel(Channel):
    """Unbounded, many writers, many takers; each item goes to one taker. Never waits."""

    def __init__(self, place: Place) -> None:
        self._items: deque[bytes] = deque()
        self._in_hand: dict[int, int] = {}
        super().__init__(place, NoRanks(place.protocol), {})

    def put(self, session: int, payload: bytes, operation: str) -> None:
        """Append an item."""
        with self._readable:
            self._member(session, operation)
            self._items.append(payload)
            self._record("Post", {})

    def take(self, session: int, most: int, operation: str) -> list[bytes]:
        """Take up to ``most`` items. What this session took before counts as handled now."""
        with self._readable:
            taker = self._member(session, operation).producer
            self._in_hand.pop(taker, None)
            taken = [self._items.popleft() for _ in range(min(most, len(self._items)))]
            if taken:
                self._in_hand[taker] = len(taken)
            self._record("Take", {"taker": taker, "most": most}, {"count": len(taken)})
            return taken

    def view(self, session: int) -> dict[str, Any]:
        """Return a snapshot: ``empty`` is True when nothing is queued and nothing is in a taker's hands."""
        with self._readable:
            self._member(session, "view")
            return {**self._post(), "items": list(self._items)}

    def _exit(self, member: Member, *, lost: bool) -> None:
        if self._in_hand.pop(member.producer, 0):
            self._record("Gone", {"taker": member.producer})

    def _post(self) -> dict[str, Any]:
        in_hand = sum(self._in_hand.values())
        return {"length": len(self._items), "in_hand": in_hand, "empty": not self._items and not in_hand}


class NotesChannel(Channel):
    """Named numbers that the callers own: one read or one write is one action, and nothing more is promised."""

    def __init__(self, place: Place, names: tuple[str, ...]) -> None:
        self._numbers = dict.fromkeys(names, 0)
        super().__init__(place, NoRanks(place.protocol), {"names": list(names)})

    def get(self, session: int, name: str) -> int:
        """Return a number."""
        with self._readable:
            self._member(session, name)
            return self._numbers[name]

    def set(self, session: int, name: str, number: int) -> None:
        """Store a number."""
        with self._readable:
            self._member(session, name)
            self._numbers[name] = number
            self._record("Note", {"name": name, "number": number})

    def _post(self) -> dict[str, Any]:
        return dict(self._numbers)
