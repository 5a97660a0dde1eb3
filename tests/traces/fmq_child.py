"""An end of a queue in a process of its own, over real sockets, which records what it does: a program for the nursery.

Each line that it reads is a call; it says what came of it. All processes of a run append to one file: an action is
written before others can see it, so the order of the lines is one in which it all happened.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from fdcomm.errors import CommTimeoutError
from fdcomm.mq import Config, Queue, SocketOptions

__all__ = ("main",)

_LARGE_BYTES = 3000


def main() -> None:
    """Arguments: directory, file of the record, role, window, which messages are large."""
    root, record, role, window, large = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
    fd = os.open(record, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)

    def trace(action: str, args: dict[str, Any]) -> None:
        os.write(fd, (json.dumps([action, args]) + "\n").encode())

    config = Config(
        ipc_root=root, window=window, ack_every=2, shm_threshold=_LARGE_BYTES, socket_config=SocketOptions(linger=0)
    )
    queue = Queue("real", role, config, trace=trace)
    sent = 0
    print(json.dumps("open"), flush=True)
    for line in sys.stdin:
        call, *rest = json.loads(line)
        said: Any = None
        try:
            if call == "put":
                size = _LARGE_BYTES if (sent + 1) % large == 0 else 10
                said = sent = queue.put(bytes(size), timeout=rest[0])
            elif call == "get":
                message = queue.get(rest[0])
                said = [message.producer, message.number, len(message.payload)]
            elif call == "done":
                queue.done()
            elif call == "flush":
                queue.flush(rest[0])
            elif call == "close":
                queue.close(done=rest[0])
            elif call == "identity":
                said = queue._as_producer("").identity.hex()
        except CommTimeoutError:
            said = "too late"
        print(json.dumps(said), flush=True)
        if call == "close":
            return


if __name__ == "__main__":
    main()
