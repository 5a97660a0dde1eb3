"""The writer's steps in the model of the ring."""

from __future__ import annotations

from models.kernel import replaced
from models.ring_state import Config, Guards, State, at, load, moved, put

__all__ = ("Writing",)


class Writing:
    """Steps of the writer, for :class:`models.ring.Ring`."""

    config: Config
    guards: Guards
    ranks: range
    writer: int

    def slot(self, message: int) -> int:
        """Where a message is."""
        return (message - 1) % self.config.slots

    def counts(self, lives: tuple[int, ...], rank: int) -> bool:
        """The writer waits for the rank."""
        return lives[rank] % 2 == 0 or not self.guards.SkipsFenced

    def line_of(self, lives: tuple[int, ...], rank: int) -> int:
        """The line of a rank's reader."""
        return self.config.ranks + rank if lives[rank] // 2 % 2 else rank

    def first_from(self, lives: tuple[int, ...], rank: int) -> int:
        """The first rank from this one on whose cursor has to be loaded."""
        return next((r for r in self.ranks[rank:] if self.counts(lives, r)), self.config.ranks)

    def scan(self, s: State) -> State:
        """The writer begins to look at all cursors, and then at all lives."""
        first = self.first_from(s.known, 0)
        if self.guards.LivesLast and first < self.config.ranks:
            return moved(s, self.writer, "scan", at=first, low=s.head)
        return moved(s, self.writer, "lives", at=0, low=s.head)

    def decide(self, s: State, least: int) -> State:
        """All was looked at."""
        room = least + self.config.slots
        counted = any(self.counts(s.known, r) for r in self.ranks)
        free = (room > s.head and counted) or not self.guards.WaitsForCursors
        return moved(s, self.writer, "fill" if free else "idle", at=0, low=0)._replace(room=room if free else s.room)

    def consider(self, s: State, least: int) -> State:
        """The counted ranks are past that message; those that follow may have been taken back."""
        if least < s.head and self.guards.LooksForVoids:
            return moved(s, self.writer, "voids", at=0, low=max(least, s.head - self.config.slots))
        return self.decide(s, least)

    def start_put(self, s: State, p: int) -> State | None:
        """A put begins; the slot may be known to be free."""
        if s.pc[p] != "idle" or s.sent >= self.config.puts:
            return None
        return moved(s, p, "fill") if s.head < s.room else self.scan(s)

    def load_cursor(self, s: State, p: int) -> State | None:
        """How far a counted reader is."""
        if s.pc[p] != "scan":
            return None
        least = min(s.low[p], load(s, p, "cursor", self.line_of(s.known, s.at[p])))
        following = self.first_from(s.known, s.at[p] + 1)
        if following < self.config.ranks:
            return moved(s, p, "scan", at=following, low=least)
        return moved(s, p, "lives", at=0, low=least) if self.guards.LivesLast else self.consider(s, least)

    def load_life(self, s: State, p: int) -> State | None:
        """Whether a rank is counted still; if anything has changed, all over again."""
        if s.pc[p] != "lives":
            return None
        rank = s.at[p]
        life = load(s, p, "life", rank)
        if life != s.known[rank]:
            return self.scan(s._replace(known=replaced(s.known, rank, life)))
        if rank + 1 < self.config.ranks:
            return moved(s, p, "lives", at=rank + 1)
        first = self.first_from(s.known, 0)
        if self.guards.LivesLast or first == self.config.ranks:
            return self.consider(s, s.low[p])
        return moved(s, p, "scan", at=first)

    def see_void(self, s: State, p: int) -> State | None:
        """A marked message holds nobody up."""
        if s.pc[p] != "voids":
            return None
        low = s.low[p]
        if load(s, p, "seq", self.slot(low + 1)) > 0:
            return self.decide(s, low)
        return moved(s, p, "voids", low=low + 1) if low + 1 < s.head else self.decide(s, low + 1)

    def fill(self, s: State, p: int) -> State | None:
        """The payload."""
        after = at(s, p, "fill", "publish")
        return after and (self.store_data(after, p) if self.guards.PublishLast else self.store_seq(after, p))

    def store_data(self, s: State, p: int) -> State:
        """The payload, which says which put it is of."""
        return put(s, p, "data", self.slot(s.head + 1), s.sent + 1)

    def store_seq(self, s: State, p: int) -> State:
        """The number of the message."""
        return put(s, p, "seq", self.slot(s.head + 1), s.head + 1)

    def publish(self, s: State, p: int) -> State | None:
        """The number: when it reaches memory the message is there."""
        after = at(s, p, "publish", "idle")
        if after is None or (not self.config.ordered and self.guards.PublishFence and s.buf[p]):
            return None
        after = self.store_seq(after, p) if self.guards.PublishLast else self.store_data(after, p)
        return after._replace(head=s.head + 1, sent=s.sent + 1)

    def take_over(self, s: State, p: int) -> State | None:
        """The lock of a dead writer is free, and all that the next one knows is in memory."""
        after = at(s, p, "dead", "idle")
        if after is None or s.buf[p]:
            return None
        head = max(map(abs, s.mem.seq)) if self.guards.Resumes else 0
        return after._replace(head=head, room=head or self.config.slots, known=s.mem.life)
