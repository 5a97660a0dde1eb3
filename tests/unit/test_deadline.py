"""Time limits: what is accepted, the default, and the arithmetic on an injected clock."""

from __future__ import annotations

import math
from typing import Any

import pytest

from fdcomm import ConfigError
from fdcomm.deadline import DEFAULT, Deadline, default_timeout_s, timeout_seconds


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(("timeout", "seconds"), [(0, 0.0), (0.5, 0.5), (3, 3.0), (2_000_000, 2e6), (None, None)])
def test_accepted(timeout: Any, seconds: float | None) -> None:
    assert timeout_seconds(timeout, "put_tasks") == seconds


@pytest.mark.parametrize(
    "timeout", [-1, -1e-9, math.nan, math.inf, -math.inf, 2_000_001, 10**400, "1", b"1", True, [], 1j]
)
def test_refused(timeout: Any) -> None:
    with pytest.raises(ConfigError, match=r"put_tasks: timeout=.*write None to wait for ever") as caught:
        timeout_seconds(timeout, "put_tasks")
    assert caught.value.operation == "put_tasks"


def test_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FDCOMM_TIMEOUT", raising=False)
    assert default_timeout_s() == timeout_seconds(DEFAULT, "put_tasks") == 600.0
    monkeypatch.setenv("FDCOMM_TIMEOUT", "2.5")
    assert default_timeout_s() == timeout_seconds(DEFAULT, "put_tasks") == 2.5
    assert repr(DEFAULT) == "DEFAULT"


@pytest.mark.parametrize("text", ["", "soon", "-1", "nan", "inf", "1e9"])
def test_default_that_is_no_number(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("FDCOMM_TIMEOUT", text)
    with pytest.raises(ConfigError, match="FDCOMM_TIMEOUT="):
        timeout_seconds(DEFAULT, "put_tasks")
    assert timeout_seconds(1.0, "put_tasks") == 1.0  # not looked at when a limit was written


def test_arithmetic() -> None:
    clock = Clock()
    deadline = Deadline(2.0, clock)
    assert (deadline.remaining(), deadline.expired(), deadline.waited()) == (2.0, False, 0.0)
    clock.now += 1.5
    assert (deadline.remaining(), deadline.expired(), deadline.waited()) == (0.5, False, 1.5)
    clock.now += 0.5
    assert (deadline.remaining(), deadline.expired()) == (0.0, True)
    clock.now += 5
    assert (deadline.remaining(), deadline.expired(), deadline.waited()) == (0.0, True, 7.0)


def test_without_limit() -> None:
    clock = Clock()
    deadline = Deadline(None, clock)
    clock.now += 1e9
    assert (deadline.remaining(), deadline.expired()) == (None, False)
