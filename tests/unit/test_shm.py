"""The page of shared words: creation, what attach refuses, access after close, a memory file system that is full."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fdcomm.errors import FdcommError, HostNotFoundError
from fdcomm.shm import WordPage, page_path
from tests.faults.remote import LIMIT_S, ROOT


@pytest.fixture
def name() -> Iterator[str]:
    """A name that nobody has; the object is removed at the end."""
    name = f"fdcomm-{os.getuid()}-{os.urandom(8).hex()}"
    yield name
    Path(page_path(name)).unlink(missing_ok=True)


def test_words_are_shared(name: str) -> None:
    page = WordPage.create(name, 3, 42)
    other = WordPage.attach(page.path, 42)
    assert page.words.tolist() == [0, 0, 0]
    assert len(page.words) == 3
    page.words[1] = -(2**63)
    page.words[2] = 2**63 - 1
    assert other.words.tolist() == [0, -(2**63), 2**63 - 1]
    other.close()
    assert Path(page.path).exists()  # only its creator removes it
    page.close()
    assert not Path(page.path).exists()
    page.close()


def test_mode_is_0600_whatever_the_umask(name: str) -> None:
    before = os.umask(0)
    try:
        page = WordPage.create(name, 1, 1)
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(page.path).st_mode) == 0o600
    page.close()


def test_access_after_close_raises(name: str) -> None:
    page = WordPage.create(name, 1, 1)
    words = page.words
    page.close()
    with pytest.raises(ValueError, match="released"):
        words[0]
    with pytest.raises(ValueError, match="released"):
        words[0] = 1


def test_an_existing_object_is_not_taken_over(name: str) -> None:
    page = WordPage.create(name, 1, 1)
    with pytest.raises(FdcommError, match="cannot create"):
        WordPage.create(name, 1, 2)
    assert WordPage.attach(page.path, 1).words.tolist() == [0]
    page.close()


@pytest.mark.parametrize("change", ["magic", "layout", "instance", "count", "short", "odd", "empty"])
def test_attach_refuses(name: str, change: str) -> None:
    page = WordPage.create(name, 2, 7)
    content = bytearray(Path(page.path).read_bytes())
    path = Path(page.path)
    positions = {"magic": 0, "layout": 8, "instance": 16, "count": 24}
    if change in positions:
        content[positions[change]] ^= 1
    else:
        content = {"short": content[:56], "odd": content[:-3], "empty": bytearray()}[change]
    path.write_bytes(content)
    with pytest.raises(HostNotFoundError, match=r"complete page|another instance"):
        WordPage.attach(page.path, 7)
    path.unlink()


def test_attach_to_nothing(name: str) -> None:
    with pytest.raises(HostNotFoundError, match="No such file"):
        WordPage.attach(page_path(name), 1)


FULL = """
import resource, signal, sys
from fdcomm.errors import FdcommError
from fdcomm.shm import WordPage
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    WordPage.create(sys.argv[1], 4096, 1)
except FdcommError as error:
    print(error)
    sys.exit(77)
"""


def test_no_room(name: str) -> None:
    """A typed error at creation, no object left, and not a signal at the first store."""
    done = subprocess.run([sys.executable, "-c", FULL, name], cwd=ROOT, timeout=LIMIT_S, capture_output=True, text=True)
    assert done.returncode == 77, done
    assert "cannot reserve" in done.stdout
    assert not Path(page_path(name)).exists()


TINY = """
import ctypes, os, sys
from fdcomm import shm
from fdcomm.errors import FdcommError
folder = sys.argv[1]
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x00020000) or libc.mount(b"none", b"/", None, 0x44000, None):
    sys.exit(78)
if libc.mount(b"tmpfs", folder.encode(), b"tmpfs", 0, b"size=8k"):
    sys.exit(78)
shm.page_path = lambda name: os.path.join(folder, name)
try:
    shm.WordPage.create("page", 1 << 16, 1)
except FdcommError as error:
    print(error)
    assert os.listdir(folder) == []
    sys.exit(77)
"""


def test_full_memory_file_system(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TINY, str(tmp_path)], cwd=ROOT, timeout=LIMIT_S, capture_output=True, text=True
    )
    if done.returncode == 78:
        pytest.skip("mounting a file system is not allowed here")
    assert done.returncode != -signal.SIGBUS
    assert done.returncode == 77, done
    assert "free space there" in done.stdout
