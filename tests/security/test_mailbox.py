"""Who may talk to a mailbox, and what a stranger's message does: nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import zmq

from fdcomm import (
    AddressInUseError,
    ClosedError,
    CommTimeoutError,
    ConfigError,
    CurveKeys,
    ProtocolViolationError,
    UndeliverableError,
    UnsafeConfigError,
    ZmqIpcClient,
    ZmqIpcServer,
    ZmqTcpClient,
    ZmqTcpServer,
)
from tests.faults.zsockets import sockets_end, zeromq_runs

__all__ = ("sockets_end", "zeromq_runs")

LIMIT_S = 60.0


@pytest.mark.parametrize(
    "arguments",
    [{"host": "*"}, {"host": "0.0.0.0"}, {"allow_pickle": True}, {"allow_pickle": True, "host": "127.0.0.1"}],
)
def test_a_server_without_keys_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(UnsafeConfigError):
        ZmqTcpServer(0, zmq.PULL, **arguments)


@pytest.mark.parametrize(("host", "pickles"), [("192.0.2.1", False), ("127.0.0.1", True)])
def test_a_client_without_keys_is_refused(host: str, pickles: bool) -> None:
    with pytest.raises(UnsafeConfigError):
        ZmqTcpClient(host, 1, zmq.PUSH, allow_pickle=pickles)


def test_keys_let_one_client_in_and_no_other() -> None:
    keys, others = CurveKeys.generate(), CurveKeys.generate()
    with ZmqTcpServer(0, zmq.ROUTER, keys=keys, host="127.0.0.1", allow_pickle=True) as server:
        stranger = replace(others.for_clients(), server_public=keys.server_public)
        with ZmqTcpClient("127.0.0.1", server.port, zmq.DEALER, keys=stranger, linger_s=0.0) as bad:
            bad.send_control_cmd({"task_id": "of a stranger"})
            with ZmqTcpClient("localhost", server.port, zmq.DEALER, keys=keys.for_clients(), allow_pickle=True) as good:
                good.send_control_cmd({"task_id": "t1", "n": 1})
                assert server.recv_control_cmd(timeout=LIMIT_S) == {"task_id": "t1", "n": 1}
                server.response_for_control_cmd("t1", {"ok": True})
                assert good.recv_control_result(timeout=LIMIT_S) == {"ok": True}
                good.send_handle("r")
                assert server.receive_handle_once(timeout=LIMIT_S)
                server.send_response("r", [{1, 2}])
                assert good.recv_results(timeout=LIMIT_S) == [{1, 2}]
        assert server.recv_control_cmd() is None
        with pytest.raises(UndeliverableError):
            server.response_for_control_cmd("t1", {})


def test_keys_of_clients_make_no_server() -> None:
    with pytest.raises(ConfigError, match="secret"):
        ZmqTcpServer(0, zmq.PULL, keys=CurveKeys.generate().for_clients(), host="127.0.0.1")


def test_a_port_that_is_taken_is_refused() -> None:
    with ZmqTcpServer(0, zmq.PULL) as server:
        with pytest.raises(AddressInUseError):
            ZmqTcpServer(server.port, zmq.PULL)


def test_bad_messages_cost_themselves() -> None:
    with ZmqIpcServer("bad-messages", zmq.ROUTER) as server, ZmqIpcClient("bad-messages", zmq.DEALER) as client:
        socket = client._connected("test")
        for parts in ((b"no empty frame",), (b"", b"1", b"2"), (b"", b"\xff\xfe"), (b"x", b"r")):
            socket.send(parts, "test", LIMIT_S)
            assert not server.receive_handle_once(timeout=LIMIT_S)
        for text in (b"", b"\xc1", b"\x01", b"\x81\xa7task_id\x01"):
            socket.send((b"", text), "test", LIMIT_S)
        client.send_control_cmd({"task_id": "good"})
        assert server.recv_control_cmd(timeout=LIMIT_S) == {"task_id": "good"}
        assert server.statistics().undecodable == 8


def test_calls_of_another_mode_are_refused() -> None:
    with ZmqIpcServer("modes", zmq.PULL) as server, ZmqIpcClient("modes", zmq.PUSH) as client:
        for call in (
            lambda: server.send_response("r", [1]),
            server.recv_control_cmd,
            lambda: server.send_batch_response([1]),
            lambda: client.send_handle("r"),
            client.recv_batch,
            lambda: client.send_json(1, zmq.SNDMORE),
        ):
            with pytest.raises(ConfigError):
                call()
    for kind in (zmq.PUB, zmq.DEALER):
        with pytest.raises(ConfigError):
            ZmqIpcServer("modes", kind)


def test_waits_have_limits_and_a_closed_client_says_so() -> None:
    client = ZmqIpcClient("nobody", zmq.DEALER, timeout=0.01, linger_s=0.0)
    with pytest.raises(ProtocolViolationError, match="connect"):
        client.send_json(1)
    with client:
        with pytest.raises(CommTimeoutError):
            client.recv_json()
        with pytest.raises(CommTimeoutError):
            client.recv_pyobj(zmq.NOBLOCK)
    with pytest.raises(ClosedError):
        client.send_json(1)


def test_a_batch_goes_to_one_of_those_who_pull() -> None:
    with ZmqIpcServer("batches", zmq.PUSH, send_timeout=LIMIT_S) as server:
        with ZmqIpcClient("batches", zmq.PULL) as client:
            server.send_response("", [[{"n": 1}], [{"n": 2}]])
            assert client.recv_batch(timeout=LIMIT_S) == [[{"n": 1}], [{"n": 2}]]
    with ZmqIpcServer("batches", zmq.PUSH, send_timeout=0.01) as server, pytest.raises(CommTimeoutError):
        server.send_batch_response([1])


def _fill(server: ZmqIpcServer) -> None:
    for _ in range(100_000):
        server.send_response("r", [b"x" * 65536])


def test_a_client_that_takes_nothing_is_given_up() -> None:
    with ZmqIpcServer("slow", zmq.ROUTER, limit=1, send_timeout=0.2) as server:
        with ZmqIpcClient("slow", zmq.DEALER, linger_s=0.0) as client:
            client.send_handle("r")
            assert server.receive_handle_once(timeout=LIMIT_S)
            with pytest.raises(CommTimeoutError):
                _fill(server)
            assert server.stage("r") == "late"


def test_a_server_that_is_closed_says_so() -> None:
    server = ZmqIpcServer("closed", zmq.PULL)
    server.close()
    server.close()
    assert server.receive_json_once() == ("zmp socket has closed", None)
    assert server.receive_pyobj_once(True) == ("zmp socket has closed", None)
