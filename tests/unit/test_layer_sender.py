"""The sender of one rank, in one process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdcomm import (
    CacheInfoMissingError,
    ClosedError,
    CommTimeoutError,
    ConfigError,
    LayerProgress,
    LayerSender,
    LayerTimeoutError,
    ProtocolViolationError,
    TaskEndedError,
)
from tests.traces.layerwise_runs import Simulated

LIMIT_S = 60.0


class Bed:
    """A sender on simulated time."""

    def __init__(self, **options: Any) -> None:
        self.clock = Simulated()
        self.log: list[Any] = []
        settings: dict[str, Any] = {"info_timeout": 10.0, "layer_timeout": 20.0, "runtime": self.clock} | options
        self.sender = LayerSender(
            4,
            3,
            settings.pop("send", lambda request, first, last: self.log.append((request, first, last))),
            lambda request, error: self.log.append((request, error)),
            missing=lambda slot, step, error: self.log.append((slot, step, error)),
            **settings,
        )

    def run(self) -> list[Any]:
        """Do what is due; return what was called."""
        self.log.clear()
        while self.sender.run_once():
            pass
        return list(self.log)


def test_layers_go_as_they_are_computed() -> None:
    bed = Bed()
    bed.sender.on_progress(0, 1, 0)
    assert bed.run() == []
    bed.sender.on_cache_info("a", 0, 1)
    assert bed.run() == [("a", 0, 0)]
    bed.sender.on_progress(0, 1, 2)
    assert bed.run() == [("a", 1, 2), ("a", None)]
    assert bed.sender.in_flight() == 0


def test_a_device_that_tells_its_step_for_all_slots() -> None:
    bed = Bed()
    bed.sender.on_cache_info("a", 0, 7)
    bed.sender.on_cache_info("b", 1, 7)
    bed.sender.on_cache_info("c", 2, 8)
    bed.sender.on_step(7, 1)
    assert bed.run() == [("a", 0, 1), ("b", 0, 1)]
    bed.sender.on_step(8, 0)
    assert bed.run() == [("a", 2, 2), ("a", None), ("b", 2, 2), ("b", None), ("c", 0, 0)]
    bed.sender.on_cache_info("d", 3, 8)
    assert bed.run() == [("d", 0, 0)], "what was told before the info counts"


def test_what_a_device_told_before_it_started_anew_counts_for_no_later_info() -> None:
    bed = Bed()
    bed.sender.on_cache_info("a", 0, 7)
    bed.sender.on_step(7, 1)
    bed.sender.on_restart()
    bed.sender.on_cache_info("b", 1, 6)
    bed.sender.on_cache_info("c", 2, 7)
    assert bed.run() == [("a", 0, 1)], "what was in flight goes on"
    bed.sender.on_step(6, 0)
    assert bed.run() == [("b", 0, 0)]


def test_a_writer_that_starts_anew_is_a_restart() -> None:
    """``follow`` sees it in the words."""

    class Words:
        """Reports, one a call; then the sender is closed."""

        def __init__(self) -> None:
            self.reports = [(7, 2), (-1, -1)]

        def wait_past(self, before: tuple[int, int], timeout: float) -> tuple[int, int]:
            if not self.reports:
                bed.sender.on_cache_info("a", 0, 6)
                assert bed.run() == []
                bed.sender.close()
                raise CommTimeoutError("nothing more")
            return self.reports.pop(0)

    bed = Bed()
    bed.sender.follow(Words())  # type: ignore[arg-type]
    assert bed.log == []


def test_missing_infos_and_missing_layers_fail_alone() -> None:
    bed = Bed()
    bed.sender.on_progress(0, 1, 2)
    bed.sender.on_cache_info("b", 1, 1)
    bed.sender.on_cache_info("c", 2, 1)
    bed.sender.on_progress(2, 1, 2)
    assert bed.run() == [("c", 0, 2)]
    bed.clock.now = 10.0
    ((slot, step, error),) = bed.run()
    assert (slot, step, type(error), error.waited_s) == (0, 1, CacheInfoMissingError, 10.0)
    bed.clock.now = 20.0
    (request, late), rest = bed.run()
    assert (request, type(late), late.request, rest) == ("b", LayerTimeoutError, "b", ("c", None))
    bed.sender.on_cache_info("a", 0, 1)
    assert bed.run() == [("a", error)]


def test_an_info_that_was_overtaken_is_told() -> None:
    bed = Bed()
    bed.sender.on_progress(0, 1, 2)
    bed.sender.on_cache_info("b", 0, 2)
    ((slot, step, error),) = bed.run()
    assert (slot, step, type(error)) == (0, 1, CacheInfoMissingError)


def test_a_task_that_is_ended() -> None:
    bed = Bed()
    bed.sender.on_cache_info("a", 0, 1)
    assert bed.sender.on_end(0, 1)
    assert not bed.sender.on_end(0, 1)
    ((request, error),) = bed.run()
    assert (request, type(error)) == ("a", TaskEndedError)
    why = OSError("gone")
    assert bed.sender.on_end(1, 1, why)
    bed.sender.on_cache_info("b", 1, 1)
    assert bed.run() == [("b", why)]


def test_a_sending_that_fails_fails_its_task_alone() -> None:
    failure = OSError("the network is down")

    def send(request: Any, first: int, last: int) -> None:
        if request == "a":
            raise failure

    bed = Bed(send=send)
    for slot, request in enumerate(("a", "b")):
        bed.sender.on_cache_info(request, slot, 1)
        bed.sender.on_progress(slot, 1, 2)
    assert bed.run() == [("a", failure), ("b", None)]


def test_what_was_not_sent_because_of_an_interrupt_is_no_success() -> None:
    def send(request: Any, first: int, last: int) -> None:
        if first == 0:
            raise KeyboardInterrupt

    bed = Bed(send=send)
    bed.sender.on_cache_info("a", 0, 1)
    bed.sender.on_progress(0, 1, 0)
    with pytest.raises(KeyboardInterrupt):
        bed.run()
    bed.sender.on_progress(0, 1, 2)
    ((request, error),) = bed.run()
    assert (request, type(error)) == ("a", TaskEndedError)


def test_a_layer_that_does_not_exist_is_refused_where_it_is_reported() -> None:
    bed = Bed()
    for layer in (-1, 3):
        with pytest.raises(ConfigError, match="outside 0 <= layer < 3"):
            bed.sender.on_step(1, layer)
        with pytest.raises(ConfigError, match="outside 0 <= layer < 3"):
            bed.sender.on_progress(0, 1, layer)
    bed.sender.on_cache_info("a", 0, 1)
    assert bed.run() == []


def test_numbers_of_numpy_and_no_numbers() -> None:
    bed = Bed()
    one = np.int32(1)
    bed.sender.on_progress(one, one, one)
    bed.sender.on_cache_info("a", one, one)
    bed.sender.on_step(one, np.int64(2))
    assert bed.run() == [("a", 0, 2), ("a", None)]
    assert not bed.sender.on_end(one, one)
    with pytest.raises(ConfigError, match=r"step=1\.0 is not an integer"):
        bed.sender.on_progress(0, 1.0, 0)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="progress=None"):
        bed.sender.follow(None)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="must be an Exception"):
        bed.sender.on_end(0, 2, "failed")  # type: ignore[arg-type]
    assert bed.run() == []


def test_a_follower_needs_a_time_to_look_at_its_end(tmp_path: Path) -> None:
    bed = Bed()
    with LayerProgress(directory=str(tmp_path)) as words, pytest.raises(ConfigError, match="poll"):
        bed.sender.follow(words, None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"slots": 0}, "at least 1"),
        ({"slots": "4"}, "slots='4'"),
        ({"layers": 1.5}, "layers=1.5"),
        ({"capacity": None}, "capacity=None"),
        ({"capacity": 1.5}, "capacity=1.5"),
        ({"send": None}, "send=None must be a function"),
        ({"finish": 5}, "finish=5 must be a function"),
        ({"missing": "x"}, "missing='x' must be a function"),
        ({"info_timeout": -1}, "info_timeout"),
        ({"layer_timeout": float("nan")}, "layer_timeout"),
    ],
)
def test_a_sender_that_cannot_work_is_refused(wrong: dict[str, Any], says: str) -> None:
    good: dict[str, Any] = {"slots": 4, "layers": 3, "send": print, "finish": print}
    with pytest.raises(ConfigError, match=says):
        LayerSender(**{**good, **wrong})


def test_infos_wait_for_room() -> None:
    bed = Bed(capacity=1)
    bed.sender.on_cache_info("a", 0, 1)
    with pytest.raises(CommTimeoutError, match="tasks have been in flight"):
        bed.sender.on_cache_info("b", 1, 1, timeout=0)
    bed.sender.on_end(0, 1)
    bed.run()
    bed.sender.on_cache_info("b", 1, 1, timeout=0)


def test_infos_of_a_slot_come_in_order() -> None:
    bed = Bed()
    bed.sender.on_cache_info("a", 0, 2)
    with pytest.raises(ProtocolViolationError, match="in order"):
        bed.sender.on_cache_info("b", 0, 1)


def test_two_threads_cannot_run_one_sender() -> None:
    calls: list[type[BaseException]] = []

    def send(request: Any, first: int, last: int) -> None:
        try:
            bed.sender.run_once()
        except ProtocolViolationError as error:
            calls.append(type(error))

    bed = Bed(send=send)
    bed.sender.on_cache_info("a", 0, 1)
    bed.sender.on_progress(0, 1, 0)
    bed.run()
    assert calls == [ProtocolViolationError]


def test_what_finish_raises_ends_the_run_and_not_the_sender() -> None:
    sender = LayerSender(1, 1, lambda *args: None, lambda *args: 1 / 0)
    sender.on_cache_info("a", 0, 1)
    sender.on_end(0, 1)
    with pytest.raises(ZeroDivisionError):
        sender.run()
    assert not sender.run_once()


def test_a_closed_sender_tells_everybody(tmp_path: Path) -> None:
    sender = LayerSender(1, 1, lambda *args: None, lambda *args: None)
    words = LayerProgress(writer=True, directory=str(tmp_path))
    threads = [threading.Thread(target=sender.run), threading.Thread(target=sender.follow, args=(words, 0.01))]
    for thread in threads:
        thread.start()
    words.report(1, 0)
    sender.close()
    for thread in threads:
        thread.join(LIMIT_S)
        assert not thread.is_alive()
    words.clear()
    calls: list[Callable[[], object]] = [
        lambda: sender.on_progress(0, 1, 0),
        lambda: sender.on_step(1, 0),
        lambda: sender.on_cache_info("a", 0, 1),
        lambda: sender.on_end(0, 1),
        sender.run_once,
    ]
    for call in calls:
        with pytest.raises(ClosedError):
            call()
