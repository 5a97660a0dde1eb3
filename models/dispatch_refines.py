"""Dispatch seen as a broadcast: the mapping, and the history that dispatch itself forgets.

History is derived from what each step did to the log, and restricts nothing (``tla/dispatch/DispatchRefines.tla``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from models import broadcast, dispatch
from models.dispatch_state import AWAY, DEAD, DOWN, LIVE, LOST
from models.kernel import Model, Step

__all__ = ("Remembering", "State", "abstract", "image")

_READER = {AWAY: broadcast.OUT, LIVE: broadcast.IN, DEAD: broadcast.DYING, LOST: broadcast.LOST}


class State(NamedTuple):
    """A state of dispatch, and what happened before."""

    now: dispatch.State
    sent: tuple[int, ...]
    dropped: frozenset[int]
    skipped: tuple[frozenset[int], ...]


class Remembering(Model[State]):
    """Dispatch with history."""

    def __init__(self, model: dispatch.Dispatch) -> None:
        self.model = model
        self.name = model.name
        self.actions = {}
        self.invariants = {}
        self.action_properties = {}
        self.sometimes = {}
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """No history yet."""
        nobody = (frozenset[int](),) * self.model.config.ranks
        return tuple(State(state, (), frozenset(), nobody) for state in self.model.initial())

    def steps(self, state: State) -> Iterator[Step[State]]:
        """The steps of dispatch, remembered."""
        for action, after in self.model.steps(state.now):
            yield action, _remember(state, after)


def _remember(s: State, after: dispatch.State) -> State:
    before = s.now
    old, new = {e.id: e for e in before.log}, {e.id: e for e in after.log}
    missed = tuple(
        frozenset(id_ for id_, e in old.items() if rank not in e.taken and (id_ not in new or rank in new[id_].taken))
        if (before.status[rank], after.status[rank]) == (LOST, LIVE)
        else frozenset[int]()
        for rank in range(len(before.status))
    )
    skipped = tuple(known | now for known, now in zip(s.skipped, missed, strict=True))
    gone = old.keys() - new.keys()
    fates = list(zip(after.got, skipped, strict=True))
    dropped = {id_ for id_ in gone if any(id_ not in got and id_ not in skip for got, skip in fates)}
    sent = (*s.sent, *(e.id for e in after.log if e.id not in old))
    return State(after, sent, s.dropped | dropped, skipped)


def abstract(config: dispatch.Config) -> broadcast.Broadcast:
    """Return the broadcast that dispatch refines under a (bounded) configuration."""
    if config.max_calls is None or config.max_epoch is None:
        raise ValueError("refinement is checked on bounded configurations")
    return broadcast.Broadcast(broadcast.Config(config.ranks, config.max_calls, config.depth, config.max_epoch))


def image(s: State) -> broadcast.State:
    """Return what a state of dispatch is as a broadcast."""
    return broadcast.State(
        sent=s.sent,
        got=s.now.got,
        dropped=s.dropped,
        skipped=s.skipped,
        epoch=s.now.epoch,
        reader=tuple(_READER[status] for status in s.now.status),
        writer=any(life != DOWN for life in s.now.producer),
    )
