"""Servers and clients of mailboxes in processes of their own, which are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import zmq

from fdcomm import (
    AddressInUseError,
    ForkedHandleError,
    UndeliverableError,
    ZmqIpcClient,
    ZmqIpcServer,
)
from tests.faults.zsockets import sockets_end, zeromq_runs
from tests.multiproc.mailbox_run import run_many
from tests.races import nursery
from tests.races.pipes import WATCHDOG_S, read_line
from tests.races.race import wait_until

__all__ = ("sockets_end", "zeromq_runs")

pytestmark = pytest.mark.multiproc

_CHILD = "tests.multiproc.mailbox_child"
_ROOT = Path(__file__).resolve().parents[2]
_SENDS_AND_ENDS = """
import multiprocessing, sys, zmq
from fdcomm import ZmqIpcClient, ZmqIpcServer
def sends(name, linger_s, sent):
    client = ZmqIpcClient(name, zmq.PUSH, linger_s=linger_s)
    client.connect()
    client.send_json("from the child")
    sent.send(None)
if __name__ == "__main__":
    name, linger_s, served = sys.argv[1], float(sys.argv[2]), sys.argv[3] == "served"
    there, here = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=sends, args=(name, linger_s, there))
    child.start()
    here.recv()
    if served:
        with ZmqIpcServer(name, zmq.PULL) as server:
            print(server.receive_json_once(True, timeout=linger_s)[1])
            child.join(linger_s)
    child.join(60)
    sys.exit(child.exitcode)
"""


@pytest.fixture(scope="module", autouse=True)
def the_process_that_forks() -> Iterator[None]:
    """It is a child of this one from before the first test until after the last."""
    with _born("serve", f"first-{os.getpid()}", "PULL") as first:
        read_line(first)
    with ZmqIpcServer(f"first-{os.getpid()}", zmq.PULL):  # it removes what the killed one has left
        pass
    yield
    nursery.end()


@contextmanager
def _born(*arguments: str) -> Iterator[nursery.Born]:
    process = nursery.born(_CHILD, *arguments)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


_NIGHTLY = os.environ.get("FDCOMM_PROFILE") == "deep"


def test_each_result_is_got_once_by_its_client_or_told(seed: int) -> None:
    requests = 10_000 if _NIGHTLY else 1_500
    figures = run_many(f"many-{os.getpid()}", seed, requests, clients=3, kills=6 if _NIGHTLY else 2)
    assert figures.wrong == [], f"seed {seed}: {figures}"
    assert figures.done > requests // 3, f"seed {seed}: {figures}"
    assert figures.killed >= 2


@pytest.mark.parametrize("mode", ["PULL", "ROUTER", "PUSH"])
def test_a_live_path_is_refused_and_a_stale_one_taken_over(mode: str) -> None:
    name, kind = f"path-{os.getpid()}-{mode}", getattr(zmq, mode)
    with _born("serve", name, mode) as first:
        path = read_line(first)[1]
        with pytest.raises(AddressInUseError):
            ZmqIpcServer(name, kind)
    assert os.path.exists(path)
    with ZmqIpcServer(name, kind) as second:
        assert second.file_name == path
        assert os.stat(path).st_mode & 0o777 == 0o600
    assert not os.path.exists(path)
    assert not os.path.exists(f"{path}.lock")


def test_a_client_goes_on_with_a_restarted_server() -> None:
    name = f"restart-{os.getpid()}"
    with ZmqIpcClient(name, zmq.PUSH) as client:
        with _born("serve", name, "PULL") as first:
            read_line(first)
            client.send_json("for the first")
        with ZmqIpcServer(name, zmq.PULL) as second:
            found: list[object] = []

            def comes() -> bool:
                client.send_json("for the second")
                found.append(second.receive_json_once(True, timeout=0.2)[1])
                return "for the second" in found

            wait_until("a message at the second server", comes)


def test_a_killed_client_is_noticed_though_its_child_lives() -> None:
    name = f"killed-{os.getpid()}"
    with ZmqIpcServer(name, zmq.ROUTER) as server:
        server.send_response("r", [{"n": 1}])
        with _born("asks", name, "r") as client:
            server.receive_handle_once(timeout=WATCHDOG_S)
            assert read_line(client) == ["result", [{"n": 1}]]
            child = read_line(client)[1]

        def noticed() -> bool:
            try:
                server.send_response("r", [{"n": 2}])
            except UndeliverableError:
                return True
            return False

        try:
            wait_until("the loss of the client", noticed)
            os.kill(child, 0)
        finally:
            os.kill(child, signal.SIGKILL)
        assert server.stage("r") == "lost"


def test_after_a_fork_only_the_parent_may_use_it() -> None:
    name = f"fork-{os.getpid()}"
    with ZmqIpcServer(name, zmq.PULL) as server, ZmqIpcClient(name, zmq.PUSH) as client:
        client.send_json(1)
        readable, writable = os.pipe()
        child = os.fork()
        if child == 0:
            told = b""
            for call in (lambda: client.send_json(2), server.receive_json_once):
                try:
                    call()
                    told += b"-"
                except ForkedHandleError:
                    told += b"F"
            client.close()
            server.close()
            with ZmqIpcServer(f"{name}-child", zmq.PULL) as own, ZmqIpcClient(f"{name}-child", zmq.PUSH) as mine:
                mine.send_json(3)
                told += str(own.receive_json_once(True, timeout=WATCHDOG_S)[1]).encode()
            os.write(writable, told)
            os._exit(0)
        os.close(writable)
        assert os.read(readable, 100) == b"FF3"
        os.close(readable)
        os.waitpid(child, 0)
        client.send_json(4)
        assert [server.receive_json_once(True, timeout=WATCHDOG_S)[1] for _ in range(2)] == [1, 4]
        assert os.path.exists(server.file_name)


@pytest.mark.parametrize(("who", "linger_s"), [("served", 30.0), ("nobody", 0.3)])
def test_a_child_of_multiprocessing_ends_within_its_linger(who: str, linger_s: float) -> None:
    """Its server comes after it has sent, when nothing but the linger keeps it, or does not come at all."""
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", _SENDS_AND_ENDS, f"ends-{os.getpid()}-{who}", str(linger_s), who],
        cwd=_ROOT,
        timeout=WATCHDOG_S,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "from the child\n" if who == "served" else ""), done.stderr
    assert time.monotonic() - begun < 30.0


def test_threads_share_a_socket(seed: int) -> None:
    """Four threads send over one socket while two threads receive from another."""
    name, each = f"threads-{os.getpid()}", 400
    got: list[tuple[str, int]] = []
    with ZmqIpcServer(name, zmq.PULL) as server, ZmqIpcClient(name, zmq.PUSH) as client:

        def send(who: int) -> None:
            for number in range(each):
                client.send_pyobj((f"t{who}", number))

        def receive() -> None:
            for _ in range(2 * each):
                got.append(server.receive_pyobj_once(True, timeout=WATCHDOG_S)[1])

        threads = [threading.Thread(target=send, args=(who,)) for who in range(4)]
        threads += [threading.Thread(target=receive) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WATCHDOG_S)
    assert sorted(got) == [(f"t{who}", number) for who in range(4) for number in range(each)]
