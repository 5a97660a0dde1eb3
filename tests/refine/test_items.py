"""Bitmask is dispatch, in both directions; what extends dispatch refines broadcast; the models are the specs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models.bitmask import Bitmask, Guards, as_dispatch
from models.bitmask import Config as BitmaskConfig
from models.dispatch import Dispatch
from models.dispatch_refines import Remembering, abstract, image
from models.item_channel import Config as ItemConfig
from models.item_channel import ItemChannel
from models.refinement import refine
from tests.refine import bitmask_graphs, item_graphs
from tests.refine.bitmask_graphs import dispatch_config, equivalent

R = frozenset[int]

_BITMASKS = bitmask_graphs.FIXED | bitmask_graphs.MORE
LARGER = BitmaskConfig(ranks=3, leavers=R({1}), mortal=R({0}), max_calls=2, max_epoch=1)


@pytest.mark.parametrize("config", [*_BITMASKS.values(), LARGER], ids=[*_BITMASKS, "3 ranks"])
def test_bitmask_and_dispatch_are_one_graph(config: BitmaskConfig) -> None:
    states, edges, wrong = equivalent(config)
    assert wrong == ""
    assert edges > states > 500


@pytest.mark.parametrize("guard", Guards.names())
def test_without_a_guard_they_are_not(guard: str) -> None:
    config = BitmaskConfig(mortal=R({0}), max_calls=2)
    assert equivalent(config)[2] == ""
    assert equivalent(replace(config, guards=Guards.without(guard)))[2] != ""


@pytest.mark.parametrize("guard", ["PutKeepsMask", "ClearKeepsStarted"])
def test_the_refinement_names_the_step(guard: str) -> None:
    config = BitmaskConfig(guards=Guards.without(guard))
    result = refine(Bitmask(config), Dispatch(dispatch_config(config)), as_dispatch)
    assert result.failure is not None
    step = {"PutKeepsMask": {"PutTasks"}, "ClearKeepsStarted": {"ClearRank", "ClearProducer"}}[guard]
    assert result.failure.path.actions[-1].name in step


@pytest.mark.parametrize(
    "config", [ItemConfig(mortal=R({0}), leavers=R({1})), ItemConfig(producers=2, max_calls=3, mortal_producers=R({0}))]
)
def test_an_item_channel_refines_broadcast(config: ItemConfig) -> None:
    result = refine(Remembering(ItemChannel(config)), abstract(config), image)
    assert result.ok, str(result.failure)
    assert result.steps > 300
    assert "Clear" not in {name for matched in result.simulates.values() for name in matched}


@pytest.mark.tlc
@pytest.mark.parametrize("name", _BITMASKS)
def test_bitmask_is_its_spec(name: str) -> None:
    wanted, difference = bitmask_graphs.compared(_BITMASKS[name])
    assert len(wanted.states) > 500
    assert not difference, difference.text()


@pytest.mark.tlc
@pytest.mark.parametrize("protocol", item_graphs.FIXED)
def test_an_item_channel_is_its_spec(protocol: str) -> None:
    for config in item_graphs.FIXED[protocol].values():
        _, difference = item_graphs.compared(protocol, config)
        assert not difference, difference.text()
