"""Every step of dispatch is a step of the abstract broadcast, or invisible there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models import broadcast
from models.broadcast import Broadcast
from models.dispatch import Config, Dispatch, Guards, State
from models.explore import explore
from models.graph import build
from models.refinement import Refinement, refine

R = frozenset[int]

CONFIGS = {
    "1 rank": Config(ranks=1, mortal=R({0}), leavers=R({0}), max_calls=3),
    "2 ranks, crash": Config(mortal=R({0}), leavers=R({1})),
    "3 ranks, crash": Config(ranks=3, mortal=R({2})),
    "2 batches retained": Config(depth=2, max_calls=3),
    "producers crash": Config(per_producer=2, mortal_producers=R({0})),
}

# What each action does in the abstract. Everything else stutters always.
SIMULATES = {"PutTasks": {"Publish"}, "GetTasks": {"Take"}, "Join": {"Miss", "(stutter)"}}
CLEARS = {"ClearRank": {"Clear", "(stutter)"}, "ClearProducer": {"Clear", "(stutter)"}}


def seen(s: State) -> broadcast.State:
    """Dispatch, seen from outside: retained batches, clears, deliveries."""
    return broadcast.State(tuple(broadcast.Batch(entry.id, entry.taken) for entry in s.log), s.epoch, s.got)


def refined(config: Config) -> Refinement[State, broadcast.State]:
    abstract = Broadcast(config.ranks, config.depth, config.max_calls or 0, config.max_epoch or 0)
    # A faulty model may be infinite; the failure must be among the nearest states.
    return refine(build(Dispatch(config), max_states=20_000), abstract, seen)


@pytest.mark.parametrize("name", CONFIGS)
def test_dispatch_refines_broadcast(name: str) -> None:
    result = refined(CONFIGS[name])
    assert result.ok, str(result.failure)
    assert result.steps > 500
    expected = SIMULATES | CLEARS
    for action, matched in result.simulates.items():
        assert set(matched) <= expected.get(action, {"(stutter)"}), action
    assert "Take" in result.simulates["GetTasks"]


def test_the_abstract_model_keeps_its_own_promises() -> None:
    result = explore(Broadcast(ranks=3, depth=2, max_id=3, max_epoch=1))
    assert result.ok
    assert (result.distinct, set(result.coverage)) == (4142, {"Publish", "Take", "Miss", "Clear"})


@pytest.mark.parametrize(
    ("guard", "config", "action"),
    [
        ("ClearKeepsStarted", Config(), "Clear"),
        ("PutsInOrder", Config(producers=2), "PutTasks"),
    ],
)
def test_a_fault_that_can_be_seen_from_outside_breaks_the_refinement(guard: str, config: Config, action: str) -> None:
    result = refined(replace(config, guards=Guards.without(guard)))
    assert result.failure is not None
    assert result.failure.path.actions[-1].name.startswith(action)
    assert "no abstract step" in str(result.failure)
