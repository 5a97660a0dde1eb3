"""Everything that is claimed of typed access holds, and each guard is needed."""

from __future__ import annotations

from typing import Any

import pytest

from models import word, word_counter, word_lock, word_sequence
from models.explore import explore
from models.graph import build
from models.liveness import leads_to
from models.word_bugs import BUGS, SHIPPED, Bug, model_of
from tests.explore.contract import contract
from tla import manifest

R = frozenset[int]

# Configurations of the manifest, whose states and depth the models have too.
COUNTS: dict[str, tuple[str, Any]] = {
    "Word_small": ("Word", word.Config(sets=1, mortal=R({0, 1}))),
    "Word_twice": ("Word", word.Config(limited=True)),
    "Word_superseded": ("Word", word.Config(sets=1, supersede=True, mortal=R({0}))),
    "Word_waiters": ("Word", word.Config(waiters=2, limited=True, mortal=R({1}))),
    "Counter_small": ("Counter", word_counter.Config(2, 1, 2, R({0, 2}))),
    "Sequence_small": ("Sequence", word_sequence.Config(mortal=R({0}))),
    "Sequence_writers": ("Sequence", word_sequence.Config(writers=2, mortal=R({0}))),
    "IpcLock_small": ("IpcLock", word_lock.Config(processes=3, mortal=R({1}))),
    "IpcLock_shared": (
        "IpcLock",
        word_lock.Config(processes=3, calls=2, clearers=R({0, 1}), sharers=R({0, 2})),
    ),
}
LIVE: dict[str, Any] = {"Word": word, "Sequence": word_sequence, "IpcLock": word_lock}
ENTRIES = {entry.name: entry for entry in manifest.load() if entry.folder == "word"}
# Found only after too many states for every run; TLC finds it in the nightly one.
SLOW = {"FreshTokens"}


@pytest.mark.parametrize("name", COUNTS)
def test_everything_holds(name: str) -> None:
    part, config = COUNTS[name]
    model = model_of(part, config)
    result = explore(model)
    assert result.ok, f"{result.violation} {result.unreached}"
    assert (result.distinct, result.depth) == (ENTRIES[name].distinct, ENTRIES[name].depth)
    if part in LIVE and result.distinct < 3000:
        graph = build(model)
        for prop in LIVE[part].liveness(model):
            assert leads_to(graph, prop, LIVE[part].fairness(model)) is None, prop.name


@pytest.mark.parametrize("name", sorted({*BUGS, "Shipped"} - SLOW))
def test_without_a_guard_its_property_fails(name: str) -> None:
    bug: Bug = SHIPPED if name == "Shipped" else BUGS[name]
    model = model_of(bug.part, bug.config)
    if not bug.liveness:
        found = explore(model, only=[bug.violates]).violation
        assert found is not None
        assert len(found.path) + 1 == ENTRIES[f"{bug.part}_bug_{name}"].depth
        return
    graph = build(model)
    (prop,) = (prop for prop in LIVE[bug.part].liveness(model) if prop.name == bug.violates)
    assert leads_to(graph, prop, LIVE[bug.part].fairness(model)) is not None


def test_the_contract_and_the_bugs_agree() -> None:
    guards = {
        guard["constant"]: (part["name"], guard["violates"], guard["race"])
        for part in contract("word")["part"]
        for guard in part["guard"]
    }
    assert guards == {name: (bug.part, bug.violates, bug.race) for name, bug in BUGS.items()}
    for name, bug in BUGS.items():
        entry = ENTRIES[f"{bug.part}_bug_{name}"]
        assert (entry.violates, entry.race) == (bug.violates, bug.race)
        assert name in entry.config().switched_off()
