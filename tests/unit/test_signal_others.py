"""What else may be under the name of a signal: another dtype, another software's file, no file at all."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdcomm import (
    ClosedError,
    IPCSignal,
    SignalError,
    SignalInUseError,
    SignalMismatchError,
)
from fdcomm.signals.layout import TRAILER_BYTES
from tests.unit.signal_folder import Signals

ONE = np.zeros(1, np.int32)


@pytest.fixture
def signals(tmp_path: Path) -> Iterator[Signals]:
    """An empty folder, and calls that make signals in it."""
    found = Signals(tmp_path)
    yield found
    found.end()


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("template", "says"),
    [
        (np.zeros(2, np.int64), r"holds <i4\[2\], and the template is <i8\[2\]"),
        (np.zeros(2, np.uint32), r"template is <u4\[2\]"),
        (np.zeros(1, np.int32), r"template is <i4\[1\]"),
        (np.zeros(3, np.int32), r"template is <i4\[3\]"),
        (np.zeros((2, 1), np.int32), r"template is <i4\[2, 1\]"),
        (np.zeros((), np.int64), r"template is <i8\[\]"),
    ],
)
def test_attaching_another_kind_is_refused(signals: Signals, template: Any, says: str) -> None:
    signals.create([1, 2])
    with pytest.raises(SignalMismatchError, match=says):
        IPCSignal("a", template, template.dtype, create=False, directory=str(signals.folder))


def test_bytes_of_any_signal(signals: Signals) -> None:
    made = signals.create([1, 2])
    raw = IPCSignal("a", create=False, directory=str(signals.folder))
    assert (raw.value, raw.shm.size, struct.unpack("=2i", raw.shm.buf)) == (None, 8, (1, 2))
    raw.shm.buf[:4] = struct.pack("=i", 77)
    assert made.value[0] == 77
    with pytest.raises(SignalMismatchError, match=r"holds <i4\[2\], and the template is 4 raw bytes"):
        IPCSignal("a", create=False, shm_size=4, directory=str(signals.folder))
    signals.keep(IPCSignal("b", shm_size=8, directory=str(signals.folder)))
    with pytest.raises(SignalMismatchError, match=r"holds 8 raw bytes, and the template is <i4\[2\]"):
        IPCSignal("b", np.zeros(2, np.int32), np.int32, create=False, directory=str(signals.folder))


def test_a_segment_of_other_software(signals: Signals) -> None:
    path = signals.folder / "a"
    path.write_bytes(struct.pack("=2i", 5, 6))
    with pytest.raises(SignalMismatchError, match="no trailer of fdcomm; write validate=False"):
        signals.attach([0, 0])
    with pytest.raises(SignalInUseError, match="was made by other software; replace=True"):
        signals.create([0])
    assert path.read_bytes() == struct.pack("=2i", 5, 6)
    other = signals.attach([0, 0], validate=False)
    assert (other.value.tolist(), other.generation, other.owner, other.owner_alive()) == ([5, 6], 0, None, False)
    assert not other.superseded
    with pytest.raises(ClosedError, match="was made by other software, and has no words"):
        _ = other.segment.words
    with pytest.raises(SignalMismatchError, match="has 8 bytes, and 12 are needed"):
        signals.attach([0, 0, 0], validate=False)
    other.clear()
    assert path.exists()
    again = signals.attach([0], validate=False)
    new = signals.create([9], replace=True)
    assert (new.generation, again.superseded) == (1, True)


def test_validate_false_looks_only_at_the_size(signals: Signals) -> None:
    signals.create([1, 2])
    assert signals.attach([0], validate=False).value.tolist() == [1]
    wide = IPCSignal("a", np.zeros(1, np.int64), np.int64, create=False, validate=False, directory=str(signals.folder))
    assert wide.value is not None
    with pytest.raises(SignalMismatchError, match="has 8 bytes, and 12 are needed"):  # not the trailer's bytes
        signals.attach([0, 0, 0], validate=False)


@pytest.mark.parametrize("size", [0, 1, TRAILER_BYTES - 1, TRAILER_BYTES, TRAILER_BYTES + 64, 4096])
@pytest.mark.parametrize("byte", [b"\0", b"\xff"])
def test_whatever_the_file_holds(signals: Signals, size: int, byte: bytes) -> None:
    (signals.folder / "a").write_bytes(byte * size)
    with pytest.raises(SignalMismatchError):
        signals.attach([0])
    with pytest.raises(SignalInUseError):
        signals.create([0])
    if size == 0:
        with pytest.raises(SignalMismatchError, match="has 0 bytes"):
            IPCSignal("a", create=False, validate=False, directory=str(signals.folder))


def _a_folder(path: Path) -> None:
    path.mkdir()


def _a_link(path: Path) -> None:
    (path.parent / "target").write_bytes(b"precious")
    path.symlink_to("target")


def _a_dangling_link(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize("make", [_a_folder, _a_link, _a_dangling_link, os.mkfifo])
@pytest.mark.parametrize("replace", [True, False])
def test_what_is_not_a_file_is_left_alone(signals: Signals, make: Callable[[Path], None], replace: bool) -> None:
    make(signals.folder / "a")
    before = _names(signals.folder)
    with pytest.raises(SignalInUseError):
        signals.create([0], replace=replace)
    with pytest.raises(SignalError):
        signals.attach([0])
    assert _names(signals.folder) == before


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    for create in (True, False):
        with pytest.raises(SignalError, match="No such file or directory"):
            IPCSignal("a", ONE, np.int32, create=create, directory=str(tmp_path / "missing"))
