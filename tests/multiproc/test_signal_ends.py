"""Forks, collections and ends of the interpreter, in every order: exit code 0, nothing printed, nothing left."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from fdcomm.signals.files import default_directory
from tests.faults.remote import LIMIT_S, ROOT
from tests.multiproc.signal_process import interpreters

HEAD = """
import gc, os, signal, sys, threading, warnings
import fdcomm
from fdcomm import IPCSignal
name = sys.argv[1]
signal.alarm(50)  # a watchdog: whatever hangs is ended by SIGALRM
def make(key="s", content=b"12345678"):
    made = IPCSignal(f"{name}.{key}", shm_size=8)
    made.shm.buf[:] = content
    return made
def attach(key="s"):
    return IPCSignal(f"{name}.{key}", shm_size=8, create=False)
"""

# What a program does, in every supported version. None needs numpy.
PROGRAMS = {
    "a view in a module's variable": "view = make().shm.buf",
    "handles in module variables": "made = make(); other = attach(); view = other.shm.buf",
    "a cycle of handle and view": """
        made = make()
        class Box: pass
        box = Box(); box.me = box; box.made = made; box.view = made.shm.buf
        del made, box
        """,
    "a handle in a cycle that is collected": """
        class Box: pass
        box = Box(); box.me = box; box.made = make()
        del box
        gc.collect()
        assert attach().owner_alive()
        """,
    "a finalizer that clears": """
        class Box:
            def __init__(self): self.made = make()
            def __del__(self): self.made.clear()
        keep = Box(); keep.me = keep
        """,
    "an exit function that reads and clears": """
        import atexit
        made = make()
        view = made.shm.buf
        atexit.register(lambda: (made.shm.buf[0], made.clear(), view[0]))
        """,
    "an exit function that makes one": "import atexit; atexit.register(lambda: make().shm.buf[0])",
    "clear, then use of what was taken": """
        made, other = make(), attach()
        views = [made.shm.buf, other.shm.buf]
        made.clear(); other.clear()
        del made, other
        gc.collect()
        views[0][0] = 7
        assert views[1][0] == 7
        views[0].release()
        """,
    "a daemon thread that uses it until the end": """
        made = make()
        ready = threading.Event()
        def use():
            view = made.shm.buf
            while True:
                view[0] = (view[0] + 1) % 256
                ready.set()
        threading.Thread(target=use, daemon=True).start()
        ready.wait()
        """,
    "sys.exit in the middle": "made = make(); sys.exit(0)",
    "threads that clear at once": """
        for _ in range(50):
            made = make()
            threads = [threading.Thread(target=made.clear) for _ in range(4)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            assert not fdcomm.shared_memory_exists(made.name)
        """,
    "a fork that only attached to its parent's": """
        made = make()
        child = os.fork()
        if child == 0:
            assert not made.owned and bytes(made.shm.buf) == b"12345678" and made.owner_alive()
            made.shm.buf[:] = b"abcdefgh"
            made.clear()  # removes nothing
            other = attach()
            assert other.owner_alive() and bytes(other.shm.buf) == b"abcdefgh"
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert bytes(made.shm.buf) == b"abcdefgh" and made.owned and not made.superseded
        """,
    "a fork that makes its own": """
        made = make()
        child = os.fork()
        if child == 0:
            try:
                make()
            except fdcomm.SignalInUseError as error:
                assert str(os.getppid()) in str(error)
            own = make("own")
            grandchild = os.fork()
            if grandchild == 0:
                assert not own.owned
                sys.exit(0)
            assert os.waitpid(grandchild, 0)[1] == 0
            assert own.owned and not own.superseded
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert made.owned and not fdcomm.shared_memory_exists(f"{name}.own")
        """,
    "a fork that outlives its killed parent": """
        read, write = os.pipe()
        go, gone = os.pipe()
        parent = os.fork()
        if parent == 0:
            made = make()
            if os.fork() == 0:
                os.close(gone)
                os.write(write, b".")
                os.read(go, 1)  # until the test has seen it
                os._exit(0)
            signal.pause()
        os.close(go)
        os.read(read, 1)
        other = attach()
        assert other.owner_alive()
        os.kill(parent, signal.SIGKILL)
        os.waitpid(parent, 0)
        assert not other.owner_alive(), "the forked child holds its parent's lock"
        assert make().generation == 2
        os.close(gone)
        """,
    "children of multiprocessing": """
        import multiprocessing
        if __name__ == "__main__":
            for method in ("fork", "spawn", "forkserver"):
                context = multiprocessing.get_context(method)
                for _ in range(2):
                    child = context.Process(target=make, args=("child",))
                    child.start(); child.join()
                    assert child.exitcode == 0
                assert not fdcomm.shared_memory_exists(f"{name}.child"), method
        """,
}


@pytest.fixture
def name() -> Iterator[str]:
    """A name that nobody has; whatever happens, nothing of it is left."""
    name = f"fdcomm-test-{os.urandom(8).hex()}"
    yield name
    left = sorted(Path(default_directory()).glob(f"{name}*"))
    for path in left:
        path.unlink()
    assert left == []


def _run(program: str, name: str, folder: Path, python: str = sys.executable) -> None:
    # From a file, so that multiprocessing can import it again.
    file = folder / "program.py"
    file.write_text(HEAD + textwrap.dedent(program))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    options = ["-W", "error", "-W", "ignore:This process:DeprecationWarning"]
    done = subprocess.run(
        [python, *options, str(file), name],
        capture_output=True,
        text=True,
        env=environment,
        timeout=LIMIT_S,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("program", PROGRAMS)
def test_end(program: str, name: str, tmp_path: Path) -> None:
    _run(PROGRAMS[program], name, tmp_path)


@pytest.mark.parametrize("version", ["3.10", "3.11", "3.12", "3.13"])
def test_ends_in_every_version(version: str, name: str, tmp_path: Path) -> None:
    """All that a process can do one after the other, in one process of each other version."""
    python = interpreters().get(version)
    if python is None or version == ".".join(map(str, sys.version_info[:2])):
        pytest.skip(f"Python {version} is this one, or is not installed")
    chosen = ("handles in module variables", "a cycle of handle and view", "clear, then use of what was taken")
    forks = ("a fork that only attached to its parent's", "a fork that outlives its killed parent")
    parts = []
    for number, key in enumerate((*chosen, *forks)):
        body = textwrap.indent(textwrap.dedent(PROGRAMS[key]), "    ")
        parts.append(f"name = sys.argv[1] + '.{number}'\ndef part{number}():\n{body}\npart{number}()\n")
    _run("\n".join(parts), name, tmp_path, python)


B64 = """
    stop = threading.Event()
    def churn(number):
        while not stop.is_set():
            with make(f"t{number}"):
                attach(f"t{number}").close()
    threads = [threading.Thread(target=churn, args=(number,)) for number in range(3)]
    for thread in threads: thread.start()
    made = make("kept")
    for number in range(60):
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            with make(f"child{number}") as mine:
                assert bytes(attach("kept").shm.buf) == b"12345678" and mine.owned
            # None of the parent's descriptors on the folder or on a segment that is locked has come along.
            held = [os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")]
            assert not [path for path in held if path.rstrip("/") == "/dev/shm"], held
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, number
    stop.set()
    for thread in threads: thread.join()
    """


def test_forks_from_a_process_whose_threads_make_signals(name: str, tmp_path: Path) -> None:
    """B64: at the moment of a fork another thread may be in the middle of anything; the child works all the same."""
    _run(B64, name, tmp_path)
