"""The ZeroMQ client and servers as FastDeploy's callers use them, and sockets of its own that look at its paths."""

from __future__ import annotations

import logging
import os
import pickle
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import zmq

from fdcomm import AddressInUseError, ClosedError, ConfigError, CurveKeys, ZmqTcpClient
from fdcomm.drop_in_zmq import links, zmq_server
from fdcomm.drop_in_zmq.zmq_client import ZmqIpcClient
from fdcomm.drop_in_zmq.zmq_server import ZmqIpcServer, ZmqTcpServer
from fdcomm.zsocket.codec import encode

LIMIT_S = 60.0


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where FastDeploy's paths are, for these tests."""
    monkeypatch.setattr(zmq_server, "FOLDER", str(tmp_path))
    return tmp_path


@pytest.fixture
def name() -> str:
    return f"parity-{os.urandom(4).hex()}"


@contextmanager
def _handles(server: Any) -> Iterator[None]:
    thread = threading.Thread(target=server.recv_result_handle)
    thread.start()
    try:
        yield
    finally:
        server.close()
        thread.join(LIMIT_S)
        assert not thread.is_alive()


def test_names_and_files(name: str, folder: Path) -> None:
    for mode, file in ((zmq.PULL, f"{name}.socket"), (zmq.ROUTER, f"router_{name}.ipc")):
        with ZmqIpcServer(name, mode) as server:
            assert (server.name, server.mode) == (name, mode)
            assert server.file_name.endswith(f"/{file}")
            assert (folder / file).readlink() == Path(server.file_name)
            with pytest.raises(AddressInUseError):
                ZmqIpcServer(name, mode)
            assert (folder / file).is_symlink()
        assert list(folder.iterdir()) == []
    client = ZmqIpcClient(name, zmq.PUSH)
    assert (client.name, client.address) == (name, "")
    for wrong in (zmq.SUB, zmq.DEALER):
        with pytest.raises(ConfigError):
            ZmqIpcServer(name, wrong)


def test_requests(name: str) -> None:
    with ZmqIpcServer(name=name, mode=zmq.PULL) as server:
        assert server.receive_json_once() == (None, None)
        assert server.receive_pyobj_once(block=False) == (None, None)
        client = ZmqIpcClient(name=name, mode=zmq.PUSH)
        client.connect()
        request = {"request_id": "a", "__meta": {"send_ts": 1.0}, "data": None}  # never taken for an envelope
        client.send_json(request)
        assert server.receive_json_once(True) == (None, request)
        client.send_pyobj({1, 2})
        assert server.receive_pyobj_once(block=True) == (None, {1, 2})
        client.send_json([1], flags=zmq.NOBLOCK)
        assert server.receive_json_once(True) == (None, [1])
        client.close()
        client.close()


def test_answers(name: str) -> None:
    """What a router sends to a dealer, read with the client's two calls."""
    with ZmqIpcServer(name, zmq.ROUTER) as server, ZmqIpcClient(name, zmq.DEALER) as client:
        client.send_handle("a")
        peer, _, _ = server._socket.receive("test", LIMIT_S)
        server._socket.send((peer, b"", encode({"x": 1}, "json")), "test")
        assert client.recv_json() == {"x": 1}
        server._socket.send((peer, b"", encode({1}, "pickle")), "test")
        assert client.recv_pyobj() == {1}


class _Result:
    def __init__(self, text: str, finished: bool) -> None:
        self.text, self.finished = text, finished

    def to_dict(self) -> dict[str, Any]:
        return {"text": self.text, "finished": self.finished}


