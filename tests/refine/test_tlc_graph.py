"""TLC's own graph tells the model from its planted faults; a spec of other variables is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models.dispatch import Config, Dispatch, State
from models.graph import build, compare, named
from tests.refine.dispatch_graphs import decode, spec_graph
from tests.refine.mutants import CONFIG, MUTANTS
from tests.refine.tlc_graph import config_text, function, tlc_graph


@pytest.mark.tlc
def test_the_spec_equals_the_model_and_none_of_its_mutants() -> None:
    wanted = spec_graph(CONFIG)
    assert not compare(wanted, named(build(Dispatch(CONFIG))))
    survivors = [name for name, mutant in MUTANTS.items() if not compare(wanted, named(build(mutant())))]
    assert survivors == []


@pytest.mark.tlc
def test_a_spec_with_other_variables_is_refused() -> None:
    constants = Config(ranks=1, max_calls=1).constants()
    with pytest.raises(ValueError, match="has the variables"):
        tlc_graph("dispatch/Dispatch.tla", constants, State._fields[1:], decode)


@pytest.mark.tlc
def test_a_decoding_that_loses_something_is_refused() -> None:
    constants = Config(ranks=1, max_calls=1).constants()
    with pytest.raises(ValueError, match="are one state"):
        tlc_graph("dispatch/Dispatch.tla", constants, State._fields, lambda state: decode(state)._replace(calls=0))


def test_a_configuration_is_written_as_tla() -> None:
    text = config_text(Config(mortal=frozenset({1, 0})).constants())
    assert text.startswith("SPECIFICATION Spec\nCONSTANTS\n    N = 2\n")
    assert "    Mortal = {0, 1}\n    MortalProducers = {}\n" in text
    assert text.endswith("    JoinSkips = TRUE\n")


def test_an_unbounded_configuration_is_refused() -> None:
    with pytest.raises(ValueError, match="a bound for MaxCalls"):
        config_text(replace(Config(), max_calls=None).constants())


def test_a_function_must_have_the_whole_domain() -> None:
    assert function({0: "a", 1: "b"}, 2) == ("a", "b")
    with pytest.raises(ValueError, match="not a function"):
        function({0: "a"}, 2)
