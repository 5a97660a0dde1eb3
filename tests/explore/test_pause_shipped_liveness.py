"""P6.3: in the shipped pause a rank that has died stops the pause, or the resume; where all live, both come."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models.graph import build
from models.liveness import leads_to
from models.pause_shipped import Config, PauseShipped
from models.pause_shipped_liveness import LIVENESS_RACES, PROMISES, fairness
from tla import manifest


def _broken(config: Config) -> set[str]:
    graph, fair = build(PauseShipped(config)), fairness(config)
    return {name for name, promise in PROMISES.items() if leads_to(graph, promise, fair) is not None}


@pytest.mark.parametrize("config", [Config(), Config(ranks=1, tasks=2), Config(ranks=1, atomic=False)])
def test_where_all_live_every_call_returns(config: Config) -> None:
    assert _broken(config) == set()


@pytest.mark.parametrize("name", LIVENESS_RACES)
def test_one_that_has_died_is_waited_for(name: str) -> None:
    race = LIVENESS_RACES[name]
    assert race.violates in _broken(race.config)
    assert _broken(replace(race.config, mortal=frozenset())) == set()


def test_a_lost_update_or_a_task_that_was_not_there_stops_the_pause_too() -> None:
    assert "PauseComes" in _broken(Config(ranks=1, atomic=False, tasks=2))  # B28
    assert "PauseComes" in _broken(Config(ranks=1, counts_after=False, clears=True))  # P5.3


def test_the_manifest_has_these() -> None:
    entries = [entry for entry in manifest.load() if entry.module == "MCPauseShipped" and entry.mode == "live"]
    found = {(entry.name.partition("_bug_")[2], entry.violates) for entry in entries if entry.violates}
    assert found == {(name.replace(".", "_"), race.violates) for name, race in LIVENESS_RACES.items()}
    holds = [entry for entry in entries if not entry.violates]
    assert [set(entry.config().properties) for entry in holds] == [set(PROMISES)]
