"""No room for a signal: a typed error before the first byte is written, and nothing is left."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from fdcomm import IPCSignal, SignalSpaceError
from fdcomm.signals.files import Files
from tests.faults.remote import LIMIT_S, ROOT

HEAD = """
import os, sys
import fdcomm
folder = sys.argv[1]
def refused(size, number):
    before = os.listdir(folder)
    try:
        fdcomm.IPCSignal("big", shm_size=size, directory=folder)
    except fdcomm.SignalSpaceError as error:
        assert isinstance(error, OSError) and error.errno == number, error
        assert "cannot reserve" in str(error) and folder in str(error) and "free space there" in str(error), error
    else:
        raise SystemExit("made")
    assert os.listdir(folder) == before
"""


def _run(program: str, folder: Path, *before: str) -> None:
    command = [*before, sys.executable, "-W", "error", "-c", HEAD + textwrap.dedent(program), str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=LIMIT_S, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_full_file_system(tmp_path: Path) -> None:
    """A tiny one, filled up by signals; what is there goes on working, and room that is made is used."""
    unshare = shutil.which("unshare")
    mounted = ["sh", "-c", 'mount -t tmpfs -o size=256k tmpfs "$0" && exec "$@"', str(tmp_path)]
    for isolate in (["--mount"], ["--mount", "--user", "--map-root-user"]):
        before = [unshare or "unshare", *isolate, *mounted]
        if unshare and subprocess.run([*before, "true"], capture_output=True, timeout=LIMIT_S).returncode == 0:
            break
    else:
        pytest.skip("no file system can be mounted here")
    program = """
        refused(1 << 20, 28)
        made = []
        while True:
            try:
                made.append(fdcomm.IPCSignal(f"small{len(made)}", shm_size=40_000, directory=folder))
            except fdcomm.SignalSpaceError:
                break
            made[-1].shm.buf[:] = bytes([len(made)]) * 40_000
        assert 4 <= len(made) <= 6, len(made)
        refused(40_000, 28)
        for number, signal in enumerate(made, 1):
            assert bytes(signal.shm.buf) == bytes([number]) * 40_000
        made.pop().clear()
        made.append(fdcomm.IPCSignal("next", shm_size=40_000, directory=folder))
        for signal in made:
            signal.clear()
        assert os.listdir(folder) == []
        """
    _run(program, tmp_path, *before)
    assert list(tmp_path.iterdir()) == []


def test_a_limit_on_the_size_of_files(tmp_path: Path) -> None:
    program = """
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
        refused(100_000, 27)
        fdcomm.IPCSignal("fits", shm_size=4096, directory=folder).clear()
        """
    _run(program, tmp_path)


@pytest.mark.parametrize(
    ("code", "hint"), [(errno.ENOSPC, True), (errno.EDQUOT, True), (errno.ENOMEM, True), (errno.EIO, False)]
)
def test_what_the_system_says_is_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, hint: bool
) -> None:
    old = IPCSignal("a", np.array([7], np.int32), np.int32, directory=str(tmp_path))
    old.close()

    def reserve(self: Files, fd: int, size: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Files, "reserve", reserve)
    with pytest.raises(SignalSpaceError, match=os.strerror(code)) as caught:
        IPCSignal("a", np.array([8], np.int32), np.int32, directory=str(tmp_path))
    assert caught.value.errno == code
    assert ("free space there" in str(caught.value)) == hint
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    other = IPCSignal("a", np.array([0], np.int32), np.int32, create=False, directory=str(tmp_path))
    assert other.value is not None
    assert other.value.tolist() == [7]  # the stale one was not touched
    assert not other.superseded
    IPCSignal("a", np.array([9], np.int32), np.int32, directory=str(tmp_path)).clear()
    other.close()
