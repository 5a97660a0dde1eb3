"""Everything that is claimed of dispatch holds in every reachable state, and the claims are not empty."""

from __future__ import annotations

import pytest

from models.dispatch import Config, Dispatch, Guards, State
from models.dispatch_bugs import BUGS
from models.dispatch_liveness import liveness
from models.explore import explore
from tests.explore.claims import everything_holds
from tests.explore.contract import contract, guards_are_those, names_are_those

R = frozenset[int]

# Configuration -> distinct states and depth. A change of a number is a change of the protocol: review it.
COUNTS = {
    "1 rank": (Config(ranks=1), 62, 9),
    "2 ranks": (Config(), 280, 13),
    "3 ranks": (Config(ranks=3), 1250, 17),
    "1 rank that crashes and leaves": (Config(ranks=1, mortal=R({0}), leavers=R({0}), max_calls=3), 532, 16),
    "2 ranks that crash": (Config(mortal=R({0, 1}), leavers=R({1})), 4804, 21),
    "3 ranks, 1 crashes": (Config(ranks=3, mortal=R({2})), 5356, 23),
    "3 ranks, 2 batches retained": (Config(ranks=3, depth=2, max_calls=3), 4697, 22),
    "2 producers that come and go": (Config(producers=2, mortal_producers=R({0, 1}), quitters=R({0})), 7620, 17),
    "1 producer, 2 calls at once": (Config(per_producer=2, mortal_producers=R({0}), max_calls=3), 2529, 19),
    "2 batches retained, crash": (Config(depth=2, max_calls=3, mortal=R({1})), 4468, 23),
}


@pytest.mark.parametrize("name", COUNTS)
def test_everything_holds(name: str) -> None:
    config, distinct, depth = COUNTS[name]
    assert everything_holds(Dispatch(config), distinct, depth).unreached == ()


def test_every_action_is_taken_in_some_configuration() -> None:
    taken = {name for config, _, _ in COUNTS.values() for name in explore(Dispatch(config), only=()).coverage}
    assert taken == set(Dispatch().actions)


def test_the_model_has_the_contract_names() -> None:
    names_are_those("dispatch", Dispatch(), State._fields, liveness(Config()), Config().constants())


def test_actions_carry_the_contract_parameters() -> None:
    spec = {action["name"]: action["params"] for action in contract("dispatch")["action"]}
    with_id = {"CallPut", "PutTasks", "PutLost", "PutTimeout"}
    everything = Config(mortal=R({0}), leavers=R({1}), mortal_producers=R({0}), quitters=R({0}))
    model = Dispatch(everything)
    seen = {}
    states = [*model.initial()]
    visited = set(states)
    while states:
        for action, after in model.steps(states.pop()):
            seen[action.name] = [key for key, _ in action.params]
            if after not in visited:
                visited.add(after)
                states.append(after)
    assert seen == {name: [*params, *(["id"] if name in with_id else [])] for name, params in spec.items()}


def test_every_guard_of_the_contract_can_be_taken_away() -> None:
    guards_are_those("dispatch", Guards, BUGS)


@pytest.mark.parametrize(
    ("values", "match"),
    [({"ranks": 0}, "at least 1"), ({"mortal": R({2})}, "ranks below 2"), ({"quitters": R({1})}, "producers below 1")],
)
def test_a_configuration_that_means_nothing_is_refused(values: dict[str, int], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        Config(**values)  # type: ignore[arg-type]
