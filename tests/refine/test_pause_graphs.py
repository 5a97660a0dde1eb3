"""The comparison of the pause model with its specification has teeth: small mistakes of a model are seen."""

from __future__ import annotations

import pytest

from models.graph import build, compare, named
from models.pause import Config, Pause, State, Steps
from tests.refine.pause_graphs import SHIPPED, compared, compared_shipped

pytestmark = pytest.mark.tlc


class _SharperKeepsMode(Pause):
    def call_pause(self, s: State) -> Steps:
        for action, after in super().call_pause(s):
            yield action, after if s.phase == "run" else after._replace(mode=s.mode)


class _SharperBegins(Pause):
    def call_pause(self, s: State) -> Steps:
        for action, after in super().call_pause(s):
            yield action, after._replace(began=after.order)


class _ResumeForgetsItsClient(Pause):
    def call_resume(self, s: State) -> Steps:
        for action, after in super().call_resume(s):
            yield action, after._replace(awaited=s.awaited)


class _GivesUpTheOrder(Pause):
    def give_up(self, s: State) -> Steps:
        for action, after in super().give_up(s):
            yield action, after._replace(phase="run") if s.waiting[0] == "pause" else after


class _TheDeadAreNotAwaited(Pause):
    def resume_returns(self, s: State) -> Steps:
        yield from super().resume_returns(s._replace(seen=(s.order,) * len(s.seen)) if "dead" in s.status else s)


class _ReturnsUnpromised(Pause):
    def pause_returns(self, s: State) -> Steps:
        for action, after in super().pause_returns(s):
            yield action, after._replace(promised=s.promised)


class _LeavesWithJobs(Pause):
    def leave(self, s: State) -> Steps:
        for action, after in super().leave(s._replace(running=(0,) * len(s.running))):
            yield action, after._replace(running=s.running)


MUTANTS = (
    _SharperKeepsMode,
    _SharperBegins,
    _ResumeForgetsItsClient,
    _GivesUpTheOrder,
    _TheDeadAreNotAwaited,
    _ReturnsUnpromised,
    _LeavesWithJobs,
)


# One client that gives up may sharpen its own pause.
CONFIG = Config(
    ranks=1, modes=frozenset({0, 2}), leavers=frozenset({0}), mortal=frozenset({0}), impatient=frozenset({1})
)


def test_the_spec_tells_the_model_from_its_mutants() -> None:
    wanted, difference = compared(CONFIG)
    assert len(wanted.states) > 100
    assert not difference, difference.text()
    assert [kind.__name__ for kind in MUTANTS if not compare(wanted, named(build(kind(CONFIG))))] == []


def test_the_shipped_model_is_its_spec() -> None:
    wanted, difference = compared_shipped(SHIPPED["1 rank, as it is"])
    assert len(wanted.states) > 300
    assert not difference, difference.text()
