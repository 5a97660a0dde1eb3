"""How writers come to the ring's segments, leave, and end the ring: a part of :mod:`models.ring_overflow`."""

from __future__ import annotations

from models.kernel import replaced
from models.ring_segments import NOBODY, NOTHING, Segments, State, moved

__all__ = ("Coming",)


class Coming(Segments):
    """Steps of writers that do not put."""

    def enter(self, s: State, p: int) -> State | None:
        """A writer comes, or looks again what others have left, and what it does not need."""
        again = s.pc[p] == "idle" and self.guards.TakesOver and bool(self._todo(s, p) or s.temp)
        if s.lock != NOBODY or not s.ring or not (s.pc[p] == "out" or again):
            return None
        return moved(s, p, "enter", lock=p)

    def _todo(self, s: State, p: int) -> list[int]:
        """What one who comes takes or removes, in that order; one who ends removes all of it."""
        found = self.abandoned(s, p) if self.guards.TakesOver else []
        ends = s.pc[p] == "final"
        return sorted({*found, *(seg for seg in self.mine(s, p) if ends or s.holds[seg] <= self.over(s))})

    def _takes(self, s: State, p: int, seg: int) -> bool:
        unread = self.guards.TakesUnread and self.message(s, seg) > self.over(s)
        return s.pc[p] == "enter" and s.owner[seg] != p and unread

    def take(self, s: State, p: int) -> State | None:
        """What nobody owns, and somebody still has to read, is this writer's."""
        seg = next(iter(self._todo(s, p)), NOTHING)
        if s.pc[p] != "enter" or seg == NOTHING or not self._takes(s, p, seg):
            return None
        return s._replace(owner=replaced(s.owner, seg, p), holds=replaced(s.holds, seg, self.message(s, seg)))

    def drop(self, s: State, p: int) -> State | None:
        """What nobody owns, or this writer, and nobody has to read, is removed; at the end of the ring everything."""
        seg = next(iter(self._todo(s, p)), NOTHING)
        if s.pc[p] not in ("enter", "final") or seg == NOTHING or self._takes(s, p, seg):
            return None
        return self.without(s, seg)

    def sweep(self, s: State, p: int) -> State | None:
        """What never got its name is removed."""
        here = s.pc[p] in ("enter", "final") and not self._todo(s, p) and s.lock in (NOBODY, p)
        return s._replace(temp=frozenset()) if here and s.temp and self.guards.SweepsNew else None

    def entered(self, s: State, p: int) -> State | None:
        """Nothing more is there to take or to remove."""
        if (
            s.pc[p] not in ("enter", "final")
            or self._todo(s, p)
            or s.lock not in (NOBODY, p)
            or (s.temp and self.guards.SweepsNew)
        ):
            return None
        return moved(s, p, "idle" if s.pc[p] == "enter" else "out", lock=NOBODY)

    def leave(self, s: State, p: int) -> State | None:
        """A writer begins to leave; where the ring is gone it removes what it can."""
        may = p in self.config.leavers or not s.ring
        return moved(s, p, "leave" if s.ring else "final") if s.pc[p] == "idle" and may else None

    def release(self, s: State, p: int) -> State | None:
        """What is over is removed; what somebody still has to read is left to the next one."""
        mine = self.mine(s, p)
        if s.pc[p] != "leave" or not mine:
            return None
        seg = mine[0]
        if s.holds[seg] <= self.over(s) or not self.guards.LeavesUnread:
            return self.without(s, seg)
        return s._replace(owner=replaced(s.owner, seg, NOBODY), holds=replaced(s.holds, seg, 0))

    def left(self, s: State, p: int) -> State | None:
        """It has none any more. The ring was removed meanwhile: it looks once more."""
        there = "out" if s.ring else "final"
        return moved(s, p, there) if s.pc[p] == "leave" and not self.mine(s, p) else None

    def finish(self, s: State, p: int) -> State | None:
        """A writer removes the ring, and then the segments that are its own or nobody's."""
        if s.pc[p] != "idle" or s.lock != NOBODY or not s.ring:
            return None
        return moved(s, p, "final", lock=p, ring=False)
