"""unsent-memory: what a process has sent without a copy is sent after its memory was let go of, at the end."""

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import zmq

from fdcomm import CommTimeoutError, ZmqIpcServer
from tests.races.mailbox_race import SocketRace
from tests.races.pipes import ROOT, WATCHDOG_S

_COUNT = 64
_BYTES = 500_000

# As the published client sends; the context is ended at the end of the program, as far as anybody does that.
_SHIPPED = f"""
import atexit, sys, zmq
from multiprocessing.reduction import ForkingPickler
context = zmq.Context()
atexit.register(lambda: (print("ending", flush=True), context.destroy(60_000)))
socket = context.socket(zmq.PUSH)
socket.connect("ipc://" + sys.argv[1] + "/unsent.socket")
for number in range({_COUNT}):
    socket.send(ForkingPickler.dumps(bytes([number]) * {_BYTES}), copy=False)
"""

_OURS = f"""
import atexit, zmq
from fdcomm import ZmqIpcClient
client = ZmqIpcClient("unsent", zmq.PUSH, linger_s=60.0)
client.connect()
for number in range({_COUNT}):
    client.send_pyobj(bytes([number]) * {_BYTES})
atexit.register(print, "ending", flush=True)
"""


def _run(program: str, opened: Callable[[str, ExitStack], Callable[[], Any]]) -> str:
    """Read what the program has sent, from when it is about to end. Return "" if all came as it was."""
    with tempfile.TemporaryDirectory(prefix="um-") as folder, ExitStack() as undo:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "FDCOMM_RUNTIME_DIR": folder}
        command = [sys.executable, "-W", "error", "-c", program, folder]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            if process.stdout is None or process.stdout.readline() != b"ending\n":
                return f"it has not sent: {process.communicate()[1].decode()}"
            take = opened(folder, undo)
            for number in range(_COUNT):
                if process.poll() not in (None, 0):
                    return f"what was sent was lost: it ended with {process.returncode}"
                try:
                    came = take()
                except (CommTimeoutError, zmq.Again, pickle.UnpicklingError, EOFError, ValueError) as error:
                    return f"what was sent was lost: {type(error).__name__}"
                if came != bytes([number]) * _BYTES:
                    return f"what was sent was lost: message {number} has other bytes"
            process.wait(WATCHDOG_S)
            return "" if process.returncode == 0 else f"it ended with {process.returncode}"
        finally:
            process.kill()
            process.communicate()


def shipped() -> str:
    def opened(folder: str, undo: ExitStack) -> Callable[[], Any]:
        context = undo.enter_context(zmq.Context())
        pull = undo.enter_context(context.socket(zmq.PULL))
        pull.rcvtimeo = 3000
        pull.bind(f"ipc://{folder}/unsent.socket")
        return lambda: pickle.loads(pull.recv())

    return _run(_SHIPPED, opened)


def ours() -> str:
    def opened(folder: str, undo: ExitStack) -> Callable[[], Any]:
        before = os.environ["FDCOMM_RUNTIME_DIR"]
        os.environ["FDCOMM_RUNTIME_DIR"] = folder
        try:
            server = undo.enter_context(ZmqIpcServer("unsent", zmq.PULL))
        finally:
            os.environ["FDCOMM_RUNTIME_DIR"] = before
        return lambda: server.receive_pyobj_once(True, timeout=WATCHDOG_S)[1]

    return _run(_OURS, opened)


RACE = SocketRace(("unsent-memory",), shipped, ours, "what was sent was lost")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
