"""B73: a process does not end, because what it has sent is for nobody."""

import os
import subprocess
import sys
import time

from tests.races.mailbox_race import SocketRace
from tests.races.pipes import ROOT, WATCHDOG_S

_SHIPPED = """
import sys, zmq
context = zmq.Context()
socket = context.socket(zmq.PUSH)
socket.connect("ipc://" + sys.argv[1])
socket.send(b"for nobody")
print("sent", flush=True)
socket.close()
context.term()
"""

_OURS = """
import sys, zmq
from fdcomm import ZmqIpcClient
client = ZmqIpcClient("nobody-serves-this", zmq.PUSH, linger_s=0.5)
client.connect()
client.send_json("for nobody")
print("sent", flush=True)
"""


def _run(program: str, limit_s: float) -> str:
    """Return "" if the program ends in time after it has sent, else what it does."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "error", "-c", program, f"{os.environ['FDCOMM_RUNTIME_DIR']}/nobody"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        if process.stdout is None or process.stdout.readline() != b"sent\n":
            return f"it has not sent: {process.communicate()[1].decode()}"
        began = time.monotonic()
        process.wait(limit_s)
        return "" if process.returncode == 0 else f"it ended with {process.returncode}"
    except subprocess.TimeoutExpired:
        return f"it has not ended after {time.monotonic() - began:.0f} s"
    finally:
        process.kill()
        process.communicate()


def shipped() -> str:
    return _run(_SHIPPED, 2.0)


def ours() -> str:
    return _run(_OURS, WATCHDOG_S)


RACE = SocketRace(("B73",), shipped, ours, "it has not ended after 2 s")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
