"""B75: a router drops what is for a client that is gone, and reports success."""

import zmq

from fdcomm import UndeliverableError
from fdcomm.mailbox.values import Undelivered
from fdcomm.mailbox.zmq_client import ZmqIpcClient
from fdcomm.mailbox.zmq_server import ZmqIpcServer
from tests.races.mailbox_race import SocketRace
from tests.races.pipes import WATCHDOG_S
from tests.races.race import wait_until


def shipped() -> str:
    context = zmq.Context()
    with context, context.socket(zmq.ROUTER) as router:
        router.linger = 0
        router.bind("inproc://gone-client")
        router.send_multipart([b"gone", b"", b"results"], zmq.NOBLOCK)
        return "the send to a client that is gone was a success"


def ours() -> str:
    lost: list[Undelivered] = []
    with ZmqIpcServer("gone-client", zmq.ROUTER, undelivered=lost.append) as server:
        with ZmqIpcClient("gone-client", zmq.DEALER) as client:
            client.send_handle("r")
            server.receive_handle_once(timeout=WATCHDOG_S)
            server.send_response("r", [{"n": 1}])
            client.recv_results(timeout=WATCHDOG_S)
        told = []

        def noticed() -> bool:
            try:
                server.send_response("r", [{"n": 2}])
            except UndeliverableError as error:
                told.append(error.request)
            return bool(told)

        wait_until("the loss of the client", noticed)
        return "" if (told, lost[-1].why) == (["r"], "lost") else f"told {told}, {lost}"


RACE = SocketRace(("B75",), shipped, ours, "was a success")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
