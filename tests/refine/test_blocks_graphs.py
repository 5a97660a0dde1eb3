"""The comparison of the blocks model with its specification has teeth: small mistakes of a model are seen."""

from __future__ import annotations

import pytest

from models.blocks import Blocks, Config, State
from models.graph import build, compare, named
from tests.refine.blocks_graphs import SHIPPED, compared_shipped, spec_graph


class _FailedMoves(Blocks):
    def handle(self, s: State):  # type: ignore[no-untyped-def]
        for action, after in super().handle(s):
            task = s.tasks[s.hand - 1]
            moved = after._replace(free=s.free | task.source)
            yield action, moved if task.out == "failed" and not task.told else after


class _RefusedAreFree(Blocks):
    def __init__(self, config=None) -> None:  # type: ignore[no-untyped-def]
        super().__init__(config)
        refuse = self.actions["Refuse"]
        self.actions = {**self.actions, "Refuse": lambda s: self._freed(refuse(s), s)}

    @staticmethod
    def _freed(steps, s: State):  # type: ignore[no-untyped-def]
        for action, after in steps:
            yield action, after._replace(leases=s.leases, free=s.free | s.tasks[action.params[0][1] - 1].held)


class _StaleIsForgotten(Blocks):
    def free_stale(self, s: State):  # type: ignore[no-untyped-def]
        return iter(())


class _NothingAfterTheEnd(Blocks):
    def free(self, s: State):  # type: ignore[no-untyped-def]
        return super().free(s) if s.phase in ("open", "resetting") else iter(())


MUTANTS = (_FailedMoves, _RefusedAreFree, _StaleIsForgotten, _NothingAfterTheEnd)


@pytest.mark.tlc
def test_the_spec_tells_the_model_from_its_mutants() -> None:
    config = Config(refuses=True, closes=True)  # few states, and every mistake shows
    wanted = spec_graph(config)
    assert not compare(wanted, named(build(Blocks(config))))
    assert [kind.__name__ for kind in MUTANTS if not compare(wanted, named(build(kind(config))))] == []


@pytest.mark.tlc
def test_the_shipped_model_is_its_spec() -> None:
    wanted, difference = compared_shipped(SHIPPED["P8.1"])
    assert len(wanted.states) > 80
    assert not difference, difference.text()
