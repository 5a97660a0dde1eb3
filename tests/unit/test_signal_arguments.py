"""What a signal may be called, and be made of: everything else is an error that says what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdcomm import ConfigError, IPCLock, IPCSignal, SignalNameError, shared_memory_exists
from fdcomm.signals.arguments import NAME_BYTES
from fdcomm.signals.files import NEW
from fdcomm.signals.layout import MOST_DIMENSIONS
from tests.faults.remote import LIMIT_S, ROOT

ONE = np.zeros(1, np.int32)


@pytest.mark.parametrize(
    ("name", "suffix", "says"),
    [
        ("", None, "must not be empty"),
        ("", 9923, "must not be empty"),
        ("a/b", None, "must not contain '/'"),
        ("/a", None, "must not contain '/'"),
        ("a", "../b", "must not contain '/'"),
        ("a\0b", None, "null character"),
        (".", None, "must not begin with a dot"),
        ("..", None, "must not begin with a dot"),
        (".hidden", 1, "must not begin with a dot"),
        (f"a{NEW}", None, "which fdcomm gives"),
        ("a", NEW[1:], "which fdcomm gives"),
        ("a\ud800", None, "file names cannot have"),
        ("a" * (NAME_BYTES + 1), None, f"has {NAME_BYTES + 1} bytes, its suffix included; the limit is {NAME_BYTES}"),
        ("a" * (NAME_BYTES - 4), 9923, f"has {NAME_BYTES + 1} bytes"),
        ("é" * (NAME_BYTES // 2 + 1), None, f"the limit is {NAME_BYTES}"),
    ],
)
@pytest.mark.parametrize("create", [True, False])
def test_names_that_cannot_be(tmp_path: Path, name: str, suffix: Any, says: str, create: bool) -> None:
    with pytest.raises(SignalNameError, match=says.replace("(", r"\(")):
        IPCSignal(name, ONE, np.int32, suffix, create, directory=str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    if suffix is None:
        assert not shared_memory_exists(name)


@pytest.mark.parametrize(
    ("name", "suffix", "file"),
    [
        ("a", None, "a"),
        ("a", 9923, "a.9923"),
        ("a", "9923_dp0_tp1", "a.9923_dp0_tp1"),
        ("a", 0, "a.0"),
        ("ä b", None, "ä b"),
        ("a" * NAME_BYTES, None, "a" * NAME_BYTES),
    ],
)
def test_names_that_can_be(tmp_path: Path, name: str, suffix: Any, file: str) -> None:
    with IPCSignal(name, ONE, np.int32, suffix, directory=str(tmp_path)) as signal:
        assert signal.name == signal.shm.name == file
        assert [path.name for path in tmp_path.iterdir()] == [file]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [None, 5, b"name"])
def test_a_name_is_a_string(name: Any) -> None:
    with pytest.raises(ConfigError, match="is a string"):
        IPCSignal(name, ONE, np.int32)
    assert not shared_memory_exists(name)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "needs array and dtype, or shm_size"),
        ({"array": ONE}, "add dtype, or drop array"),
        ({"dtype": np.int32}, "add array, or drop dtype"),
        ({"array": ONE, "shm_size": 4}, "add dtype, or drop array"),
        ({"array": [0], "dtype": np.int32}, "must be a numpy array .* not list"),
        ({"array": 5, "dtype": np.int32}, "not int"),
        ({"array": ONE, "dtype": np.int64}, "dtype is int64, and the array's is int32; write array.astype.'int64'."),
        ({"array": ONE, "dtype": ">i4"}, "dtype is >i4"),
        ({"array": ONE, "dtype": "no dtype"}, "is no numpy dtype"),
        ({"array": ONE[:0], "dtype": np.int32}, "no elements"),
        ({"array": np.zeros((3, 0), np.int32), "dtype": np.int32}, r"\(3, 0\)"),
        ({"array": np.array([None]), "dtype": object}, "references to Python objects"),
        ({"array": np.zeros(1, "U1000000"), "dtype": "U1000000"}, "cannot be described"),
        ({"array": np.zeros(1, [("a", "i4")]), "dtype": [("a", "i4")]}, "cannot be described"),
        ({"array": np.zeros((1,) * (MOST_DIMENSIONS + 1)), "dtype": float}, f"at most {MOST_DIMENSIONS}"),
        ({"array": ONE, "dtype": np.int32, "shm_size": 8}, "leave shm_size out"),
        ({"shm_size": 0}, "at least 1"),
        ({"shm_size": -1}, "at least 1"),
        ({"shm_size": True}, "at least 1"),
        ({"shm_size": 4.0}, "at least 1"),
        ({"shm_size": "4"}, "at least 1"),
        ({"shm_size": 4, "create": 1}, "create=1 must be True or False"),
        ({"shm_size": 4, "validate": None}, "validate=None must be"),
        ({"shm_size": 4, "replace": "yes"}, "replace='yes' must be"),
        ({"shm_size": 2**70}, r"at most 2\*\*62"),
        ({"shm_size": 4, "suffix": False}, "suffix=False is neither"),  # create, one place too early
        ({"shm_size": 4, "suffix": 9923.0}, "suffix=9923.0 is neither"),
        ({"shm_size": 4, "suffix": [9923]}, "neither a string nor an integer"),
        ({"shm_size": 4, "suffix": object()}, "neither a string nor an integer"),
        ({"shm_size": 4, "timeout": -1}, "timeout=-1"),
        ({"shm_size": 4, "timeout": float("nan")}, "timeout=nan"),
    ],
)
def test_arguments_that_cannot_be(tmp_path: Path, arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        IPCSignal("a", directory=str(tmp_path), **arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("directory", [5, "", b"/tmp", "a\0b", object()])
def test_a_directory_is_a_path(directory: Any) -> None:
    with pytest.raises(ConfigError, match=r"directory=.* is not the path"):
        IPCSignal("a", shm_size=4, directory=directory)
    with pytest.raises(ConfigError, match=r"directory=.* is not the path"):
        IPCLock("a", directory=directory)


def test_a_directory_may_be_a_path_object(tmp_path: Path) -> None:
    path: Any = tmp_path
    with IPCSignal("a", shm_size=4, suffix=np.int64(7), directory=path):
        assert [file.name for file in tmp_path.iterdir()] == ["a.7"]


@pytest.mark.parametrize(
    "array",
    [
        np.array(5, np.int64),
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3)),
        np.arange(10, dtype=np.uint8)[::3],
        np.array([True, False]),
        np.array([1 + 2j]),
        np.array(["ab", "c"]),
        np.array([b"ab"]),
        np.array(["2026-01-01"], "M8[s]"),
        np.arange(4, dtype=">u4"),
        np.arange(2**MOST_DIMENSIONS, dtype=np.int8).reshape((2,) * MOST_DIMENSIONS),
    ],
    ids=lambda array: f"{array.dtype.str}{array.shape}",
)
def test_arrays_of_all_kinds(tmp_path: Path, array: np.ndarray[Any, Any]) -> None:
    with IPCSignal("a", array, array.dtype, directory=str(tmp_path)) as made:
        other = IPCSignal("a", np.zeros_like(array), array.dtype, create=False, directory=str(tmp_path))
        assert made.value is not None
        assert other.value is not None
        assert made.value.dtype == array.dtype
        assert made.value.shape == other.value.shape == array.shape
        assert np.array_equal(other.value, array)
        content = (tmp_path / "a").read_bytes()
        assert content[: array.nbytes] == np.ascontiguousarray(array).tobytes()  # at byte 0, in C order
        assert len(content) % 64 == 0
        other.close()


def test_dtypes_by_any_name(tmp_path: Path) -> None:
    for dtype in (np.int32, "int32", "i4", np.dtype("int32")):
        with IPCSignal("a", ONE, dtype, directory=str(tmp_path)) as signal:
            assert signal.value is not None


def test_a_size_by_any_integer(tmp_path: Path) -> None:
    size: Any = np.int64(5)
    with IPCSignal("a", shm_size=size, directory=str(tmp_path)) as signal:
        assert signal.value is None
        assert (signal.shm.size, bytes(signal.shm.buf)) == (5, bytes(5))


def test_without_numpy() -> None:
    """fdcomm needs no numpy; a signal of raw bytes does not either."""
    program = """if True:
        import os, sys
        sys.modules["numpy"] = None
        import fdcomm
        name = f"fdcomm-test-{os.getpid()}"
        with fdcomm.IPCSignal(name, shm_size=2) as signal:
            signal.shm.buf[:] = b"ab"
            assert bytes(fdcomm.IPCSignal(name, create=False).shm.buf) == b"ab"
        try:
            fdcomm.IPCSignal(name, [0], "int32")
        except fdcomm.ConfigError as error:
            assert "must be a numpy array" in str(error)
        else:
            raise SystemExit("made")
    """
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=LIMIT_S, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
