"""Producers and the consumer of a queue are killed at random: ``python -m tests.soak.fmq --messages 1000000``.

Rounds of several producers and one consumer. A consumer writes down what it was given before it asks for more, which is
when a message counts as done; a producer writes down what it knows to be acknowledged. Who is killed is replaced. Lost
is what was acknowledged and written down by no consumer; duplicated is what one consumer was given twice; both have to
be 0. What a second consumer was given again was with the first one when that was killed: that is counted, and allowed.

With ``--state FILE`` figures are kept after each round, and the next call goes on from there.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from fdcomm.mq.payloads import Payloads

__all__ = ("Figures", "main", "run_round")

ROOT: Final = Path(__file__).resolve().parents[2]
_WATCHDOG_S: Final = 120.0
_LOOK_S: Final = 0.01

_CONSUMER: Final = """
import os, sys
from fdcomm.errors import CommTimeoutError
from fdcomm.mq import Config, Queue
root, log, stop = sys.argv[1:]
out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
queue = Queue("soak", "consumer", Config(ipc_root=root))
while True:
    try:
        message = queue.get(0.2)
    except CommTimeoutError:
        if os.path.exists(stop):
            break
        continue
    producer, number, body = message.payload
    if body is not None and (len(body) != 40_000 or body[number % 40_000] != number % 251):
        sys.exit("a payload has changed")
    os.write(out, b"%d %d\\n" % (producer, number))
queue.close()
"""
_PRODUCER: Final = """
import os, sys
import numpy as np
from fdcomm.mq import Config, Queue
root, log, producer, count, large = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
queue = Queue("soak", "producer", Config(ipc_root=root, shm_threshold=30_000))
for number in range(1, count + 1):
    body = None
    if number % large == 0:
        body = np.full(40_000, number % 251, np.uint8)
    queue.put((producer, number, body), timeout=60)
    if number % 64 == 0 or number == count:
        queue.flush(60)
        os.write(out, b"%d %d\\n" % (producer, number))
