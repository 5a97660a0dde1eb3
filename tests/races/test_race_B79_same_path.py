"""B79: a second server takes the path of a live one, and the first one removes that of the second."""

import os
import tempfile

import zmq

from fdcomm import AddressInUseError
from fdcomm.mailbox.zmq_client import ZmqIpcClient
from fdcomm.mailbox.zmq_server import ZmqIpcServer
from tests.races.mailbox_race import SocketRace
from tests.races.pipes import WATCHDOG_S


def shipped() -> str:
    context = zmq.Context()
    with tempfile.TemporaryDirectory() as folder, context:
        path = os.path.join(folder, "s")
        with context.socket(zmq.PULL) as first, context.socket(zmq.PULL) as second, context.socket(zmq.PUSH) as push:
            for socket in (first, second, push):
                socket.linger = 0
            first.bind(f"ipc://{path}")
            second.bind(f"ipc://{path}")
            push.connect(f"ipc://{path}")
            push.send(b"for the first")
            got = "second" if second.poll(int(WATCHDOG_S * 1000)) else "first"
    return f"the {got} server has got the message" if got == "second" else ""


def ours() -> str:
    with ZmqIpcServer("same-path", zmq.PULL) as first:
        try:
            ZmqIpcServer("same-path", zmq.PULL).close()
        except AddressInUseError:
            with ZmqIpcClient("same-path", zmq.PUSH) as client:
                client.send_json("for the first")
                found = first.receive_json_once(True, timeout=WATCHDOG_S)
            return "" if found == (None, "for the first") else f"the first server has got {found}"
    return "a second server was let in"


RACE = SocketRace(("B79",), shipped, ours, "the second server has got the message")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