def test_results(name: str, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A dealer of pyzmq at FastDeploy's path: results from before its handle and after, as one list a message."""
    server = ZmqIpcServer(name, zmq.ROUTER)
    with _handles(server), zmq.Context() as context, context.socket(zmq.DEALER) as dealer:
        dealer.linger, dealer.rcvtimeo = 0, int(1000 * LIMIT_S)
        server.send_response("q", [_Result("before", False)])
        dealer.connect(f"ipc://{folder}/router_{name}.ipc")
        dealer.send_multipart([b"", b"q"])
        empty, message = dealer.recv_multipart()
        assert (empty, pickle.loads(message)) == (b"", [{"text": "before", "finished": False}])
        server.send_response("q", [])
        server.send_response("q", [_Result("after", False), _Result("end", True)])
        assert [result["text"] for result in pickle.loads(dealer.recv_multipart()[1])] == ["after", "end"]
        # What goes wrong for one request is logged; the loop over the others goes on.
        with caplog.at_level(logging.ERROR, "fdcomm.mailbox"):
            server.send_response("q", [_Result("too late", False)])
            server.send_response("other", [lambda: None])
        assert "request q" in caplog.text
        assert "request other" in caplog.text
    with pytest.raises(ClosedError):
        server.send_response("q", [_Result("closed", True)])


def test_commands(name: str, caplog: pytest.LogCaptureFixture) -> None:
    with ZmqIpcServer(name, zmq.ROUTER) as server, ZmqIpcClient(name, zmq.DEALER) as client:
        assert server.recv_control_cmd() is None
        client.send_control_cmd({"task_id": "1", "cmd": "get_load"})
        assert server.recv_control_cmd(timeout=LIMIT_S) == {"task_id": "1", "cmd": "get_load"}
        server.response_for_control_cmd("1", {"load": 3})
        assert client.recv_control_result() == {"load": 3}
        with caplog.at_level(logging.ERROR, "fdcomm.mailbox"):
            server.response_for_control_cmd("1", {"load": 4})
        assert "task 1" in caplog.text


def test_a_closed_server(name: str, folder: Path) -> None:
    server = ZmqIpcServer(name, zmq.PULL)
    server.close()
    server.close()
    assert server.receive_json_once() == ("zmp socket has closed", None)
    assert server.receive_pyobj_once(True) == ("zmp socket has closed", None)
    assert list(folder.iterdir()) == []


def test_tcp() -> None:
    with ZmqTcpServer(port=0, mode=zmq.PULL) as server, ZmqTcpClient("127.0.0.1", server.port, zmq.PUSH) as client:
        client.send_json({"a": 1})
        assert server.receive_json_once(True) == (None, {"a": 1})
        client.send_pyobj([1, "b"])
        assert server.receive_pyobj_once(True) == (None, [1, "b"])
    assert server.receive_json_once() == ("zmp socket has closed", None)
    with ZmqTcpServer(0, zmq.ROUTER) as server, ZmqTcpClient("127.0.0.1", server.port, zmq.DEALER) as client:
        client.send_control_cmd({"task_id": "1"})
        assert server.recv_control_cmd(timeout=LIMIT_S) == {"task_id": "1"}
        server.response_for_control_cmd("1", "yes")
        assert client.recv_control_result() == "yes"


def test_tcp_results() -> None:
    keys = CurveKeys.generate()
    server = ZmqTcpServer(0, zmq.ROUTER, host="127.0.0.1", keys=keys)
    with _handles(server), ZmqTcpClient("127.0.0.1", server.port, zmq.DEALER, keys=keys.for_clients()) as client:
        client.send_handle("q")
        server.send_response("q", [{"finished": True}])
        assert client.recv_results() == [{"finished": True}]


@pytest.mark.parametrize("variable", ["FD_ENABLE_INTERNAL_ADAPTER", "FD_USE_AGGREGATE_SEND"])
def test_another_form_of_results_is_refused(name: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "0")
    ZmqIpcServer(name, zmq.ROUTER).close()
    monkeypatch.setenv(variable, "1")
    with pytest.raises(ConfigError, match=variable):
        ZmqIpcServer(name, zmq.ROUTER)
    with pytest.raises(ConfigError, match=variable):
        ZmqTcpServer(0, zmq.ROUTER)


def test_a_link_of_a_live_server_is_kept_and_a_stale_one_replaced(name: str, folder: Path) -> None:
    with ZmqIpcServer(name, zmq.PULL) as server:
        with pytest.raises(AddressInUseError):
            links.Link(f"{name}.socket", f"{folder}/elsewhere", str(folder))
        assert (folder / f"{name}.socket").readlink() == Path(server.file_name)
    (folder / f"{name}.socket").symlink_to(f"{folder}/of-a-killed-one.socket")
    with ZmqIpcServer(name, zmq.PULL) as server:
        assert (folder / f"{name}.socket").readlink() == Path(server.file_name)
        (folder / f"{name}.socket").unlink()
        (folder / f"{name}.socket").symlink_to(f"{folder}/another-ones")
    assert (folder / f"{name}.socket").is_symlink()  # not this server's any more
    (folder / "a file").touch()
    with pytest.raises(AddressInUseError):
        links.Link("a file", f"{folder}/target", str(folder))
    links.Link("nothing", f"{folder}/target", str(folder / "no such folder")).remove()
