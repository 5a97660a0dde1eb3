"""The words of a device's progress, in one process and two."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdcomm import (
    ClosedError,
    CommTimeoutError,
    ConfigError,
    LayerProgress,
)
from fdcomm.layer_progress import NOTHING
from fdcomm.signals.layout import SUCCESSOR, UNLINKED
from fdcomm.testing.faults import Fault, FaultRuntime
from tests.races.layerwise_race import child_that_reports, stop
from tests.unit.signal_folder import descriptors

LIMIT_S = 60.0
STEP, LAYER = "splitwise_complete_prefilled_step_0", "splitwise_complete_prefilled_layer_0"


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


def test_a_close_while_the_words_are_opened_anew_leaves_nothing_open(tmp_path: Path) -> None:
    closing: list[LayerProgress] = []
    runtime = FaultRuntime(tell=lambda point: closing[0].close())
    words = LayerProgress(directory=str(tmp_path), runtime=runtime)
    closing.append(words)
    before = descriptors()
    for path in tmp_path.iterdir():
        path.unlink()
    last = runtime.passages("layerwise.create") + 3
    runtime.arm(Fault("layerwise.create", "tell", last))
    for signal in words._signals:
        signal.segment.words[SUCCESSOR] = UNLINKED  # as whoever removes them does
    with pytest.raises(ClosedError):
        words.read()
    assert not words._signals
    assert descriptors() < before


def test_wrong_arguments(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        LayerProgress(writer=True, foreign=True)
    for dp_rank in (-1, True, "0"):
        with pytest.raises(ConfigError):
            LayerProgress(dp_rank)  # type: ignore[arg-type, unused-ignore]
    with LayerProgress(directory=str(tmp_path)) as words:
        for step, layer in ((0, -1), (0, 2**31), (0.5, 0), (0, "1"), (None, 0)):
            with pytest.raises(ConfigError):
                words.report(step, layer)  # type: ignore[arg-type, unused-ignore]
        assert words.read() == NOTHING
        words.report(np.int32(-1), np.int32(3))
        assert words.read() == (2**32 - 1, 3)
        for before in (None, 5, (1,), (1, 2, 3), ("a", "b"), (0.5, 0)):
            with pytest.raises(ConfigError):
                words.wait_past(before, 0.0)  # type: ignore[arg-type, unused-ignore]
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
