"""Random pauses, clears and resumes over four rank processes that work, are killed and stopped: none hung, none lost.

``python -m tests.soak.pause --cycles 10000 --seed 1`` prints figures, and ends with 1 when something was wrong. Every
cycle checks, while the pause is held, that no rank touches what the pause protects and none begins a job, and that the
result of every job that has ended can be read, once and in order.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fdcomm import CommTimeoutError, EngineCacheQueue, PauseControl, PauseEndedError
from fdcomm.core.pause import MODES
from tests.conformance.waiting import Background, until
from tests.faults.remote import stopped
from tests.races.nursery import Born, born
from tests.soak.pause_words import RANKS, Words

__all__ = ("Figures", "Soak", "main", "run")

LIMIT_S = 60.0  # a watchdog: a call that takes longer hangs
_MOMENTS = ("work", "order", "pause", "resume")


@dataclass
class Figures:
    """What happened. ``lost``, ``twice``, ``overlaps`` and ``hung`` have to be 0."""

    seed: int = 0
    cycles: Counter[str] = field(default_factory=Counter)
    kills: Counter[str] = field(default_factory=Counter)
    stops: int = 0
    client_losses: int = 0
    restarts: int = 0
    jobs: Counter[str] = field(default_factory=Counter)
    died: int = 0
    lost: int = 0
    twice: int = 0
    overlaps: int = 0
    hung: int = 0
    longest_ms: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def wrong(self) -> int:
        """How much was wrong."""
        return self.lost + self.twice + self.overlaps + self.hung


class Soak:
    """A host, four rank processes and two clients."""

    def __init__(self, seed: int, folder: Path, trace: Path | None, losses: float) -> None:
        self.figures = Figures(seed)
        self._rng, self._losses = random.Random(seed), losses
        self._processes = 0
        self._undo = contextlib.ExitStack()
        self._file = folder / "words"
        self.words = self._undo.enter_context(Words(self._file, create=True))
        self.server = EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=RANKS, trace=trace or "")
        self._undo.callback(self.server.close)
        self.api = PauseControl(self.server)
        self._open_other()
        self.ranks: dict[int, tuple[int, Born]] = {}
        self._read: Counter[tuple[int, int]] = Counter()  # process and thread -> results read
        self._gone: list[tuple[int, list[tuple[int, int]]]] = []  # processes to be accounted for, with their counts
        for rank in range(RANKS):
            self._start(rank)

    def _open_other(self) -> None:
        self._other_queue = EngineCacheQueue(self.server.address, num_client=RANKS, client_id=0, role="producer")
        self.other = PauseControl(self._other_queue)

    # -- ranks ---------------------------------------------------------------------------------------------------

    def _start(self, rank: int) -> None:
        self._processes += 1
        number, port = self._processes, self.server.get_server_port()
        process = born("tests.soak.pause_rank", *map(str, (port, rank, number, self._file)))
        if process.stdout.readline() != b"joined\n":
            raise RuntimeError(f"rank {rank} does not start")
        self.ranks[rank] = number, process

    def _kill(self, rank: int, moment: str) -> None:
        number, process = self.ranks.pop(rank)
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            pipe.close()
        self._gone.append((number, self.words.counts(rank)))
        self.words.fresh(rank)
        self.figures.kills[moment] += 1

    def _perhaps_kill(self, moment: str, chosen: str) -> None:
        if moment == chosen:
            rank = self._rng.choice(sorted(self.ranks))
            self._kill(rank, moment)
            self._start(rank)
            self.figures.restarts += 1

    # -- checks --------------------------------------------------------------------------------------------------

    def _timed(self, what: str, call: Callable[[], Any]) -> Any:
        start = time.monotonic()
        try:
            return call()
        except CommTimeoutError as error:
            self.figures.hung += error.waited_s >= LIMIT_S
            raise
        finally:
            took = (time.monotonic() - start) * 1e3
            self.figures.longest_ms[what] = round(max(took, self.figures.longest_ms.get(what, 0.0)), 1)

    def _see_still(self, then: Callable[[], None] = lambda: None) -> None:
        """Nothing runs, and nothing begins while the block is under way."""
        before = [*self.words.busy_threads()], {rank: self.words.counts(rank) for rank in self.ranks}
        then()
        after = {rank: self.words.counts(rank) for rank in before[1]}
        self.figures.overlaps += len(before[0]) + len(self.words.busy_threads()) + (before[1] != after)

    def _collect(self) -> None:
        """Read every result; those of jobs that have ended are all there. While the pause is held, or at the end."""
        begun = self.words.all_begun()
        while (result := self.server.get_transfer_done_signal()) is not None:
            if self.words.all_begun() != begun:  # then there is no end of it
                self.figures.overlaps += 1
                return
            number, _, thread, count, how = result
            self.figures.jobs[how] += 1
            self.figures.twice += count <= self._read[number, thread]
            self.figures.lost += max(0, count - self._read[number, thread] - 1)
            self._read[number, thread] = max(count, self._read[number, thread])
        for rank, (number, _) in self.ranks.items():
            for thread, (_, posted) in enumerate(self.words.counts(rank)):
                self.figures.lost += posted != self._read[number, thread]
        for number, counts in self._gone:
            for thread, (begun, posted) in enumerate(counts):
                read = self._read.pop((number, thread), 0)
                self.figures.lost += read not in (posted, posted + 1) or read > begun
                self.figures.died += begun - read
        self._gone.clear()

    # -- cycles --------------------------------------------------------------------------------------------------

    def cycle(self) -> None:
        """One, of a random kind, in which perhaps a rank is killed or stopped, or a client is lost."""
        rng = self._rng
        begun = self.words.all_begun()
        until(lambda: self.words.all_begun() > begun or bool(self.words.busy_threads()), "a rank works")
        kind = rng.choices(("pause", "clear", "cancel", "two clients"), (50, 25, 10, 15))[0]
        moment = rng.choice(_MOMENTS) if rng.random() < self._losses else ""
        self.figures.cycles[kind] += 1
        self._perhaps_kill("work", moment)
        if rng.random() < self._losses / 6:
            self._stop_one()
        elif kind == "cancel":
            self._cancel()
        elif kind == "two clients":
            self._two_clients(moment)
        elif kind == "clear":
            self._timed("clear", lambda: self.api.clear(lambda: self._work(moment), rng.choice(MODES), timeout=LIMIT_S))
        else:
            self._pause(moment)

    def _work(self, moment: str) -> None:
        self._see_still(self._collect)
        self._perhaps_kill("pause", moment)
        self._see_still()

    def _pause(self, moment: str) -> None:
        mode = self._rng.choice(MODES)
        pausing = Background(lambda: self._timed("pause", lambda: self.api.pause(mode, timeout=LIMIT_S)))
        self._perhaps_kill("order", moment)
        number = pausing.value()
        with self.api.held(number):
            self._work(moment)
        resuming = Background(lambda: self._timed("resume", lambda: self.api.resume(number, timeout=LIMIT_S)))
        self._perhaps_kill("resume", moment)
        resuming.value()

    def _cancel(self) -> None:
        try:
            self.api.resume(self.api.pause(self._rng.choice(MODES), timeout=0), timeout=LIMIT_S)
        except CommTimeoutError:
            if not self._timed("cancel", lambda: self.api.cancel_pause(timeout=LIMIT_S)):
                self._timed("resume", lambda: self.api.resume(timeout=LIMIT_S))

    def _two_clients(self, moment: str) -> None:
        """Two clears at once; at times the other's process is gone while it holds the pause."""
        loses = self._rng.random() < 0.1
        holds, go = threading.Event(), threading.Event()

        def work() -> None:
            holds.set()
            if loses:
                go.wait(LIMIT_S)
            self._see_still()

        other = Background(lambda: self.other.clear(work, timeout=LIMIT_S))
        if not loses:
            self._timed("clear", lambda: self.api.clear(lambda: self._work(moment), timeout=LIMIT_S))
            other.value()
            return
        until(holds.is_set, "the other clears")
        self._other_queue._release(goodbye=False)
        go.set()
        self.figures.client_losses += not isinstance(other.error(), (PauseEndedError, type(None)))
        self._open_other()
        self._pause(moment)

    def _stop_one(self) -> None:
        """A rank is stopped with SIGSTOP: a pause says that it waits for it, and comes when it goes on."""
        rank = self._rng.choice(sorted(self.ranks))
        with stopped(self.ranks[rank][1].pid):
            try:
                self.api.pause(timeout=0.05)
            except CommTimeoutError as error:
                if rank not in error.missing:
                    until(lambda: self.api.statistics().missing in ((rank,), ()), "only the stopped rank is missing")
            else:
                raise RuntimeError("a pause did not wait for a rank that is stopped")
        self.figures.stops += 1
        self._pause("")

    def end(self) -> None:
        """Stop the ranks, and account for all jobs."""
        for rank, (number, process) in sorted(self.ranks.items()):
            process.stdin.close()
            said = json.loads(process.stdout.readline())
            process.wait()
            process.stdout.close()
            if said["failed"] or said["left"]:
                raise RuntimeError(f"rank {rank} ended with {said}")
            self._gone.append((number, [tuple(pair) for pair in said["counts"]]))
        self.ranks.clear()
        self._collect()

    def close(self) -> None:
        """End whatever is there."""
        for _, process in self.ranks.values():
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    pipe.close()
        self._other_queue.close()
        self._undo.close()


