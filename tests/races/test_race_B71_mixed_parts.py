"""B70, B71: two threads send over one socket, and the parts of their messages are mixed."""

import threading
from collections.abc import Sequence

import zmq

from fdcomm.zsocket.codec import Buffer
from fdcomm.zsocket.locked import LockedSocket
from fdcomm.zsocket.port import ZmqPort
from tests.races.mailbox_race import SocketRace
from tests.races.pipes import WATCHDOG_S
from tests.races.shipped_mailbox import ShippedWire


def shipped() -> str:
    wire = ShippedWire()
    other = [lambda: wire.send_parts(["b1", "b2"])]

    def between() -> None:
        """The other thread comes between the parts."""
        if wire.parts and other:
            other.pop()()

    wire.step = between
    wire.send_parts(["a1", "a2"])
    return "" if wire.parts in (["a1", "a2", "b1", "b2"], ["b1", "b2", "a1", "a2"]) else f"on the wire are {wire.parts}"


class _Stopped(ZmqPort):
    """Stops in the middle of its first send."""

    def __init__(self) -> None:
        super().__init__(zmq.PUSH, linger_s=0.0)
        self.within, self.go_on = threading.Event(), threading.Event()
        self.inside, self.most = 0, 0

    def send(self, parts: Sequence[Buffer]) -> bool:
        self.inside += 1
        self.most = max(self.most, self.inside)
        if not self.within.is_set():
            self.within.set()
            self.go_on.wait(WATCHDOG_S)
        sent = super().send(parts)
        self.inside -= 1
        return sent


def ours() -> str:
    port, peer = _Stopped(), ZmqPort(zmq.PULL, linger_s=0.0)
    peer.bind("inproc://mixed-parts")
    port.connect("inproc://mixed-parts")
    socket, receiver = LockedSocket(port, "ours"), LockedSocket(peer, "its peer")
    first = threading.Thread(target=socket.send, args=((b"a1", b"a2"), "send", WATCHDOG_S))
    second = threading.Thread(target=socket.send, args=((b"b1", b"b2"), "send", WATCHDOG_S))
    first.start()
    port.within.wait(WATCHDOG_S)
    second.start()
    second.join(0.05)  # it could be in the socket by now
    port.go_on.set()
    found = [receiver.receive("receive", WATCHDOG_S) for _ in range(2)]
    for thread in (first, second):
        thread.join(WATCHDOG_S)
    receiver.close()
    socket.close()
    good = sorted(found) == [[b"a1", b"a2"], [b"b1", b"b2"]] and port.most == 1
    return "" if good else f"{port.most} threads were in the socket, and {found} came"


RACE = SocketRace(("B70", "B71"), shipped, ours, "on the wire are ['a1', 'b1', 'b2', 'a2']")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
