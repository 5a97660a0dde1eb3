"""The comparison of the mailbox model with its specification has teeth: small mistakes of a model are seen."""

from __future__ import annotations

import pytest

from models.graph import build, compare, named
from models.kernel import replaced
from models.mailbox import Config, Mailbox, State
from tests.refine.mailbox_graphs import SHIPPED, compared_shipped, spec_graph


class _LostOneByOne(Mailbox):
    """The batch is told to be lost, and what waits behind it is not."""

    def lost(self, s: State, r: int) -> State | None:
        after = super().lost(s, r)
        told = s.dropped[r - 1] + len(s.flights[r - 1][0]) if after else 0
        return after and after._replace(dropped=replaced(after.dropped, r - 1, told))


class _DeadIsKnown(Mailbox):
    """A message for a dead client is refused at once."""

    def sent(self, s: State):  # type: ignore[no-untyped-def]
        for action, after in super().sent(s):
            if "dead" not in s.clients:
                yield action, after


class _CloseEndsFlights(Mailbox):
    """A close ends requests of which a batch is being sent."""

    def close(self, s: State) -> State | None:
        after = super().close(s)
        return after and after._replace(stage=tuple("closed" if x == "open" else x for x in s.stage))


class _HandleOfTheDead(Mailbox):
    """The handle of a client that has died is dropped."""

    def handle(self, s: State):  # type: ignore[no-untyped-def]
        for action, after in super().handle(s):
            if s.clients[action.params[1][1] - 1] == "live":
                yield action, after


MUTANTS = (_LostOneByOne, _DeadIsKnown, _CloseEndsFlights, _HandleOfTheDead)


@pytest.mark.tlc
def test_the_spec_tells_the_model_from_its_mutants() -> None:
    config = Config(mortal=frozenset({1}), closes=True)
    wanted = spec_graph(config)
    assert not compare(wanted, named(build(Mailbox(config))))
    assert [kind.__name__ for kind in MUTANTS if not compare(wanted, named(build(kind(config))))] == []


@pytest.mark.tlc
def test_the_shipped_model_is_its_spec() -> None:
    wanted, difference = compared_shipped(SHIPPED["3 results, all may happen"])
    assert len(wanted.states) > 100
    assert not difference, difference.text()
