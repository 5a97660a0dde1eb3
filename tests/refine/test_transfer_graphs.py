"""The comparison of the transfer model with its specification has teeth: small mistakes of a model are seen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from models.graph import build, compare, named
from models.kernel import Step
from models.transfer import Config, State, Transfer
from models.transfer_state import QUEUED
from tests.refine.transfer_graphs import FIXED, SHIPPED, compared_shipped, spec_graph


class _LeavesOpen(Transfer):
    def leave(self, s: State, rank: int) -> State | None:
        after = super().leave(s, rank)
        return after and after._replace(open=s.open)


class _FenceKeepsQueued(Transfer):
    def fence_of(self, s: State, rank: int) -> State | None:
        after = super().fence_of(s, rank)
        return None if after is not None and QUEUED in s.state else after


class _DoneIsSpare(Transfer):
    def __init__(self, config: Config) -> None:
        super().__init__(config)
        done = self.actions["JobDone"]

        def changed(s: State) -> Iterator[Step[State]]:
            for action, after in done(s):
                yield action, after._replace(spare=(True,) * len(after.spare))

        self.actions = {**self.actions, "JobDone": changed}


class _SettledStays(Transfer):
    def settled(self, s: State) -> Iterator[Step[State]]:
        for action, after in super().settled(s):
            yield action, after._replace(held=s.held)


class _HandsOutStill(Transfer):
    """A result never says that ranks may be at it."""

    def hand_out(self, s: State, client: int) -> State | None:
        after = super().hand_out(s, client)
        return after and after._replace(held=s.held)


class _GoneStays(Transfer):
    def client_gone(self, s: State, client: int) -> State | None:
        after = super().client_gone(s, client)
        return after and after._replace(hand=s.hand)


class _AbandonForgets(Transfer):
    def abandon(self, s: State, number: int) -> State | None:
        after = super().abandon(s, number)
        return after and after._replace(without=s.without)


MUTANTS = (_LeavesOpen, _FenceKeepsQueued, _DoneIsSpare, _GoneStays, _AbandonForgets, _SettledStays, _HandsOutStill)


@pytest.mark.tlc
def test_the_spec_tells_the_model_from_its_mutants() -> None:
    config = FIXED["1 rank, everybody may go"]
    wanted = spec_graph(config)
    assert not compare(wanted, named(build(Transfer(config))))
    assert [kind.__name__ for kind in MUTANTS if not compare(wanted, named(build(kind(config))))] == []


@pytest.mark.tlc
def test_the_shipped_model_is_its_spec() -> None:
    wanted, difference = compared_shipped(SHIPPED["guarded"])
    assert len(wanted.states) > 100
    assert not difference, difference.text()
