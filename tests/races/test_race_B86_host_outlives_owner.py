"""B86: the engine is killed, and the process that it had started to hold the queue stays, with its socket.

Shipped, a manager's process waits for a message to end, which a killed engine does not send. Ours reads a pipe that
only its owner holds open.
"""

import os
import signal
import subprocess
import sys
import tempfile
from multiprocessing.managers import BaseManager
from pathlib import Path

import pytest

from tests.races.pipes import ROOT, read_line
from tests.races.race import Race, wait_until
from tests.races.variants import Ours, Shipped

pytestmark = pytest.mark.multiproc

_SHIPPED_ENGINE = """
import json, sys
from multiprocessing.managers import BaseManager
manager = BaseManager(sys.argv[1], b"key of a test")
manager.start()
print(json.dumps(manager._process.pid), flush=True)
sys.stdin.read()
"""

_OUR_ENGINE = """
import json, os, sys
from fdcomm import EngineWorkerQueue
queue = EngineWorkerQueue(("0.0.0.0", 0), is_server=True)
with open(f"/proc/self/task/{os.getpid()}/children") as children:
    print(json.dumps(int(children.read())), flush=True)
sys.stdin.read()
"""


def _host_of_killed_engine(code: str, *arguments: str) -> int:
    """Start an engine, kill it, and return the process id of its host."""
    engine = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, cwd=ROOT
    )
    try:
        return int(read_line(engine))
    finally:
        engine.kill()
        engine.wait()
        for pipe in (engine.stdin, engine.stdout):
            assert pipe is not None
            pipe.close()


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def shipped(variant: Shipped) -> str:
    with tempfile.TemporaryDirectory(prefix="fdcomm-race-", dir="/tmp") as folder:
        address = os.path.join(folder, "manager.sock")
        pid = _host_of_killed_engine(_SHIPPED_ENGINE, address)
        try:
            BaseManager(address, b"key of a test").connect()  # a round trip that it answers
            return "the engine is gone, and the manager still answers" if _runs(pid) else ""
        finally:
            os.kill(pid, signal.SIGKILL)
            wait_until("the manager ends", lambda: not _runs(pid))


def ours(variant: Ours) -> str:
    pid = _host_of_killed_engine(_OUR_ENGINE)
    try:
        wait_until("the host ends", lambda: not _runs(pid))
    except TimeoutError:
        os.kill(pid, signal.SIGKILL)
        return "the engine is gone, and the host goes on"
    return ""


RACE = Race(("B86",), shipped, ours, "the manager still answers", ranks=1)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
