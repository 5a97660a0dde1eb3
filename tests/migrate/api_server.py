"""An API server: sends requests, and asks for their results with sockets of its own at FastDeploy's path.

It asks for every second request before it sends it, and for the others when they may be finished already.
"""

from __future__ import annotations

from multiprocessing.reduction import ForkingPickler
from typing import Any

import zmq
from fastdeploy.inter_communicator import ZmqIpcClient  # type: ignore[import-not-found]

from tests.migrate.site import LIMIT_S, idle, options, say

__all__ = ("main",)


def main() -> None:
    """Run."""
    arguments = options(__doc__)
    client = ZmqIpcClient(name=arguments.port, mode=zmq.PUSH)
    client.connect()
    with zmq.Context() as context, context.socket(zmq.DEALER) as dealer:
        dealer.linger, dealer.rcvtimeo = 0, int(1000 * LIMIT_S)
        dealer.connect(f"ipc:///dev/shm/router_{arguments.port}.ipc")
        for number in range(arguments.count):
            request_id = f"{arguments.dp}.{arguments.rank}.{number}"
            early = number % 2 == 0
            if early:
                dealer.send_multipart([b"", request_id.encode()])
            client.send_json({"request_id": request_id, "prompt": "a b c"})
            if not early:
                for _ in range(20):
                    idle()
                dealer.send_multipart([b"", request_id.encode()])
            results: list[dict[str, Any]] = []
            while not (results and results[-1]["finished"]):
                _, message = dealer.recv_multipart()
                results += ForkingPickler.loads(message)
            say(event="got", request=request_id, results=[(one["request_id"], one["number"]) for one in results])
    client.close()
