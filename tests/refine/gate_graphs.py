"""The gate, as it is and as shipped, under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models import answers, gate_shipped
from models.gate import Answer, Config, Gate, Guards, Round, State
from models.gate_bugs import BUGS, FORGETFUL
from models.graph import Difference, Named, build, compare, named
from tests.refine.tlc_graph import function, tlc_graph

__all__ = (
    "ABSTRACT",
    "FAULTY",
    "FIXED",
    "SHIPPED",
    "UNGUARDED",
    "compared",
    "compared_abstract",
    "compared_shipped",
    "decode",
    "spec_graph",
)

R = frozenset[int]

# Small enough for TLC to dump in a few seconds, and together every action and every option.
FIXED: dict[str, Config] = {
    "2 ranks, everything": Config(max_issues=2, skippers=R({0}), leavers=R({0}), mortal=R({1})),
    "1 key again and again, crash": Config(keys=1, max_issues=3, max_late=3, skippers=R({0}), mortal=R({1})),
    "1 key, ends before the first answer": Config(keys=1, mortal=R({1}), silent=R({1})),
    "1 key, overlapping requests": Config(keys=1, max_issues=3, max_late=1, overlap=True, leavers=R({1})),
}

FAULTY: dict[str, Config] = {name: bug.config for name, bug in BUGS.items()} | {"MaxLate": FORGETFUL.config}

# Every guard at once.
UNGUARDED = Config(
    skippers=R({0}), mortal=R({1}), silent=R({0}), keys=1, overlap=True, guards=Guards.without(*Guards.names())
)

SHIPPED: dict[str, gate_shipped.Config] = {
    "2 ranks, no barrier, all may fail": gate_shipped.Config(
        requests=1, barrier=False, skippers=R({0}), mortal=R({1}), conflicts=R({1})
    ),
    "2 ranks, barrier": gate_shipped.Config(),
}

ABSTRACT = answers.Config(parties=2, requests=3, open=2)


def decode(state: Mapping[str, Any]) -> State:
    """Return the model's state for a state of TLC."""
    ranks = len(state["status"])
    return State(
        issued=tuple(state["issued"]),
        todo=function(state["todo"], ranks),
        status=function(state["status"], ranks),
        rounds=tuple(
            Round(r["key"], frozenset(Answer(**a) for a in r["answers"]), r["without"]) for r in state["rounds"]
        ),
        late=tuple(tuple(owed) for owed in function(state["late"], ranks)),
        collected=state["collected"],
        ended=state["ended"],
    )


def _decode_shipped(state: Mapping[str, Any]) -> gate_shipped.State:
    ranks = len(state["flags"])
    return gate_shipped.State(
        lock=state["lock"],
        list=tuple(gate_shipped.Answer(**a) for a in state["list"]),
        flags=function(state["flags"], ranks),
        canPut=state["canPut"],
        pc=function(state["pc"], ranks + 1),
        next=function(state["next"], ranks),
        alive=function(state["alive"], ranks + 1),
        taken=tuple(tuple(gate_shipped.Answer(**a) for a in answers) for answers in state["taken"]),
    )


def _decode_abstract(state: Mapping[str, Any]) -> answers.State:
    return answers.State(tuple(state["given"]), tuple(state["fate"]))


def spec_graph(config: Config) -> Named[State]:
    """Return TLC's graph of ``Gate.tla``."""
    return tlc_graph("gate/Gate.tla", config.constants(), State._fields, decode)


def compared(config: Config) -> tuple[Named[State], Difference[State]]:
    """Return TLC's graph, and what the model's graph lacks or has too much."""
    wanted = spec_graph(config)
    return wanted, compare(wanted, named(build(Gate(config))))


def compared_shipped(config: gate_shipped.Config) -> tuple[Named[gate_shipped.State], Difference[gate_shipped.State]]:
    """The same for the shipped gate."""
    fields = gate_shipped.State._fields
    wanted = tlc_graph("gate/GateShipped.tla", config.constants(), fields, _decode_shipped)
    return wanted, compare(wanted, named(build(gate_shipped.GateShipped(config))))


def compared_abstract(config: answers.Config) -> tuple[Named[answers.State], Difference[answers.State]]:
    """The same for what the gate refines."""
    fields = answers.State._fields
    wanted = tlc_graph("common/Answers.tla", config.constants(), fields, _decode_abstract, "AnswersSpec")
    return wanted, compare(wanted, named(build(answers.Answers(config))))
