"""B81: who can write to the channel runs code in the receiver."""

import logging
import pickle
from typing import Any

import zmq

from fdcomm import UndecodableError
from fdcomm.mailbox.zmq_client import ZmqTcpClient
from fdcomm.mailbox.zmq_server import ZmqTcpServer
from fdcomm.zsocket.codec import loads
from tests.races.mailbox_race import SocketRace, name_of
from tests.races.pipes import WATCHDOG_S

RAN: list[str] = []


def run(text: str) -> str:
    """What an attacker wants to run."""
    RAN.append(text)
    return text


class Crafted:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return run, ("secret content",)


def shipped() -> str:
    RAN.clear()
    pickle.loads(pickle.dumps([Crafted()]))
    return f"the receiver has run {RAN}" if RAN else ""


class _Log(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def ours() -> str:
    RAN.clear()
    log = _Log()
    logging.getLogger("fdcomm.mailbox").addHandler(log)
    try:
        with ZmqTcpServer(0, zmq.PULL) as server, ZmqTcpClient("127.0.0.1", server.port, zmq.PUSH) as client:
            client._connected("test").send((pickle.dumps((1, 0, Crafted())),), "test", WATCHDOG_S)
            client.send_pyobj({"n": 1})
            found = server.receive_pyobj_once(True, timeout=WATCHDOG_S)
    finally:
        logging.getLogger("fdcomm.mailbox").removeHandler(log)
    told = " ".join(log.lines)
    refused = name_of(lambda: loads(pickle.dumps([Crafted()]), ("msgpack",))) == UndecodableError.__name__
    good = found == (None, {"n": 1}) and not RAN and "pickle" in told and "secret" not in told and refused
    return "" if good else f"got {found}, ran {RAN}, logged {told}"


RACE = SocketRace(("B81",), shipped, ours, "the receiver has run ['secret content']")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
