"""Processes of the mailbox tests. Each says what it does in lines of JSON, and goes on when it gets a line."""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable
from typing import Any

import zmq

from fdcomm import CommTimeoutError, ZmqIpcClient, ZmqIpcServer

__all__ = ("main",)

_LIMIT_S = 60.0
_WINDOW = 16


def _say(*what: Any) -> None:
    os.write(1, (json.dumps(what) + "\n").encode())


def _go_on() -> None:
    os.read(0, 1)


def _serve(name: str, mode: str) -> None:
    """A server that lives until it is killed."""
    server = ZmqIpcServer(name, getattr(zmq, mode))
    _say("serving", server.file_name)
    _go_on()
    server.close()


def _asks(name: str, request: str) -> None:
    """A client that has asked, and then lives until it is killed. A child of its own lives on."""
    client = ZmqIpcClient(name, zmq.DEALER)
    client.connect()
    client.send_handle(request)
    _say("result", client.recv_results(timeout=_LIMIT_S))
    child = os.fork()
    if child == 0:
        os.read(0, 1)  # until the test ends
        os._exit(0)
    _say("child", child)
    os.waitpid(child, 0)


def _many(name: str, who: str, seed: str, count: str) -> None:
    """A client that sends requests, asks for their results before or after, and says what it gets."""
    rng = random.Random(f"{seed} {who}")
    push, dealer = ZmqIpcClient(name, zmq.PUSH), ZmqIpcClient(name, zmq.DEALER)
    push.connect()
    dealer.connect()
    left = [f"{who}-{number}" for number in range(int(count))]
    going: dict[str, int] = {}
    while left or going:
        while left and len(going) < _WINDOW:
            request = left.pop()
            going[request] = 0
            if rng.random() < 0.5:
                dealer.send_handle(request)
                push.send_pyobj({"id": request, "results": rng.randrange(1, 4)})
            else:
                push.send_pyobj({"id": request, "results": rng.randrange(1, 4)})
                dealer.send_handle(request)
        try:
            results = dealer.recv_results(timeout=_LIMIT_S)
        except CommTimeoutError:
            _say("missing", sorted(going))
            break
        for result in results:
            request = result["id"]
            going[request] += 1
            if result["n"] != going[request]:
                _say("wrong", request, result["n"], going[request])
            if result["finished"]:
                del going[request]
                _say("done", request, result["n"])
    push.close()
    dealer.close()


def main() -> None:
    """Do what the first argument says."""
    acts: dict[str, Callable[..., None]] = {"serve": _serve, "asks": _asks, "many": _many}
    acts[sys.argv[1]](*sys.argv[2:])
