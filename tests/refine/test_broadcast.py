"""Every step of dispatch is a step of the abstract broadcast, or invisible there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models import broadcast
from models.broadcast import Broadcast
from models.dispatch import Config, Dispatch, Guards
from models.dispatch_refines import Remembering, State, abstract, image
from models.explore import explore
from models.refinement import Refinement, refine
from tests.refine.broadcast_graphs import ABSTRACT, compared

R = frozenset[int]

CONFIGS = {
    "1 rank": Config(ranks=1, mortal=R({0}), leavers=R({0}), max_calls=3),
    "2 ranks, crash": Config(mortal=R({0}), leavers=R({1})),
    "3 ranks, crash": Config(ranks=3, mortal=R({2}), max_epoch=0),
    "2 batches retained": Config(depth=2, max_calls=3),
    "producers crash": Config(per_producer=2, mortal_producers=R({0}), quitters=R({0})),
}

# What each action is in the abstract. What is not listed always stutters.
SIMULATES = {
    "PutTasks": {"Send"},
    "GetTasks": {"Receive"},
    "Join": {"Enter", "Recover"},
    "Leave": {"Exit"},
    "Crash": {"Die"},
    "Fence": {"Lose"},
    "ClearRank": {"Clear", "(stutter)"},
    "ClearProducer": {"Clear", "(stutter)"},
    "Connect": {"WriterComesOrGoes"},
    "Disconnect": {"WriterComesOrGoes"},
    "FenceProducer": {"WriterComesOrGoes"},
}

# Guards without which a reader can tell: an environment, and the step that is no step of a broadcast.
SEEN = {
    "GuardOwnRead": (Config(), "GetTasks"),
    "ClearKeepsStarted": (Config(), "ClearRank"),
    "PutsInOrder": (Config(producers=2), "PutTasks"),
    "FencedCannotRead": (Config(mortal=R({0})), "GetTasks"),
    "JoinSkips": (Config(ranks=3, mortal=R({0})), "Join"),
}


def refined(config: Config) -> Refinement[State, broadcast.State]:
    return refine(Remembering(Dispatch(config)), abstract(config), image)


@pytest.mark.parametrize("name", CONFIGS)
def test_dispatch_refines_broadcast(name: str) -> None:
    result = refined(CONFIGS[name])
    assert result.ok, str(result.failure)
    assert result.steps > 500
    assert "Receive" in result.simulates["GetTasks"]
    for action, matched in result.simulates.items():
        assert set(matched) <= SIMULATES.get(action, {"(stutter)"}), action


@pytest.mark.parametrize("guard", SEEN)
def test_a_fault_that_a_reader_can_see_breaks_the_refinement(guard: str) -> None:
    config, action = SEEN[guard]
    result = refined(replace(config, guards=Guards.without(guard)))
    assert result.failure is not None
    assert result.failure.path.actions[-1].name == action
    assert "no abstract step" in str(result.failure)


@pytest.mark.parametrize("guard", sorted(set(Guards.names()) - set(SEEN)))
def test_a_fault_of_flags_and_calls_is_invisible_to_readers(guard: str) -> None:
    config = Config(mortal=R({0}), max_epoch=1, guards=Guards.without(guard))
    assert refined(config).ok


def test_a_wrong_start_is_seen() -> None:
    model = Remembering(Dispatch())
    result = refine(model, abstract(Config()), lambda s: image(s)._replace(epoch=1))
    assert result.failure is not None
    assert "not initial" in str(result.failure)


def test_the_abstract_model_keeps_its_own_promises() -> None:
    result = explore(Broadcast(ABSTRACT))
    assert result.ok
    assert (result.distinct, set(result.coverage)) == (2752, set(Broadcast().actions))


@pytest.mark.tlc
def test_the_abstract_model_is_its_spec() -> None:
    wanted, difference = compared(ABSTRACT)
    assert len(wanted.states) > 500
    assert not difference, difference.text()
