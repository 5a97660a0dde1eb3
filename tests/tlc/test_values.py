"""Values as TLC prints them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tla.values import Function, ModelValue, ValueSyntaxError, parse, parse_state, show

PRINTED = [
    ("0", 0),
    ("-12", -12),
    ("TRUE", True),
    ("FALSE", False),
    ('"put: scan"', "put: scan"),
    (r'"a \"b\" \\ c\n"', 'a "b" \\ c\n'),
    ("<<>>", ()),
    ("<<1, <<2>>, {}>>", (1, (2,), frozenset())),
    ("{{}, {0, 1}}", frozenset({frozenset(), frozenset({0, 1})})),
    ("[id |-> 1, taken |-> {0}]", {"id": 1, "taken": frozenset({0})}),
    ("(0 :> <<>> @@ 1 :> <<7>>)", {0: (), 1: (7,)}),
    ('(<<"p", 0>> :> TRUE)', {("p", 0): True}),
    ("1..3", frozenset({1, 2, 3})),
    ("(5)", 5),
    ("{a1, b}", frozenset({"a1", "b"})),
    ("<<[producer |-> 0,\n   id |-> 1],\n  2>>", ({"producer": 0, "id": 1}, 2)),
]


@pytest.mark.parametrize(("text", "value"), PRINTED)
def test_parse(text: str, value: object) -> None:
    assert parse(text) == value


def test_booleans_are_not_numbers() -> None:
    assert parse("TRUE") is True
    assert type(parse("1")) is int


def test_model_values_are_told_from_strings() -> None:
    assert type(parse("r1")) is ModelValue
    assert type(parse('"r1"')) is str


@pytest.mark.parametrize("text", ["", "<<1", "{1 2}", "[a |-> ]", "(0 :> 1", "1 2", "#", '"open', "[1 |-> 2", ">>"])
def test_what_is_not_a_value_is_refused(text: str) -> None:
    with pytest.raises(ValueSyntaxError):
        parse(text)


_ATOMS = st.one_of(st.integers(), st.booleans(), st.text(max_size=6))


def _composed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    names = st.from_regex(r"[a-z][a-z0-9_]{0,4}", fullmatch=True)
    return st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.frozensets(st.integers(), max_size=3),
        st.dictionaries(names, inner, min_size=1, max_size=3).map(Function),
        st.dictionaries(st.integers(), inner, min_size=1, max_size=3).map(Function),
    )


@given(st.recursive(_ATOMS, _composed, max_leaves=8))
def test_what_is_shown_can_be_parsed(value: object) -> None:
    assert parse(show(value)) == value


def test_a_function_is_a_value() -> None:
    one, other = parse("(1 :> 2 @@ 3 :> {4})"), parse("(3 :> {4} @@ 1 :> 2)")
    assert one == other == {1: 2, 3: frozenset({4})}
    assert hash(one) == hash(other)
    assert one != parse("(1 :> 2)")
    assert len({one, other}) == 1


def test_a_state_has_its_variables() -> None:
    memo: dict[str, Any] = {}
    state = parse_state("/\\ n = 1\n/\\ log = <<[id |-> 1,\n    taken |-> {0}]>>\n/\\ exist = TRUE", memo)
    assert state == {"n": 1, "log": ({"id": 1, "taken": frozenset({0})},), "exist": True}
    again = parse_state("/\\ exist = TRUE\n/\\ n = 1", memo)
    assert again["exist"] is True
    assert len(memo) == 3


def test_a_state_of_one_variable_has_no_bullet() -> None:
    assert parse_state("n = 3") == {"n": 3}


@pytest.mark.parametrize("text", ["", "3", "/\\ x"])
def test_what_is_not_a_state_is_refused(text: str) -> None:
    with pytest.raises(ValueSyntaxError):
        parse_state(text)
