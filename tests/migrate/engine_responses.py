"""The engine between its API servers: receives requests, and sends each result to whoever asks for it.

As in FastDeploy one thread receives requests, one receives handles, one sends results, and a scheduler is between.
"""

from __future__ import annotations

import os
import queue as queues
import sys
import threading
from typing import Any

import zmq
from fastdeploy.inter_communicator import ZmqIpcServer  # type: ignore[import-not-found]

from tests.migrate.site import idle, options, say

__all__ = ("main",)

_RESULTS = 3


class Engine:
    """The two servers and the threads around them."""

    def __init__(self, name: int) -> None:
        self.requests = ZmqIpcServer(name=name, mode=zmq.PULL)
        self.responses = ZmqIpcServer(name=name, mode=zmq.ROUTER)
        self.scheduled: queues.SimpleQueue[dict[str, Any] | None] = queues.SimpleQueue()
        self.running = True

    def insert(self) -> None:
        """Receive requests."""
        while self.running:
            error, request = self.requests.receive_json_once(block=False)
            if error is not None:
                raise RuntimeError(error)
            if request is None:
                idle()
            else:
                self.scheduled.put(request)

    def send(self) -> None:
        """Send results: of all requests in turn, one at a time."""
        going: list[tuple[str, int]] = []
        while self.running or going:
            while not self.scheduled.empty():
                request = self.scheduled.get()
                if request is not None:
                    going.append((request["request_id"], 0))
            for request_id, number in going:
                result = {"request_id": request_id, "number": number, "finished": number == _RESULTS - 1}
                self.responses.send_response(request_id, [result])
            going = [(request_id, number + 1) for request_id, number in going if number < _RESULTS - 1]
            idle()


def main() -> None:
    """Run."""
    options(__doc__)
    name = os.getpid()
    engine = Engine(name)
    threads = [
        threading.Thread(target=body) for body in (engine.insert, engine.send, engine.responses.recv_result_handle)
    ]
    for thread in threads:
        thread.start()
    say(event="serving", port=name)
    sys.stdin.readline()  # until the API servers have ended
    engine.running = False
    threads[0].join()
    threads[1].join()
    engine.requests.close()
    engine.responses.close()
    threads[2].join()
