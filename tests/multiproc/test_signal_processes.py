"""Signals between separate interpreters, of all supported versions, and a C program."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from fdcomm import IPCSignal, SignalInUseError, shared_memory_exists
from fdcomm.signals.files import default_directory
from tests.faults.remote import LIMIT_S
from tests.multiproc.signal_process import Refused, SignalProcess, interpreters

SIZE = {"shm_size": 8}
ONE, TWO = "0100000002000000", "0300000004000000"


@pytest.fixture
def name() -> Iterator[str]:
    """A name that nobody has; whatever happens, nothing of it is left."""
    name = f"fdcomm-test-{os.urandom(8).hex()}"
    yield name
    left = sorted(Path(default_directory()).glob(f"{name}*"))
    for path in left:
        path.unlink()
    assert left == []


def test_every_pair_of_versions(name: str) -> None:
    """Each version creates, each attaches and writes; the ends of the attachers remove nothing."""
    with ExitStack() as stack:
        makers = {v: stack.enter_context(SignalProcess(python)) for v, python in interpreters().items()}
        users = {v: stack.enter_context(SignalProcess(python)) for v, python in interpreters().items()}
        for version, maker in makers.items():
            assert ".".join(map(str, maker.tell("version", ""))) == version
            maker.tell("create", "made", f"{name}.{version}", SIZE)
        for (version, maker), (other, user) in product(makers.items(), users.items()):
            full = f"{name}.{version}"
            user.tell("attach", full, full, SIZE)
            user.tell("write", full, ONE)
            assert maker.tell("read", "made") == ONE
            maker.tell("write", "made", TWO)
            assert user.tell("read", full) == TWO
            assert user.tell("ask", full, "owner")[0] == maker.process.pid
            assert user.tell("ask", full, "owner_alive"), (version, other)
        for number, user in enumerate(users.values()):  # ways to end
            if number == 0:
                for version in makers:
                    user.tell("clear", f"{name}.{version}")
            if number == 1:
                user.kill()
            else:
                user.exit()
        with SignalProcess() as late:
            for version, maker in makers.items():
                late.tell("attach", version, f"{name}.{version}", SIZE)
                assert late.tell("read", version) == maker.tell("read", "made") == TWO
            for number, (version, maker) in enumerate(makers.items()):
                if number == 0:
                    maker.tell("clear", "made")
                maker.exit()
                assert not shared_memory_exists(f"{name}.{version}")
                assert late.tell("ask", version, "superseded")
            late.exit()


def test_a_killed_owner_is_succeeded_and_a_live_one_is_not(name: str) -> None:
    with SignalProcess() as first, SignalProcess() as second, SignalProcess() as user:
        first.tell("create", "s", name, SIZE)
        first.tell("write", "s", ONE)
        user.tell("attach", "s", name, SIZE)
        with pytest.raises(Refused, match=f"belongs to process {first.process.pid}, which is alive") as caught:
            second.tell("create", "s", name, SIZE)
        assert caught.value.name == "SignalInUseError"
        first.kill()
        assert not user.tell("ask", "s", "owner_alive")
        assert not user.tell("ask", "s", "superseded")
        second.tell("create", "s", name, SIZE)
        assert user.tell("ask", "s", "superseded")
        assert second.tell("ask", "s", "generation") == 2
        assert second.tell("read", "s") == "00" * 8
        assert user.tell("read", "s") == ONE
        with SignalProcess() as third:
            third.tell("create", "s", name, {**SIZE, "replace": True})
            assert second.tell("ask", "s", "superseded")
            second.tell("clear", "s")  # of a replaced segment: nothing is removed
            assert not third.tell("ask", "s", "superseded")
            third.exit()
        user.exit()


@pytest.mark.parametrize("end", ["clear", "drop", "close", "leave"])
def test_the_orderly_end_of_an_owner_removes_what_it_made(name: str, end: str) -> None:
    with SignalProcess() as owner:
        owner.tell("create", "s", name, SIZE)
        owner.tell("write", "s", ONE)
        if end != "leave":
            owner.tell(end, "s")
        assert shared_memory_exists(name) == (end != "clear")
        owner.exit()
    if end == "close":  # it gave up the ownership itself: what is left stops nobody
        assert shared_memory_exists(name)
        IPCSignal(name, shm_size=8).clear()
    assert not shared_memory_exists(name)


def test_two_instances_with_the_same_names_never_meet(name: str) -> None:
    """Equal names and different suffixes, in other processes that may have any process id (B56)."""
    with SignalProcess() as one, SignalProcess() as two:
        for process, suffix, content in ((one, 8000, ONE), (two, 8001, TWO)):
            process.tell("create", "s", name, {**SIZE, "suffix": suffix})
            process.tell("write", "s", content)
        assert (one.tell("read", "s"), two.tell("read", "s")) == (ONE, TWO)
        two.tell("attach", "other", name, {**SIZE, "suffix": 8000})
        assert two.tell("read", "other") == ONE
        one.tell("clear", "s")
        assert shared_memory_exists(f"{name}.8001")
        assert two.tell("read", "s") == TWO
        one.exit()
        two.exit()


_C = r"""
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int count, char **arguments) {
    int fd = count == 2 ? open(arguments[1], O_RDWR) : -1;
    if (fd < 0) return 2;
    int32_t *values = mmap(NULL, 4 * sizeof *values, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (values == MAP_FAILED) return 3;
    for (int i = 0; i < 4; i++) {
        printf("%d ", values[i]);
        values[i] *= -2;
    }
    return 0;
}
"""


def test_a_c_program_agrees(name: str, tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler (cc)")
    source, program = tmp_path / "map.c", tmp_path / "map"
    source.write_text(_C)
    subprocess.run([compiler, "-o", program, source], check=True, timeout=LIMIT_S)
    with IPCSignal(name, np.array([1, -2, 2**31 - 1, 0], np.int32), np.int32) as signal:
        path = Path(default_directory()) / name
        done = subprocess.run([program, path], capture_output=True, text=True, check=True, timeout=LIMIT_S)
        assert done.stdout == f"1 -2 {2**31 - 1} 0 "
        assert signal.value is not None
        assert signal.value.tolist() == [-2, 4, 2, 0]  # the third: modulo 2**32
        other = IPCSignal(name, np.zeros(4, np.int32), np.int32, create=False)  # what is behind the array is whole
        assert other.value is not None
        assert other.value.tolist() == [-2, 4, 2, 0]
        other.close()


def test_what_a_c_program_made_can_be_mapped(name: str) -> None:
    path = Path(default_directory()) / name
    path.write_bytes(struct.pack("=4i", 1, 2, 3, 4))
    with pytest.raises(SignalInUseError):
        IPCSignal(name, np.zeros(4, np.int32), np.int32)
    signal = IPCSignal(name, np.zeros(4, np.int32), np.int32, create=False, validate=False)
    assert signal.value is not None
    signal.value[2] = 33
    signal.clear()
    assert struct.unpack("=4i", path.read_bytes()) == (1, 2, 33, 4)
    path.unlink()


def test_a_thousand_restarts(name: str) -> None:
    """A thousand processes, one after the other, that end by clear, by SIGKILL and without either: nothing adds up."""
    program = """if True:
        import os, signal, sys, warnings
        import fdcomm
        from fdcomm import IPCSignal  # here, not in each child
        warnings.simplefilter("ignore", DeprecationWarning)
        name = sys.argv[1]
        folder = "/proc/self/fd"
        before = sorted(os.listdir(folder))
        for number in range(1000):
            child = os.fork()
            if child == 0:
                made = IPCSignal(name, shm_size=64)
                other = IPCSignal(name, shm_size=64, create=False)
                made.shm.buf[0] = number % 200
                assert other.shm.buf[0] == number % 200
                if number % 3 == 0:
                    made.clear()
                if number % 3 == 1:
                    os.kill(os.getpid(), signal.SIGKILL)
                os._exit(0)
            _, status = os.waitpid(child, 0)
            assert status == (signal.SIGKILL if number % 3 == 1 else 0), status
            there = [file for file in os.listdir("/dev/shm") if file.startswith(name)]
            assert there == ([] if number % 3 == 0 else [name]), there
        for number in range(100):
            with IPCSignal(name, shm_size=64) as made:
                IPCSignal(name, shm_size=64, create=False).close()
        assert sorted(os.listdir(folder)) == before
        assert not fdcomm.shared_memory_exists(name)
        """
    command = [next(iter(interpreters().values())), "-W", "error", "-c", program, name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
