"""The life of a signal in one process: create, attach, replace, clear, close, and what is refused."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import stat
import struct
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdcomm import (
    ClosedError,
    CommTimeoutError,
    IPCSignal,
    SignalError,
    SignalInUseError,
    SignalMismatchError,
    SignalNotFoundError,
    shared_memory_exists,
)
from fdcomm.signals.files import NEW, Files
from fdcomm.signals.layout import SUCCESSOR, TRAILER_BYTES, this_process
from tests.unit.signal_folder import Signals, mappings

ONE = np.zeros(1, np.int32)


@pytest.fixture
def signals(tmp_path: Path) -> Iterator[Signals]:
    """An empty folder, and calls that make signals in it."""
    found = Signals(tmp_path)
    yield found
    found.end()


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_values_are_shared(signals: Signals) -> None:
    made = signals.create([3, 4])
    other = signals.attach([0, 0])
    assert other.value.tolist() == [3, 4]
    made.value[0] = -7
    other.value[1] = 9
    assert made.value.tolist() == other.value.tolist() == [-7, 9]
    assert (made.owned, other.owned) == (True, False)
    assert made.owner == other.owner == this_process()
    assert made.owner_alive()
    assert other.owner_alive()
    assert (made.generation, other.generation, made.superseded, other.superseded) == (1, 1, False, False)


def test_mode_is_0600_whatever_the_umask(signals: Signals) -> None:
    before = os.umask(0)
    try:
        signals.create([1])
    finally:
        os.umask(before)
    assert stat.S_IMODE((signals.folder / "a").stat().st_mode) == 0o600


def test_clear_removes_and_closes(signals: Signals) -> None:
    made, other = signals.create([1]), signals.attach([0])
    made.clear()
    made.clear()
    assert _names(signals.folder) == []
    assert other.superseded
    assert not other.owner_alive()
    assert other.value.tolist() == [1]  # still memory of its own
    with pytest.raises(SignalNotFoundError, match="its creator has not made it yet or has removed it"):
        signals.attach([0])


def test_an_attacher_removes_nothing(signals: Signals) -> None:
    made = signals.create([1])
    for end in (IPCSignal.clear, IPCSignal.close, lambda s: s.shm.unlink(), lambda s: s.shm.close(), lambda s: None):
        other = signals.attach([0])
        end(other)
        del other
        gc.collect()
        assert _names(signals.folder) == ["a"]
    assert not made.superseded
    assert signals.attach([0]).value.tolist() == [1]


def test_close_of_the_owner_leaves_a_stale_segment(signals: Signals) -> None:
    made, other = signals.create([1]), signals.attach([0])
    made.close()
    made.close()
    assert _names(signals.folder) == ["a"]
    assert not other.owner_alive()
    assert not other.superseded
    new = signals.create([2])  # no warning: nobody owned it
    assert (new.generation, new.value.tolist(), other.superseded) == (2, [2], True)
    made.clear()
    assert _names(signals.folder) == ["a"]


def test_the_owner_stays_the_owner_when_its_handle_is_collected(signals: Signals) -> None:
    made, other = signals.create([1]), signals.attach([0])
    gone = weakref.ref(made)
    signals.forget()
    del made
    assert gone() is None  # no cycle keeps it
    assert _names(signals.folder) == ["a"]
    assert other.owner_alive()
    before = mappings(signals.folder)
    with pytest.warns(RuntimeWarning, match="already"):
        signals.create([2])
    signals.create([3], name="b")  # now it is known that nobody uses the first one
    assert mappings(signals.folder) == before + 1


def test_one_of_this_process_is_replaced_with_a_warning(signals: Signals) -> None:
    old, other = signals.create([1]), signals.attach([0])
    with pytest.warns(RuntimeWarning, match="has a signal 'a' already") as caught:
        new = IPCSignal("a", ONE, np.int32, directory=str(signals.folder))
    assert caught[0].filename == __file__  # it points at the caller
    assert (new.generation, new.value is not None) == (2, True)
    assert old.superseded
    assert other.superseded
    old.clear()
    assert _names(signals.folder) == ["a"]
    assert not new.superseded
    new.clear()
    assert _names(signals.folder) == []


def test_a_warning_that_is_an_error_changes_nothing(signals: Signals) -> None:
    old = signals.create([1])
    with pytest.raises(RuntimeWarning, match="already"):
        signals.create([2])
    assert _names(signals.folder) == ["a"]
    assert not old.superseded
    assert signals.attach([0]).value.tolist() == [1]


def test_one_of_a_live_process_is_not_replaced(signals: Signals) -> None:
    old = signals.create_elsewhere([1])
    with pytest.raises(SignalInUseError, match=r"belongs to process 7, which is alive; replace=True"):
        signals.create([2])
    assert _names(signals.folder) == ["a"]
    assert not old.superseded()
    new = signals.create([2], replace=True)
    assert old.superseded()
    assert old.words[SUCCESSOR] == new.generation == 2
    assert signals.attach([0]).value.tolist() == [2]


def test_a_replacement_that_died_half_way_is_forgotten(signals: Signals) -> None:
    """The word SUCCESSOR was written, and the name was not changed: the segment is still the current one."""
    made, other = signals.create_elsewhere([1]), signals.attach([0])
    made.words[SUCCESSOR] = 5
    assert not made.superseded()
    assert not other.superseded
    with pytest.raises(SignalInUseError):
        signals.create([2])
    assert made.words[SUCCESSOR] == 0


def test_a_leftover_is_swept(signals: Signals) -> None:
    (signals.folder / f"a{NEW}").write_bytes(b"half")
    signals.create([1])
    assert _names(signals.folder) == ["a"]


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


def test_everything_after_close_raises(signals: Signals) -> None:
    made, other = signals.create([1]), signals.attach([0])
    block = other.shm
    for signal in (other, made):
        signal.close()
        reads: tuple[Callable[[Any], Any], ...] = (
            lambda s: s.value,
            lambda s: s.segment,
            lambda s: s.generation,
            lambda s: s.owner,
            lambda s: s.superseded,
            lambda s: s.owner_alive(),
            lambda s: s.shm.buf,
            lambda s: s.shm.size,
        )
        for read in reads:
            with pytest.raises(ClosedError, match="the signal 'a' is closed"):
                read(signal)
        assert not signal.owned
        assert "closed" in repr(signal)
    with pytest.raises(ClosedError):
        _ = block.buf
    assert block.name == "a"


def test_what_was_taken_out_stays_memory(signals: Signals) -> None:
    """No order of close, clear and collection takes memory away from somebody who can still reach it."""
    made, other = signals.create([1]), signals.attach([0])
    arrays = [made.value, other.value, other.value[:1]]
    buffers = [made.shm.buf, other.shm.buf]
    words = other.segment.words
    made.clear()
    other.clear()
    del made, other
    signals.forget()
    gc.collect()
    for array in arrays:
        array[0] += 1
    assert len({array[0] for array in arrays}) == 1
    buffers[0].release()
    assert bytes(buffers[1]) == arrays[0].tobytes()
    assert words[SUCCESSOR] == -1
    base: Any = arrays[0].base
    while base is not None:  # nothing on the way to the memory can be told to let go of it
        assert not hasattr(base, "close")
        assert not hasattr(base, "release")
        base = getattr(base, "base", None)
    arrays[0][0] = 5
    assert arrays[1][0] == 5


def test_a_context_manager_clears(signals: Signals) -> None:
    with signals.create([1]) as made, signals.attach([0]) as other:
        assert made.value == other.value
    assert _names(signals.folder) == []
    with pytest.raises(ClosedError):
        _ = made.value


def test_handles_are_not_pickled_or_copied(signals: Signals) -> None:
    made = signals.create([1])
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="attach to it by name"):
            copied(made)


def test_a_taken_guard_ends_every_call_in_time(signals: Signals) -> None:
    made, other = signals.create([1]), signals.attach([0])
    files = Files(str(signals.folder))
    assert files.lock(files.open_directory())
    try:
        calls: tuple[Callable[[], Any], ...] = (
            lambda: signals.create([2], name="b", timeout=0.01),
            lambda: signals.attach([0], name="b", timeout=0.01),
            lambda: made.clear(timeout=0.01),
            lambda: other.owner_alive(timeout=0),
        )
        for call in calls:
            with pytest.raises(CommTimeoutError, match="another process has been changing a signal's name"):
                call()
        assert made.value.tolist() == [1]  # as if clear had not been called
        assert made.owned
        assert signals.attach([0]).value.tolist() == [1]  # what is there needs no guard
        other.clear(timeout=0)
    finally:
        files.abandon()
    made.clear()
    assert _names(signals.folder) == []


def test_existence(signals: Signals) -> None:
    name = f"fdcomm-test-{os.urandom(8).hex()}"
    assert not shared_memory_exists(name)
    with IPCSignal(name, ONE, np.int32) as signal:
        assert shared_memory_exists(name)
        assert not signal.superseded
    assert not shared_memory_exists(name)
    assert not shared_memory_exists("")
