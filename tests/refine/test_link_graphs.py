"""The comparison of the link model with its specification has teeth: small mistakes of a model are seen."""

from __future__ import annotations

import pytest

from models.graph import build, compare, named
from models.link import Config, Link, Request, State
from tests.refine.link_graphs import spec_graph

pytestmark = pytest.mark.tlc


class _ForgetsRunning(Link):
    """A call that runs is forgotten when a request does not name it."""

    def stale(self, s: State, request: Request) -> State | None:
        after = super().stale(s, request)
        return after and after._replace(known=("none",) * self.config.calls)


class _TakesFirstCopy(Link):
    """A fence loses what is on its way."""

    def fence(self, s: State) -> State | None:
        after = super().fence(s)
        return after and after._replace(back=frozenset())


class _LateGoodbye(Link):
    """A goodbye closes a session that was fenced."""

    def depart(self, s: State, request: Request) -> State | None:
        after = super().depart(s, request)
        return after and after._replace(session="closed")


def test_mistakes_of_a_model_are_seen() -> None:
    """One run of TLC for all."""
    config = Config(calls=2, may_fence=True, closes=True)
    wanted = spec_graph(config)
    assert not compare(wanted, named(build(Link(config))))
    for mistaken in (_ForgetsRunning, _TakesFirstCopy, _LateGoodbye):
        assert compare(wanted, named(build(mistaken(config)))), mistaken
