"""The messages of links, and the threads that do calls."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import fdcomm.errors
from fdcomm.errors import FdcommError, PayloadError, UndecodableError
from fdcomm.link import frames
from fdcomm.link.options import ZmqLink, endpoint_of
from fdcomm.link.workers import Workers
from fdcomm.runtime import SYSTEM

ERRORS = [getattr(fdcomm.errors, name) for name in fdcomm.errors.__all__]


@pytest.mark.parametrize(
    "value",
    [
        None,
        (1, b"x" * 70_000, True, -5, 2.5, "text"),
        {1: (2, 3), "a": [{4, 5}, frozenset({6})], (1, 2): None},
        [b"x" * 65_535, b"y" * 65_536, [b"z" * 100_000]],
        (),
    ],
)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    back = frames.unpack(frames.pack(value))
    assert back == value
    assert repr(back) == repr(value)


@pytest.mark.parametrize("value", [object(), {"a": object()}, 2**64, bytearray(b"x"), lambda: None])
def test_what_is_no_plain_value_is_refused(value: Any) -> None:
    with pytest.raises(PayloadError):
        frames.pack(value)


def test_depth_is_bounded() -> None:
    deep: Any = 1
    for _ in range(100):
        deep = [deep]
    with pytest.raises(PayloadError):
        frames.pack(deep)


@pytest.mark.parametrize("message", [[], [b""], [b"\xc1"], [b"\xc7\xff"], [b"\xc7\x04\x04\x00\x00\x00\x07"]])
def test_a_damaged_value_is_refused(message: list[bytes]) -> None:
    with pytest.raises(UndecodableError):
        frames.unpack(message)


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: str(kind.__name__))
def test_an_error_crosses_with_its_class_and_fields(kind: type[FdcommError]) -> None:
    error = kind("what", operation="put", missing=(1, 2), epoch=3, waited_s=1.5, request=("a", 1))
    value, back = frames.outcome(frames.answer(None, error))
    assert value is None
    assert type(back) is kind
    assert vars(back) == vars(error)


def test_any_other_error_is_told_of() -> None:
    _, error = frames.outcome(frames.answer(None, KeyError("k")))
    assert type(error) is fdcomm.errors.ProtocolViolationError
    assert "KeyError" in str(error)


def test_a_request_that_is_somebodys_object_is_shown() -> None:
    _, error = frames.outcome(frames.answer(None, FdcommError("x", request=object())))
    assert error is not None
    assert "object" in str(error.request)


@pytest.mark.parametrize(
    "value",
    [1, (True,), (False, "os", "x", {}), (False, "KeyError", "x", {}), (False, "FdcommError", "x", {"evil": 1})],
)
def test_an_answer_that_is_none_is_refused(value: Any) -> None:
    with pytest.raises(UndecodableError):
        frames.outcome(frames.pack(value))


@pytest.mark.parametrize(("header", "shape"), [(b"", "n"), (b"\x91\xff", "n"), (b"\x91\x01", "l"), (b"\x91\x01", "nn")])
def test_a_damaged_header_is_refused(header: bytes, shape: str) -> None:
    with pytest.raises(UndecodableError):
        frames.numbers(header, shape)


def test_jobs_wait_for_nobody() -> None:
    """A job may wait for one that is submitted after it."""
    workers, second, done = Workers(SYSTEM, "test"), threading.Event(), threading.Event()

    def waits() -> None:
        if second.wait(60):
            done.set()

    workers.submit(waits)
    workers.submit(second.set)
    assert done.wait(60)


def test_addresses_are_numeric() -> None:
    assert endpoint_of("127.0.0.1", 7) == "tcp://127.0.0.1:7"
    assert endpoint_of("::1", 7) == "tcp://[::1]:7"
    with pytest.raises(fdcomm.errors.ConfigError):
        endpoint_of("no.such.name.invalid", 7)


def test_a_sign_of_life_is_a_tenth_of_the_grace() -> None:
    assert (ZmqLink(grace_s=5.0).beat_s, ZmqLink(heartbeat_s=0.25).beat_s) == (0.5, 0.25)
