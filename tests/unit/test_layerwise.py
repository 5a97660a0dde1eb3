"""The words of a device's progress and the sender of one rank, in one process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
from fdcomm.layer_progress import NOTHING
from tests.races.layerwise_race import child_that_reports, stop
from tests.traces.layerwise_runs import Simulated

np = pytest.importorskip("numpy")

LIMIT_S = 60.0
STEP, LAYER = "splitwise_complete_prefilled_step_0", "splitwise_complete_prefilled_layer_0"


# -- the words -----------------------------------------------------------------------------------------------------


def _plain(folder: Path) -> tuple[int, int]:
    """What a reader sees that knows only the two words."""
    return tuple(int.from_bytes((folder / name).read_bytes()[:4], sys.byteorder, signed=True) for name in (STEP, LAYER))  # type: ignore[return-value]


def test_a_report_is_read_and_old_readers_see_it(tmp_path: Path) -> None:
    with (
        LayerProgress(writer=True, directory=str(tmp_path)) as writer,
        LayerProgress(directory=str(tmp_path)) as reader,
    ):
        assert reader.read() == NOTHING
        assert _plain(tmp_path) == (-1, -1)
        for step, layer in ((0, 0), (0, 60), (7, 3), (2**31, 1), (2**32 - 1, 5)):
            writer.report(step, layer)
            assert reader.read() == (step, layer)
            assert _plain(tmp_path) == (step - 2**32 if step >= 2**31 else step, layer)
        writer.report(-1, 5)
        assert reader.read() == (2**32 - 1, 5)
    assert list(tmp_path.iterdir()) == []


def test_a_wait_ends_with_the_next_report(tmp_path: Path) -> None:
    with (
        LayerProgress(writer=True, directory=str(tmp_path)) as writer,
        LayerProgress(directory=str(tmp_path)) as reader,
    ):
        told: list[tuple[int, int]] = []
        thread = threading.Thread(target=lambda: told.append(reader.wait_past((0, 3), LIMIT_S)))
        writer.report(0, 3)
        thread.start()
        writer.report(1, 0)
        thread.join(LIMIT_S)
        assert told == [(1, 0)]
        with pytest.raises(CommTimeoutError):
            reader.wait_past((1, 0), 0.0)


def test_a_writer_that_starts_anew_is_noticed(tmp_path: Path) -> None:
    folder = str(tmp_path)
    with LayerProgress(writer=True, directory=folder) as writer, LayerProgress(directory=folder) as reader:
        writer.report(1000, 3)
        with LayerProgress(writer=True, directory=folder) as another:
            assert reader.wait_past((1000, 3), 0.0) == NOTHING
            another.report(0, 0)
            assert reader.wait_past((1000, 3), 0.0) == NOTHING, "it went back: the reports before do not count"
            assert reader.wait_past(NOTHING, 0.0) == (0, 0)


def test_what_a_dead_process_left_is_made_anew(tmp_path: Path) -> None:
    child = child_that_reports(tmp_path, 9, 2)
    reader = LayerProgress(directory=str(tmp_path))
    assert reader.read() == (9, 2)
    child.kill()
    child.communicate(timeout=LIMIT_S)
    assert sorted(path.name for path in tmp_path.iterdir()) != []
    with LayerProgress(writer=True, directory=str(tmp_path)) as writer:
        writer.report(1, 1)
        assert reader.read() == (1, 1), "a reader of the old words finds the new ones"
        reader.clear()
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_cannot_reopen_in_time_tries_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child = child_that_reports(tmp_path, 9, 2)
    reader = LayerProgress(directory=str(tmp_path))
    child.kill()
    child.communicate(timeout=LIMIT_S)
    with LayerProgress(writer=True, directory=str(tmp_path)) as writer:
        writer.report(1, 1)
        with monkeypatch.context() as patched:
            patched.setattr(LayerProgress, "_segment", _too_late)
            with pytest.raises(CommTimeoutError):
                reader.wait_past(NOTHING, 0.0)
        assert reader.read() == (1, 1)
    reader.clear()


def _too_late(*args: Any, **named: Any) -> Any:
    raise CommTimeoutError("somebody is changing names")


def test_processes_that_open_at_once_share_the_words(tmp_path: Path) -> None:
    code = (
        "import sys; from fdcomm import LayerProgress; w = LayerProgress(directory=sys.argv[1]);"
        "print('open', flush=True);"
        "sys.stdin.readline(); print(w.read(), flush=True); sys.stdin.readline(); w.clear()"
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, os.fspath(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    try:
        assert [child.stdout.readline() for child in children if child.stdout] == ["open\n"] * 3
        with LayerProgress(directory=str(tmp_path)) as words:
            words.report(4, 2)
            for child in children:
                assert child.stdin is not None
                assert child.stdout is not None
                child.stdin.write("read\n")
                child.stdin.flush()
                assert child.stdout.readline() == "(4, 2)\n"
    finally:
        for child in children:
            child.communicate("end\n", timeout=LIMIT_S)
    assert list(tmp_path.iterdir()) == []


def test_a_foreign_writer_of_two_plain_words(tmp_path: Path) -> None:
    with pytest.raises(CommTimeoutError, match="is the worker up"):
        LayerProgress(foreign=True, directory=str(tmp_path), timeout=0.0)
    for name, value in ((STEP, 6), (LAYER, 2)):
        (tmp_path / name).write_bytes(value.to_bytes(4, sys.byteorder, signed=True))
    words = LayerProgress(foreign=True, directory=str(tmp_path))
    assert words.read() == (6, 2)
    assert words.wait_past(NOTHING, 0.0) == (6, 2)
    words.clear()
    assert len(list(tmp_path.iterdir())) == 2, "what others have made stays"


def test_wrong_arguments(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        LayerProgress(writer=True, foreign=True)
    for dp_rank in (-1, True, "0"):
        with pytest.raises(ConfigError):
            LayerProgress(dp_rank)  # type: ignore[arg-type, unused-ignore]
    with LayerProgress(directory=str(tmp_path)) as words:
        with pytest.raises(ConfigError):
            words.report(0, -1)
    words.close()
    for call in (words.read, lambda: words.report(0, 0), lambda: words.wait_past(NOTHING, 0.0)):
        with pytest.raises(ClosedError):
            call()


def test_another_process_reports(tmp_path: Path) -> None:
    child = child_that_reports(tmp_path, 5, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with LayerProgress(directory=str(tmp_path)) as words:
            assert words.wait_past(NOTHING, LIMIT_S) == (5, 1)
    stop(child)


# -- the sender ----------------------------------------------------------------------------------------------------


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