def run(
    cycles: int,
    seed: int,
    say: Callable[[str], None] = lambda line: None,
    *,
    trace: Path | None = None,
    losses: float = 0.06,
) -> Figures:
    """Run the soak; what it finds wrong is in its figures.

    Args:
        cycles: How many.
        seed: Of what is chosen at random.
        say: Called with a line now and then.
        trace: File for the host's events.
        losses: The part of the cycles in which a rank is killed.
    """
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fdcomm-soak-") as folder:
        soak = Soak(seed, Path(folder), trace, losses)
        try:
            for number in range(1, cycles + 1):
                soak.cycle()
                if number % 500 == 0:
                    say(f"{number} cycles, {time.monotonic() - start:.0f} s, wrong so far: {soak.figures.wrong}")
            soak.end()
        finally:
            soak.close()
    soak.figures.seconds = round(time.monotonic() - start, 1)
    return soak.figures


def main(argv: list[str] | None = None) -> int:
    """Run it as a command."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak.pause", description=__doc__.splitlines()[0])
    parser.add_argument("--cycles", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "big"))
    options = parser.parse_args(argv)
    print(f"seed {options.seed}", flush=True)
    figures = run(options.cycles, options.seed, lambda line: print(line, flush=True))
    print(json.dumps(vars(figures), indent=1))
    return 1 if figures.wrong else 0


if __name__ == "__main__":
    faulthandler.register(signal.SIGUSR1, all_threads=True)  # to see where it is
    sys.exit(main())
