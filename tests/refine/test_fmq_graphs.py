"""The comparison of the FMQ model with its specification has teeth: small mistakes of a model are seen."""

from __future__ import annotations

import pytest

from models.fmq import Config, Fmq, State
from models.graph import build, compare, named
from tests.refine.fmq_graphs import SHIPPED, compared_shipped, spec_graph


class _TellsOnce(Fmq):
    def _drop(self, s: State, p: int, c: int) -> State | None:
        after = super()._drop(s, p, c)
        return None if after is None else after._replace(told=s.told)


class _AnswersTheFirst(Fmq):
    def _take(self, s: State, p: int, c: int) -> State | None:
        after = super()._take(s, p, c)
        return after if after is None or not s.peer[p] else after._replace(peer=s.peer)


class _RemovesNothing(Fmq):
    def _finish(self, s: State, p: int) -> State | None:
        after = super()._finish(s, p)
        return None if after is None else after._replace(there=s.there)


class _HearsTheOldLink(Fmq):
    def _connect(self, s: State, p: int) -> State | None:
        after = super()._connect(s, p)
        return None if after is None else after._replace(ack=s.ack)


MUTANTS = (_TellsOnce, _AnswersTheFirst, _RemovesNothing, _HearsTheOldLink)


@pytest.mark.tlc
def test_the_spec_tells_the_model_from_its_mutants() -> None:
    config = Config(max_sent=1, window=1, large=frozenset({1}))
    wanted = spec_graph(config)
    assert len(wanted.states) > 300
    assert not compare(wanted, named(build(Fmq(config))))
    two = Config(max_starts=1, mortal=frozenset(), large=frozenset())
    found = {kind: compare(wanted, named(build(kind(config)))) for kind in MUTANTS}
    unseen = [kind for kind, difference in found.items() if not difference]
    # What needs a second message is looked for among two.
    graph = spec_graph(two) if unseen else None
    assert graph is None or [k.__name__ for k in unseen if not compare(graph, named(build(k(two))))] == []


@pytest.mark.tlc
def test_the_shipped_model_is_its_spec() -> None:
    wanted, difference = compared_shipped(SHIPPED["payload-lost"])
    assert len(wanted.states) > 10
    assert not difference, difference.text()
