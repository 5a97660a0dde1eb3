"""Runs of a queue between real processes over real sockets, which are killed and replaced; recorded, for the judges.

Who is killed is stopped first, between two calls, and then its end is written down: a process that is stopped writes
nothing more, and what it has sent may still be read.
"""

from __future__ import annotations

import json
import os
import random
import signal
import tempfile
from pathlib import Path
from typing import Any

from tests.races import nursery
from tests.races.pipes import read_line
from tests.traces.events import Event
from tests.traces.fmq_runs import prepared

__all__ = ("REAL_EVENTS", "WINDOW", "real_run")

LARGE = 3
WINDOW = 4
_LIMIT_S = 60.0

REAL_EVENTS = {
    *("Put", "Connect", "End", "HearAck"),
    *("StartConsumer", "EndConsumer", "Take", "Finish", "Acknowledge"),
}
"""What happens in three real runs; the others need luck, and Cut a connection that breaks while both ends live."""


class _Process:
    def __init__(self, folder: Path, role: str) -> None:
        arguments = (str(folder), str(folder / "record"), role, str(WINDOW), str(LARGE))
        self.born = nursery.born("tests.traces.fmq_child", *arguments)
        if read_line(self.born) != "open":
            raise RuntimeError("the end has not opened")
        self.identity = self.call("identity") if role == "producer" else ""

    def call(self, *what: Any) -> Any:
        """Call, and return what came of it."""
        self.born.stdin.write((json.dumps(what) + "\n").encode())
        return read_line(self.born)

    def kill(self, folder: Path) -> None:
        """Stop it, write down that it has ended, and kill it."""
        os.kill(self.born.pid, signal.SIGSTOP)
        _wait_until_stopped(self.born.pid)
        ended = ["End", {"producer": self.identity}] if self.identity else ["EndConsumer", {}]
        with (folder / "record").open("a") as file:
            file.write(json.dumps(ended) + "\n")
        self.born.kill()
        self.gone()

    def close(self, done: bool = True) -> None:
        """An orderly end."""
        self.call("close", done)
        self.gone()

    def gone(self) -> None:
        """Wait until it is."""
        self.born.wait(_LIMIT_S)
        for end in (self.born.stdin, self.born.stdout):
            end.close()


def _wait_until_stopped(pid: int) -> None:
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("T", "t"):
        os.sched_yield()


def real_run(seed: int, acts: int) -> list[Event]:
    """Return what two producers and a consumer have recorded, every decision random."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="fdcomm-mq-", dir="/tmp") as name:
        folder = Path(name)
        (folder / "record").touch()
        ends: list[_Process] = []
        made = 0
        consumer: _Process | None = None
        try:
            for _ in range(acts):
                act = rng.choice(("put", "put", "put", "get", "get", "get", "done", "turn", "end"))
                if len(ends) < 2 and made < 4:
                    ends.append(_Process(folder, "producer"))
                    made += 1
                elif act == "put" and ends:
                    rng.choice(ends).call("put", 0.0)
                elif act == "get" and consumer is not None:
                    consumer.call("get", 0.05)
                elif act == "done" and consumer is not None:
                    consumer.call("done")
                elif act == "turn" and (consumer is None or rng.random() < 0.4):
                    if consumer is None:
                        consumer = _Process(folder, "consumer")
                    elif rng.random() < 0.6:
                        consumer.kill(folder)
                        consumer = None
                    else:
                        consumer.close(done=rng.random() < 0.5)
                        consumer = None
                elif act == "end" and ends and rng.random() < 0.4:
                    ended = ends.pop(rng.randrange(len(ends)))
                    if rng.random() < 0.6:
                        ended.kill(folder)
                    else:
                        ended.close()
            consumer = consumer or _Process(folder, "consumer")
            while consumer.call("get", 0.5) != "too late":
                pass
            while ends:
                ends[-1].call("flush", _LIMIT_S)
                ends.pop().close()
            consumer.close()
            consumer = None
            _Process(folder, "consumer").close()  # it removes what is left
        finally:
            for process in (*ends, *([consumer] if consumer is not None else [])):
                process.born.kill()
                process.gone()
        raw = [tuple(json.loads(line)) for line in (folder / "record").read_text().splitlines()]
        return prepared(raw, max(1, made), WINDOW, LARGE)
