"""What a process of ``models/meeting.py`` does under the lock, and what it looks at before."""

from __future__ import annotations

from collections.abc import Iterator

from models.kernel import Action
from models.meeting_properties import Claims
from models.meeting_state import KINDS, STATES, State, both, count, ended, gen, passed
from models.store_buffers import load, moved, put

__all__ = ("Deciding",)


class Deciding(Claims):
    """Steps of who decides. Each is one step of one process, or None when it is not enabled."""

    def _look(self, s: State, p: int) -> str:
        line, labels = self._seen(s, p), self.config.labels
        if load(s, p, "word", line) != s.stamp[p]:
            return "missing"
        other = load(s, p, "label", line) % labels != s.label[p] % labels
        if self.guards.LabelsChecked and other and not self._elsewhere(s, p):
            return "differs"
        if s.at[p] % self.config.ranks < self.config.ranks - 1:
            return "more"
        if not self._apart(s, p):
            return "all"
        return "apart" if self.guards.FindsApart else "missing"

    def _seen(self, s: State, p: int) -> int:
        """The line of the rank that it looks at."""
        rank = s.at[p] % self.config.ranks
        return self.counted(load(s, p, "life", rank), rank) if self.guards.OwnLine else rank

    def _elsewhere(self, s: State, p: int) -> bool:
        """That rank waits at another barrier."""
        place = self.place(load(s, p, "label", self._seen(s, p)))
        return self.guards.PlacesChecked and place != self.place(s.label[p])

    def _apart(self, s: State, p: int) -> bool:
        """That one or one before it does."""
        return s.at[p] >= self.config.ranks or self._elsewhere(s, p)

    def _further(self, s: State, p: int) -> int:
        """The next rank; the number of ranks is added when one was seen at another barrier."""
        ranks = self.config.ranks
        return s.at[p] % ranks + 1 + (ranks if self._apart(s, p) else 0)

    def _bank(self, turn: int) -> int:
        """Where the counts of the round of a turn begin."""
        return self.config.places * (gen(turn) % 2 if self.guards.TwoBanks else 0)

    @property
    def _commits(self) -> str:
        return "count" if self.config.places > 1 else "next"

    def _tell(self, s: State, p: int, there: str, what: str) -> State:
        return moved(s, p, there, told=s.told[p] | {(s.stamp[p], what)})

    def gone(self, s: State, rank: int) -> bool:
        """The rank was given up, or its process is dead."""
        if s.mem.life[rank] % 2:
            return self.guards.CompletesFence
        return self.guards.FindsDead and not s.alive[self.counted(s.mem.life[rank], rank)]

    def _ask(self, name: str, what: str, may: bool, s: State) -> Iterator[tuple[Action, State]]:
        if may and s.pc[self.owner] == "ask":
            yield Action(name, (("process", self.owner),)), moved(s, self.owner, "lock", do=what)

    def ask_abort(self, s: State) -> Iterator[tuple[Action, State]]:
        """Somebody aborts."""
        yield from self._ask("AskAbort", "abort", self.config.aborts, s)

    def ask_part(self, s: State) -> Iterator[tuple[Action, State]]:
        """A rank that has not arrived is in a round that is to come."""
        yield from self._ask("AskPart", "part", self.config.parts, s)

    def ask_fence(self, s: State) -> Iterator[tuple[Action, State]]:
        """Somebody gives rank 0 up."""
        yield from self._ask("AskFence", "fence", self.config.fences, s)

    def ask_reset(self, s: State) -> Iterator[tuple[Action, State]]:
        """The abort is undone."""
        owner = self.owner
        if self.config.aborts and s.pc[owner] == "done" and s.calls[owner] == 0:
            yield Action("AskReset", (("process", owner),)), moved(s, owner, "lock", do="reset", calls=1)

    def come(self, s: State) -> Iterator[tuple[Action, State]]:
        """Another process comes for rank 0."""
        if self.config.comes and s.pc[self.second] == "away" and s.mem.life[0] == 1:
            yield Action("Come", (("process", self.second),)), moved(s, self.second, "lock", do="join")

    def take_lock(self, s: State, p: int) -> State | None:
        """A system call, and a full barrier."""
        if s.pc[p] != "lock" or s.lock != -1 or s.buf[p]:
            return None
        return moved(s, p, "turn")._replace(lock=p)

    def see_turn_locked(self, s: State, p: int) -> State | None:
        """Whether there is still something to decide."""
        if s.pc[p] != "turn":
            return None
        turn, do = load(s, p, "turn", 0), s.do[p]
        if do == "abort":
            return moved(s, p, "give" if turn % 4 // 2 else "why1", stamp=turn)
        if do == "reset":
            return moved(s, p, "why1" if turn % 4 // 2 else "give", stamp=turn)
        if do == "part":
            return moved(s, p, "give" if turn % 4 else "why1", stamp=turn)
        if do == "join":
            return moved(s, p, "life", stamp=turn)
        if p == self.owner:
            return moved(s, p, "give" if load(s, p, "life", 0) % 2 else "life", stamp=turn)
        if turn != s.stamp[p]:
            return moved(s, p, "give")
        if do == "pass":
            return moved(s, p, "look" if self.guards.LooksAgain else self._commits, at=0)
        if do == "withdraw":
            return moved(s, p, "clear", at=0)
        first = next((rank for rank in self.ranks if self.gone(s, rank)), None)
        if first is None:
            return moved(s, p, "give", at=0)
        return moved(s, p, "why1" if s.mem.life[first] % 2 else "life", at=first)

    def look_locked(self, s: State, p: int) -> State | None:
        """No arrival can be withdrawn now."""
        if s.pc[p] != "look":
            return None
        found = self._look(s, p)
        there = {"more": "look", "all": self._commits, "differs": "why1", "apart": "why1", "missing": "give"}[found]
        return moved(s, p, there, at=self._further(s, p) if found == "more" else 0)

    def store_count(self, s: State, p: int) -> State | None:
        """How often each barrier was passed, where nobody looks before the turn says so."""
        if s.pc[p] != "count":
            return None
        place, stamp, last = s.at[p], s.stamp[p], s.at[p] == self.config.places - 1
        passes = load(s, p, "passes", self._bank(stamp) + place) + (place == self.place(s.label[p]))
        after = moved(s, p, "next" if last else "count", at=0 if last else place + 1)
        return put(after, p, "passes", self._bank(passed(stamp)) + place, passes)

    def store_withdrawn(self, s: State, p: int) -> State | None:
        """Only its own process stores there."""
        if s.pc[p] != "clear":
            return None
        locked = self.guards.WithdrawsLocked
        after = self._tell(put(s, p, "word", self.line(p), -1), p, "give" if locked else "out", "timeout")
        return moved(after, p, after.pc[p], do=s.do[p] if locked else "none")

    def store_life(self, s: State, p: int) -> State | None:
        """A rank is given up, or comes back."""
        if s.pc[p] != "life":
            return None
        return put(moved(s, p, "why1"), p, "life", s.at[p], load(s, p, "life", s.at[p]) + 1)

    def store_why(self, s: State, p: int) -> State | None:
        """Why the waits end."""
        if s.pc[p] != "why1":
            return None
        return put(moved(s, p, "next1", at=0), p, "why", count(s.stamp[p]) + 1, KINDS[s.do[p]])

    def store_turn(self, s: State, p: int) -> State | None:
        """All arrivals end."""
        stamp, do = s.stamp[p], s.do[p]
        if s.pc[p] not in ("next", "next1"):
            return None
        if do == "join":
            turn = ended(stamp, stamp % 4 // 2 * 2 + any(life % 2 for life in s.mem.life[1:]))
        elif do == "reset":
            turn = ended(stamp, stamp % 2)
        else:
            turn = ended(stamp, both(stamp % 4, STATES[do])) if s.pc[p] == "next1" else passed(stamp)
        return put(moved(s, p, "flags", at=0), p, "turn", 0, turn)

    def load_flags(self, s: State, p: int) -> State | None:
        """Whether somebody sleeps."""
        if s.pc[p] != "flags":
            return None
        up = self.guards.Wakes and any(load(s, p, "flag", q) == 1 for q in self.everybody)
        return moved(s, p, "wake" if up else "give")

    def wake(self, s: State, p: int) -> State | None:
        """The system call: a full barrier, and whoever sleeps is woken."""
        if s.pc[p] != "wake" or s.buf[p]:
            return None
        after = moved(s, p, "give")
        return after._replace(pc=tuple("again" if pc == "asleep" else pc for pc in after.pc))

    def give_lock(self, s: State, p: int) -> State | None:
        """A system call, and a full barrier."""
        if s.pc[p] != "give" or s.buf[p]:
            return None
        over = s.do[p] == "join" or (s.stamp[p], "timeout") in s.told[p]
        return moved(s, p, "done" if p == self.owner else "out" if over else "see", do="none")._replace(lock=-1)
