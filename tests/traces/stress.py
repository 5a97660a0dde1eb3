"""A real run: an engine with two putting threads, workers in processes of their own, clears, a kill and a restart.

The run is recorded by the host, and told by the workers; :func:`compare` holds the one against the other.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fdcomm import EngineWorkerQueue, PeerLostError
from tests.conformance.waiting import WATCHDOG_S, until

__all__ = ("Story", "compare", "run")

ROOT = Path(__file__).resolve().parents[2]
PUT_LIMIT_S = 60.0


@dataclass
class Story:
    """What each process of a rank said that it got, in order of the processes; and who was killed."""

    ranks: int
    victim: int
    said: dict[int, list[list[dict[str, Any]]]] = field(default_factory=dict)
    lost_puts: int = 0


class _Worker:
    def __init__(self, port: int, rank: int, ranks: int, die_in: int) -> None:
        command = [sys.executable, "-m", "tests.traces.worker"]
        command += [f"--port={port}", f"--rank={rank}", f"--ranks={ranks}", f"--die-in={die_in}"]
        self.rank = rank
        self.said: list[dict[str, Any]] = []
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self.said.append(json.loads(line))

    def has_said(self, event: str) -> bool:
        """Return True when it has, and fail when it ended instead."""
        if any(said["event"] == event for said in self.said):
            return True
        if self.process.poll() is not None and not self._reader.is_alive():
            raise RuntimeError(f"the worker of rank {self.rank} ended with {self.process.returncode}")
        return False

    def stop(self) -> int:
        """Wait for its end, with a watchdog, and return its exit code."""
        try:
            code = self.process.wait(WATCHDOG_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self._reader.join()
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code

    def kill(self) -> None:
        """End it, however it is."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        if self.process.stdout is not None:
            self.process.stdout.close()


def run(trace: Path, ranks: int = 4, batches: int = 12) -> Story:
    """Run engine and workers until every rank has had the last batch. The last rank's worker dies in its fifth get."""
    story = Story(ranks, victim=ranks - 1, said={rank: [] for rank in range(ranks)})
    with ExitStack() as undo:
        engine = EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=ranks, depth=2, trace=trace)
        undo.callback(engine.close)
        port = engine.get_server_port()
        workers = [_Worker(port, rank, ranks, 5 if rank == story.victim else 0) for rank in range(ranks)]
        for worker in workers:
            undo.callback(worker.kill)
        # Every rank clears after this batch: it is put first, so that no clear can drop it.
        _put(engine, story, {"label": "first", "clear": True})
        until(lambda: all(worker.has_said("cleared") for worker in workers), "the clear of every rank")
        errors: list[BaseException] = []
        half = threading.Event()
        putters = [
            threading.Thread(target=_put_all, args=(engine, story, name, batches, half, errors), daemon=True)
            for name in "ab"
        ]
        for thread in putters:
            thread.start()
        dead = workers[story.victim]
        code = dead.stop()
        if code != -9:
            raise RuntimeError(f"the victim ended with {code}")
        again = _Worker(port, story.victim, ranks, 0)
        undo.callback(again.kill)
        until(lambda: half.is_set() or bool(errors), "half of the batches")
        engine.clear_data()
        for thread in putters:
            thread.join(WATCHDOG_S)
        if errors or any(thread.is_alive() for thread in putters):
            raise RuntimeError(f"a putting thread failed: {errors}")
        until(lambda: again.has_said("ready"), "the restart")
        _put(engine, story, {"label": "end", "clear": False})
        for worker in [*workers[:-1], again]:
            if worker.stop() != 0:
                raise RuntimeError(f"the worker of rank {worker.rank} ended with {worker.process.returncode}")
        for worker in [*workers, again]:
            story.said[worker.rank].append([said for said in worker.said if said["event"] == "got"])
    return story


def _put_all(
    engine: EngineWorkerQueue, story: Story, name: str, batches: int, half: threading.Event, errors: list[BaseException]
) -> None:
    try:
        for number in range(batches):
            _put(engine, story, {"label": f"{name}{number}", "clear": False, "weights": b"x" * 3000 * (number % 3)})
            if number == batches // 2:
                half.set()
    except Exception as error:  # noqa: BLE001 - the main thread reports it
        errors.append(error)


def _put(engine: EngineWorkerQueue, story: Story, batch: dict[str, Any]) -> None:
    """Put; when a rank is lost, wait until it has been restarted, and put again."""
    while True:
        try:
            engine.put_tasks(batch, timeout=PUT_LIMIT_S)
        except PeerLostError:
            story.lost_puts += 1
            until(lambda: engine.statistics().lost == (), "the restart of the lost rank")
        else:
            return


def compare(story: Story, events: Sequence[dict[str, Any]]) -> list[str]:
    """Return what is wrong between what the processes said and what the host recorded."""
    problems: list[str] = []
    label_of: dict[int, str] = {}
    got_by: dict[int, set[int]] = {}
    for rank, processes in story.said.items():
        recorded = _gets(events, rank)
        if len(recorded) != len(processes):
            problems.append(f"rank {rank}: {len(processes)} processes, and {len(recorded)} joins were recorded")
            continue
        for number, (said, taken) in enumerate(zip(processes, recorded, strict=True)):
            unsaid = 1 if rank == story.victim and number == 0 else 0
            if len(taken) != len(said) + unsaid:
                problems.append(f"rank {rank}: said {len(said)} batches, and {len(taken)} gets were recorded")
            for told, event in zip(said, taken, strict=False):
                id_ = event["id"]
                got_by.setdefault(id_, set()).add(rank)
                if label_of.setdefault(id_, told["label"]) != told["label"]:
                    problems.append(f"batch {id_} was {label_of[id_]} for one rank and {told['label']} for rank {rank}")
                if told["all_read"] != event["all_read"]:
                    problems.append(f"rank {rank}: all_read of batch {id_} is {told['all_read']}, not as recorded")
    if len(set(label_of.values())) != len(label_of):
        problems.append("a batch came under two ids")
    for thread in "ab":
        numbers = [int(label[1:]) for _, label in sorted(label_of.items()) if label[0] == thread and label != "end"]
        if numbers != sorted(numbers):
            problems.append(f"the batches of thread {thread} came in the order {numbers}")
    dropped = {id_ for event in events for id_ in event.get("result", {}).get("dropped", [])}
    others = set(range(story.ranks)) - {story.victim}
    for id_ in (event["args"]["id"] for event in events if event["action"] == "PutTasks"):
        ranks = got_by.get(id_, set()) - {story.victim}
        if ranks != (set() if id_ in dropped else others):
            problems.append(f"batch {id_} ({'dropped' if id_ in dropped else 'kept'}) came to ranks {sorted(ranks)}")
    return problems


def _gets(events: Sequence[dict[str, Any]], rank: int) -> list[list[dict[str, Any]]]:
    """Return the results of a rank's gets, split at its joins."""
    found: list[list[dict[str, Any]]] = []
    for event in events:
        if event["action"] == "Join" and event["args"] == {"rank": rank}:
            found.append([])
        elif event["action"] == "GetTasks" and event["args"] == {"rank": rank}:
            found[-1].append(event["result"])
    return found
