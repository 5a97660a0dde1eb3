"""Pauses over real processes: the page's program, ranks that are killed, random cycles, a forked child, asyncio."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fdcomm import CommTimeoutError, EngineCacheQueue, ForkedHandleError, HostLostError, PauseControl, PauseEndedError
from fdcomm.aio import AsyncPauseControl
from models.dispatch_trace import accept_file
from tests.conformance.waiting import Background, until

pytestmark = pytest.mark.multiproc

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 60


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EngineCacheQueue]:
    trace = tmp_path / "host.ndjson"
    with EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=4, trace=trace) as queue:
        yield queue
    for verdict in accept_file(str(trace), only=("pause",)):
        assert verdict.accepted, str(verdict)


def _client(server: EngineCacheQueue, rank: int) -> EngineCacheQueue:
    return EngineCacheQueue(("0.0.0.0", server.get_server_port()), num_client=4, client_id=rank)


class _Rank:
    """A process that runs jobs of random length until it is told to end, or killed."""

    def __init__(self, server: EngineCacheQueue, rank: int, seed: int) -> None:
        command = [sys.executable, "-m", "tests.multiproc.pause_rank"]
        command += [str(server.get_server_port()), str(rank), str(seed)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "joined\n"

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()
        self._end()

    def _end(self) -> None:
        self.process.wait(LIMIT_S)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


def test_a_killed_rank_does_not_block_a_pause(server: EngineCacheQueue) -> None:
    rank = _Rank(server, 1, 1)
    api = PauseControl(server)
    os.kill(rank.process.pid, signal.SIGSTOP)
    with pytest.raises(CommTimeoutError) as caught:
        api.pause(timeout=0.2)
    assert caught.value.missing == (1,)
    waits = Background(lambda: api.pause(timeout=LIMIT_S))
    rank.kill()
    waits.value()
    assert api.statistics().lost == (1,)
    api.resume()


def test_the_end_of_the_host_is_told() -> None:
    server = EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=4)
    queue = _client(server, 0)
    rank = PauseControl(queue, rank=True)
    job = rank.admit()
    other = _client(server, 1)
    waits = Background(lambda: PauseControl(other).pause(timeout=None))
    assert server._host is not None
    os.kill(server._host.record.pid, signal.SIGKILL)
    assert isinstance(waits.error(), HostLostError)
    until(lambda: job.cancelled, "the loss of the host")
    with pytest.raises(HostLostError):
        rank.admit(timeout=0)
    job.done()
    rank.close()
    for handle in (queue, other, server):
        handle.close()


def test_a_forked_child_is_no_rank(server: EngineCacheQueue) -> None:
    queue = _client(server, 0)
    with PauseControl(queue, rank=True) as rank:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                rank.admit(timeout=0)
            except ForkedHandleError:
                code = 7
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        rank.admit().done()
        with PauseControl(server).paused():
            pass
    queue.close()


def test_real_threads_lose_no_count(server: EngineCacheQueue) -> None:
    queue = _client(server, 0)
    before = sys.getswitchinterval()
    with PauseControl(queue, rank=True) as rank:
        sys.setswitchinterval(1e-6)
        try:

            def work() -> None:
                for _ in range(500):
                    rank.admit(timeout=LIMIT_S).done()

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for _ in range(3):
                with PauseControl(server).paused(timeout=LIMIT_S):
                    assert rank.inflight == 0
            for thread in threads:
                thread.join(LIMIT_S)
        finally:
            sys.setswitchinterval(before)
        assert rank.inflight == 0
    queue.close()


def test_asyncio(server: EngineCacheQueue) -> None:
    queue = _client(server, 0)

    async def program(rank: PauseControl) -> None:
        async with AsyncPauseControl(server) as api:
            async with api.paused():
                assert (await api.statistics()).paused
            assert not (await api.statistics()).paused
            job = rank.admit()
            task = asyncio.create_task(api.pause(on_cancel="cancel_pause"))
            other = Background(lambda: PauseControl(server).pause(timeout=LIMIT_S))
            while (await api.statistics()).waiting < 2:  # one that came after the end would order a pause of its own
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert isinstance(await asyncio.to_thread(other.error), PauseEndedError)
            assert await api.cancel_pause() in (True, False)
            job.done()
            await api.pause()
            await api.resume()

    with PauseControl(queue, rank=True) as rank:
        asyncio.run(asyncio.wait_for(program(rank), LIMIT_S))
    queue.close()


def test_the_pages_program_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "protocols" / "pause.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    program = tmp_path / "pause.py"
    program.write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    command = [sys.executable, str(program)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=LIMIT_S, check=False
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["still running in ranks (0,)", "paused: True 0", "running: 1"]