queue.close()
"""


@dataclass
class Figures:
    """What came of it."""

    sent: int = 0
    received: int = 0
    duplicated: int = 0
    lost: int = 0
    redelivered: int = 0
    producers_killed: int = 0
    consumers_killed: int = 0
    left_behind: int = 0

    def add(self, other: Figures) -> None:
        """Add the figures of a round."""
        for name, value in asdict(other).items():
            setattr(self, name, getattr(self, name) + value)

    @property
    def good(self) -> bool:
        """True if nothing was lost, given twice, or left behind."""
        return self.lost == self.duplicated == self.left_behind == 0


class _Round:
    """One round: processes, and what they have written."""

    def __init__(self, folder: Path, rng: random.Random, producers: int, count: int, large: int) -> None:
        self.folder = folder
        self.rng = rng
        self.large = large
        self.messages = producers * count
        self.root = folder / "queue"
        self.root.mkdir(mode=0o700)
        self.stop = folder / "stop"
        self.made = 0
        self.consumers = 0
        self.figures = Figures()
        self.consumer = self._consume()
        self.producers: dict[int, tuple[subprocess.Popen[bytes], int]] = {}
        for number in range(1, producers + 1):
            self.producers[number] = (self._produce(count), count)

    def _start(self, program: str, *args: object) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", program, *map(str, args)], cwd=ROOT)

    def _consume(self) -> subprocess.Popen[bytes]:
        self.consumers += 1
        return self._start(_CONSUMER, self.root, self.folder / f"given-{self.consumers}", self.stop)

    def _produce(self, count: int) -> subprocess.Popen[bytes]:
        self.made += 1
        return self._start(_PRODUCER, self.root, self.folder / "acknowledged", self.made, count, self.large)

    def acknowledged(self) -> Counter[int]:
        """Return up to which number each producer knows its messages to be done."""
        found: Counter[int] = Counter()
        log = self.folder / "acknowledged"
        for line in log.read_text().splitlines() if log.exists() else ():
            producer, number = map(int, line.split())
            found[producer] = number
        return found

    def run(self, kills: int) -> Figures:
        """Run it to its end; kill so many processes meanwhile, each when so many messages are known to be done."""
        end = time.monotonic() + _WATCHDOG_S
        due = sorted(self.rng.uniform(0.0, 0.8) * self.messages for _ in range(kills))
        while self.producers or self.consumer.poll() is None:
            if time.monotonic() > end:
                raise TimeoutError(f"the round did not end within {_WATCHDOG_S} s")
            if due and self.producers and self.acknowledged().total() >= due[0]:
                due.pop(0)
                self._kill()
            for number, (process, _) in list(self.producers.items()):
                if process.poll() is not None:
                    if process.returncode:
                        raise RuntimeError(f"producer {number} ended with {process.returncode}")
                    del self.producers[number]
            if not self.producers:
                self.stop.touch()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.consumer.wait(_LOOK_S)
        if self.consumer.returncode:
            raise RuntimeError(f"the consumer ended with {self.consumer.returncode}")
        return self._counted()

    def _kill(self) -> None:
        living = [number for number, (process, _) in self.producers.items() if process.poll() is None]
        if self.rng.random() < 0.4 or not living:
            self.consumer.send_signal(signal.SIGKILL)
            self.consumer.wait(_WATCHDOG_S)
            self.figures.consumers_killed += 1
            self.consumer = self._consume()
            return
        number = self.rng.choice(living)
        process, count = self.producers.pop(number)
        process.send_signal(signal.SIGKILL)
        process.wait(_WATCHDOG_S)
        self.figures.producers_killed += 1
        left = count - self.acknowledged()[number]
        if left:
            successor = self._produce(left)
            self.producers[self.made] = (successor, left)

    def _counted(self) -> Figures:
        figures, given = self.figures, Counter[tuple[int, int]]()
        for log in sorted(self.folder.glob("given-*")):
            lines = [line.split() for line in log.read_text().splitlines()]
            mine = Counter((int(producer), int(number)) for producer, number in lines)
            figures.duplicated += sum(count - 1 for count in mine.values())
            figures.redelivered += sum(one in given for one in mine)
            given.update(mine)
        figures.received = len(given)
        for producer, number in self.acknowledged().items():
            figures.sent += number
            figures.lost += sum((producer, n) not in given for n in range(1, number + 1))
        payloads = Payloads(str(self.root / "fmq_soak.ipc"))
        figures.left_behind = len(payloads.listed()) + len(os.listdir(self.root))
        return figures

    def end(self) -> None:
        """Leave no process."""
        for process in (self.consumer, *(process for process, _ in self.producers.values())):
            if process.poll() is None:
                process.kill()
                process.wait()


def run_round(seed: int, producers: int, count: int, kills: int, large: int = 50) -> Figures:
    """Return the figures of one round: so many producers of so many messages each, every ``large``-th in memory."""
    with tempfile.TemporaryDirectory(prefix="fdcomm-soak-", dir="/tmp") as folder:
        one = _Round(Path(folder), random.Random(seed), producers, count, large)
        try:
            return one.run(kills)
        finally:
            one.end()


def main(arguments: list[str] | None = None) -> int:
    """Run rounds until so many messages were sent; print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak.fmq", description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--round", type=int, default=60_000, help="messages of one round")
    parser.add_argument("--kills", type=int, default=5, help="kills in each round")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--state", type=Path, help="file that keeps the figures")
    chosen = parser.parse_args(arguments)
    total = Figures()
    if chosen.state is not None and chosen.state.exists():
        total = Figures(**json.loads(chosen.state.read_text()))
    seed = chosen.seed
    while total.sent < chosen.messages and total.good:
        total.add(run_round(seed, 3, chosen.round // 3, chosen.kills))
        print(f"seed {seed}: {json.dumps(asdict(total))}", flush=True)
        seed += 1
        if chosen.state is not None:
            chosen.state.write_text(json.dumps(asdict(total)))
    return 0 if total.good else 1


if __name__ == "__main__":
    sys.exit(main())
