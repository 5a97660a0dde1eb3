"""Clearing and restoring as FastDeploy does it: three words without owners, and everybody reads and writes.

The twin of ``tla/status/StatusShipped.tla``. One step is one read or write of a word, or one meeting of ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from models.kernel import Action, Model, each, once, replaced
from models.status_shipped_state import AFTER, CLEARED, CLEARING, END, NORMAL, UPDATING, WAYS, Config, State

__all__ = ("Config", "State", "StatusShipped")


class StatusShipped(Model[State]):
    """Next-state relation. Each method is one step, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.name = "status as shipped"
        single: dict[str, Callable[[State], State | None]] = {
            "SeeCleared": self.see_cleared,
            "SeeTreeCleared": self.see_tree_cleared,
            "SeeTreeNormal": self.see_tree_normal,
            "SeeNormal": self.see_normal,
            "GiveUp": self.give_up,
            "Read": self.read,
            "Pause": self.pause,
            "Resume": self.resume,
            "ClearTree": self.clear_tree,
            "ThreadDies": self.thread_dies,
            "RestoreTree": self.restore_tree,
        }
        of_worker = {"Write": self.write, "Work": self.work, "Poll": self.poll}
        of_mover = {
            "See": self.see,
            "Clear": self.clear,
            "ClearRaises": self.clear_raises,
            "SayCleared": self.say_cleared,
            "Restore": self.restore,
            "SayNormal": self.say_normal,
        }
        self.actions = {
            "Ask": partial(each, "Ask", "g", range(2), self.ask),
            **{name: partial(once, name, step) for name, step in single.items()},
            **{name: partial(each, name, "w", range(self.config.workers), step) for name, step in of_worker.items()},
            **{name: partial(each, name, "s", range(self.config.movers), step) for name, step in of_mover.items()},
        }
        self.invariants = {"PollsForWhatComes": _polls_for_what_comes, "AllDownFirst": _all_down_first}
        self.action_properties = {
            "KvInOrder": lambda s, a, t: t.kv in (s.kv, AFTER[s.kv]),
            "WeightsInOrder": lambda s, a, t: t.weights in (s.weights, AFTER[s.weights]),
            "TruthfulAnswer": _truthful,
            "RefusedForAReason": lambda s, a, t: t.asked == s.asked or t.code not in (400, 403) or self.works(s),
        }
        self.sometimes = {"all was cleared and restored": lambda s: s.asked > 1 and (s.goal, s.code) == (0, 200)}
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Everything is restored, and everybody idle."""
        w, s = self.config.workers, self.config.movers
        idle = "idle"
        return (
            State(
                NORMAL,
                NORMAL,
                NORMAL,
                0,
                0,
                0,
                idle,
                (idle,) * w,
                (NORMAL,) * w,
                (idle,) * s,
                (1,) * s,
                (False,) * s,
                True,
            ),
        )

    # -- who can do something ------------------------------------------------------------------------------------

    def can_read(self, s: State) -> bool:
        """May rank 0 of the workers act on the word?"""
        known = s.weights in WAYS or (self.config.write_back and s.weights == CLEARED)
        return not self.config.absent and set(s.pcW) == {"idle"} and known

    @staticmethod
    def tree_can_clear(s: State) -> bool:
        """May the tree's thread reset it? It waits until no transfer is under way."""
        return s.treeLives and s.tree == CLEARING and all(s.paused)

    def works(self, s: State) -> bool:
        """Somebody does something about a request, or will."""
        busy = set(s.pcW) != {"idle"} or set(s.pcS) != {"idle"} or s.kv in WAYS
        tree = self.tree_can_clear(s) or (s.treeLives and s.tree == UPDATING)
        return busy or tree or (self.can_read(s) and s.weights in WAYS)

    # -- the API server ------------------------------------------------------------------------------------------

    def ask(self, s: State, g: int) -> State | None:
        """Look at the weights' word, and begin or answer."""
        idle = set(s.pcW) == {"idle"} and set(s.pcS) == {"idle"} and s.kv not in WAYS and s.weights not in WAYS
        if s.pcA != "idle" or s.asked >= self.config.max_asked or (self.config.calm and not idle):
            return None
        start, way = (NORMAL, CLEARING) if g else (CLEARED, UPDATING)
        code = {start: 0, END[way]: 200, way: 400}.get(s.weights, 403)
        after = s._replace(asked=s.asked + 1, goal=g, code=code)
        if code:
            return after
        if not g:
            return after._replace(tree=UPDATING, pcA="tree up")
        if self.config.tree_first:
            return after._replace(tree=CLEARING, pcA="tree down")
        return after._replace(weights=CLEARING, pcA="cache down")

    def see_cleared(self, s: State) -> State | None:
        """Weights and cache are cleared: now the tree, or that was all."""
        if s.pcA != "cache down" or (s.weights, s.kv) != (CLEARED, CLEARED):
            return None
        return _answer(s, 200) if self.config.tree_first else s._replace(tree=CLEARING, pcA="tree down")

    def see_tree_cleared(self, s: State) -> State | None:
        """The tree is cleared: that was all, or now the others."""
        if s.pcA != "tree down" or s.tree != CLEARED:
            return None
        return s._replace(weights=CLEARING, pcA="cache down") if self.config.tree_first else _answer(s, 200)

    def see_tree_normal(self, s: State) -> State | None:
        """The tree is restored: now the others."""
        return s._replace(weights=UPDATING, pcA="cache up") if s.pcA == "tree up" and s.tree == NORMAL else None

    def see_normal(self, s: State) -> State | None:
        """All is restored."""
        return _answer(s, 200) if s.pcA == "cache up" and (s.weights, s.kv) == (NORMAL, NORMAL) else None

    def give_up(self, s: State) -> State | None:
        """The time is over; the words stay as they are."""
        return _answer(s, 404) if self.config.may_give_up and s.pcA != "idle" else None

    # -- worker ranks --------------------------------------------------------------------------------------------

    def read(self, s: State) -> State | None:
        """Rank 0 reads, and tells the others."""
        if not self.can_read(s):
            return None
        ranks = self.config.workers
        return s._replace(seen=(s.weights,) * ranks, pcW=("write",) * ranks)

    def write(self, s: State, w: int) -> State | None:
        """Every rank writes what it was told."""
        if s.pcW[w] != "write":
            return None
        seen = s.seen[w]
        return s._replace(
            weights=seen if w == 0 and self.config.write_back else s.weights,
            kv=seen if seen in WAYS else s.kv,
            pcW=replaced(s.pcW, w, "work" if seen in WAYS else "idle"),
        )

    def work(self, s: State, w: int) -> State | None:
        """Rank 0 says that it is done; the others go and poll."""
        waits = self.config.cross_wait and w == 0 and s.seen[w] == UPDATING and s.kv != NORMAL
        if s.pcW[w] != "work" or waits:
            return None
        if w:
            return s._replace(pcW=replaced(s.pcW, w, "poll"))
        return s._replace(weights=END[s.seen[w]], pcW=replaced(s.pcW, w, "idle"))

    def poll(self, s: State, w: int) -> State | None:
        """Another rank reads exactly what it waits for."""
        there = s.pcW[w] == "poll" and s.weights == END.get(s.seen[w])
        return s._replace(pcW=replaced(s.pcW, w, "idle")) if there else None

    # -- transfer ranks ------------------------------------------------------------------------------------------

    def see(self, s: State, m: int) -> State | None:
        """A rank looks at the word of the cache."""
        if s.pcS[m] != "idle" or s.kv not in WAYS:
            return None
        return s._replace(pcS=replaced(s.pcS, m, "pause" if s.kv == CLEARING else "restore"))

    def pause(self, s: State) -> State | None:
        """All ranks meet."""
        ranks = self.config.movers
        return s._replace(pcS=("clear",) * ranks, paused=(True,) * ranks) if set(s.pcS) == {"pause"} else None

    def clear(self, s: State, m: int) -> State | None:
        """A rank clears, and lowers its flag."""
        if s.pcS[m] != "clear" or m in self.config.failing:
            return None
        return s._replace(ready=replaced(s.ready, m, 0), pcS=replaced(s.pcS, m, "all down"))

    def clear_raises(self, s: State, m: int) -> State | None:
        """A rank's clear raises: it is logged, and the rank looks again."""
        there = s.pcS[m] == "clear" and m in self.config.failing
        return s._replace(pcS=replaced(s.pcS, m, "idle")) if there else None

    def say_cleared(self, s: State, m: int) -> State | None:
        """All flags are down: every rank writes so."""
        there = s.pcS[m] == "all down" and not any(s.ready)
        return s._replace(kv=CLEARED, pcS=replaced(s.pcS, m, "idle")) if there else None

    def restore(self, s: State, m: int) -> State | None:
        """A rank restores, and raises its flag."""
        there = s.pcS[m] == "restore"
        return s._replace(ready=replaced(s.ready, m, 1), pcS=replaced(s.pcS, m, "all up")) if there else None

    def resume(self, s: State) -> State | None:
        """All ranks meet."""
        ranks = self.config.movers
        return s._replace(pcS=("normal",) * ranks, paused=(False,) * ranks) if set(s.pcS) == {"all up"} else None

    def say_normal(self, s: State, m: int) -> State | None:
        """Every rank writes so."""
        if s.pcS[m] != "normal" or (self.config.cross_wait and s.weights != NORMAL):
            return None
        return s._replace(kv=NORMAL, pcS=replaced(s.pcS, m, "idle"))

    # -- the thread of the prefix tree ---------------------------------------------------------------------------

    def clear_tree(self, s: State) -> State | None:
        """The tree is reset."""
        return s._replace(tree=CLEARED) if self.tree_can_clear(s) and not self.config.tree_dies else None

    def thread_dies(self, s: State) -> State | None:
        """The reset raises, and nobody catches it."""
        return s._replace(treeLives=False) if self.tree_can_clear(s) and self.config.tree_dies else None

    def restore_tree(self, s: State) -> State | None:
        """The tree is used again."""
        return s._replace(tree=NORMAL) if s.treeLives and s.tree == UPDATING else None


def _answer(s: State, code: int) -> State:
    return s._replace(code=code, pcA="idle")


def _polls_for_what_comes(s: State) -> bool:
    return all(s.weights in (seen, END.get(seen)) for pc, seen in zip(s.pcW, s.seen, strict=True) if pc == "poll")


def _all_down_first(s: State) -> bool:
    return not {"all down", "all up"} <= set(s.pcS)


def _truthful(s: State, a: Action, t: State) -> bool:
    told = (t.asked != s.asked or t.pcA != s.pcA) and t.pcA == "idle" and (t.code, t.goal) == (200, 1)
    return not told or t.weights == t.kv == t.tree == CLEARED
