"""How answers become one, and by what a request is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fdcomm.combine import all_succeeded, error_wins, first_of_equal, request_key
from fdcomm.errors import ConfigError, InconsistentAnswersError, PayloadTooLargeError


@pytest.mark.parametrize(
    ("answers", "success"), [([True, True], True), ([True, False], False), ([0, 1], False), ([1, "yes"], True)]
)
def test_success_is_that_of_all(answers: list[Any], success: bool) -> None:
    given = [{"task_id": 1, "success": value, "rank": rank} for rank, value in enumerate(answers)]
    assert all_succeeded(given, "get") == {"task_id": 1, "success": success, "rank": 0}
    assert given[0]["success"] == answers[0]  # the rank's own answer is left as it was


@pytest.mark.parametrize("answer", [{}, None, ["success"], "success"])
def test_a_response_without_success_can_not_be_combined(answer: Any) -> None:
    with pytest.raises(InconsistentAnswersError, match="get"):
        all_succeeded([{"success": True}, answer], "get")


@pytest.mark.parametrize(
    ("statuses", "status"),
    [
        (["finished", "finished"], "finished"),
        (["first", "second"], "first"),
        (["finished", "write error", "other error"], "write error"),
        (["connect error", "write error"], "connect error"),
        ([("finished",), ("error",)], ("error",)),
    ],
)
def test_an_error_wins(statuses: list[Any], status: Any) -> None:
    assert error_wins([["id", value] for value in statuses], "get") == ["id", status]
    assert error_wins([("id", value) for value in statuses], "get") == ["id", status]


def test_equal_lists_are_one() -> None:
    assert first_of_equal([["a", "b"], ["a", "b"]], "get") == ["a", "b"]
    with pytest.raises(InconsistentAnswersError, match="differently"):
        first_of_equal([["a", "b"], ["a"]], "get")


class _Name(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ("a", "a"),
        (_Name("a"), "a"),
        (3, 3),
        (np.int32(3), 3),
        (None, None),
        (["a", 1, None], ("a", 1, None)),
        ((("a",), []), (("a",), ())),
    ],
)
def test_a_key_is_plain(value: Any, key: Any) -> None:
    found = request_key(value, "put")
    assert found == key
    assert type(found) is type(key)


@pytest.mark.parametrize("value", [True, np.True_, 1.0, b"a", {"a": 1}, {"a"}, object(), ["a", 1.0]])
def test_what_ranks_could_name_differently_is_no_key(value: Any) -> None:
    with pytest.raises(ConfigError, match="put"):
        request_key(value, "put")


@pytest.mark.parametrize("value", ["x" * ((1 << 20) + 1), ["x" * 1024] * 1024, [[]] * ((1 << 20) + 1)])
def test_a_key_has_a_limit(value: Any) -> None:
    with pytest.raises(PayloadTooLargeError):
        request_key(value, "put")
