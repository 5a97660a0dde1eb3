"""Recorded runs of real processes at a meeting, one of which is killed, or given up while it lives, and altered ones.

Rank 0 has two processes, one after the other. Process numbers are those of the model: behind the ranks, who is none,
and then the second process of rank 0.
"""

from __future__ import annotations

import fcntl
import json
import os
import random
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fdcomm import Meeting
from fdcomm.deadline import Deadline
from fdcomm.meeting.hall import Hall
from fdcomm.meeting.layout import Shape
from fdcomm.runtime import SYSTEM
from models.acceptance import Verdict
from models.meeting_trace import accept_channel
from tests.races.nursery import Born, born
from tests.traces.both_judges import agreed
from tests.traces.events import Event
from tests.traces.meeting_reading import LABELS, OUTCOMES, Reading
from tests.traces.meeting_worker import GATE, NAME
from tla.meeting_trace import judge

__all__ = ("ALTERED", "KINDS", "accept", "both", "real_run")

KINDS = ("killed", "given up", "in turn")
_LIMIT_S = 60.0
RANKS, ROUNDS, CALLS = 3, 5, 20
_OWNER, _SECOND = RANKS, RANKS + 1


def real_run(seed: int, kind: str) -> list[Event]:
    """Let three ranks meet, with an arrival for something else, and some that give up waiting.

    Args:
        seed: Says after how many notes the first process of rank 0 is killed, and who hurries.
        kind: "killed": rank 0's process is killed, and later somebody aborts, and undoes that. "given up": it lives,
            and somebody gives it up. "in turn": as "killed", at two barriers in turn; the abort is about one of them.
            Another one comes for the rank in all cases.
    """
    chance = random.Random(seed)
    killed, places = kind != "given up", 2 if kind == "in turn" else 1
    kill_after = chance.randrange(3, 31) if killed else 0
    with tempfile.TemporaryDirectory(prefix="fdcomm-meeting-", dir="/dev/shm") as folder:
        log = Path(folder) / "log"
        log.touch()
        Path(f"{log}{GATE}").touch()
        limit = Deadline(_LIMIT_S, SYSTEM.monotonic)
        with Meeting(Hall.make(NAME, Shape(RANKS, places), folder, limit), None, limit) as meeting:

            def start(process: int, what: str, kill_after: int = 0, until: int = ROUNDS) -> Born:
                numbers = (process, RANKS, what, until, kill_after, chance.randrange(3))
                return born("tests.traces.meeting_worker", folder, str(log), *map(str, numbers))

            ranks = [start(rank, "meet", 0 if rank else kill_after) for rank in range(RANKS)]
            owner = start(_OWNER, "reset" if killed else "fence", until=ROUNDS - 1 if killed else 1)
            second = start(_SECOND, "again")
            everybody = [*ranks, owner, second]
            try:
                _expect(b"ready", *everybody)
                _go(*ranks)
                if killed:
                    _kill(ranks[0], log)
                else:
                    _go(owner)
                _until_lost(meeting)
                _go(second)
                if killed:
                    _go(owner)
                _expect(b"done", *everybody[killed:])
            finally:
                for process in everybody:
                    process.kill()
                    process.wait()
                    process.stdin.close()
                    process.stdout.close()
        lines = [json.loads(line) for line in log.read_text().splitlines()]
    return _events(lines, places)


def _expect(what: bytes, *processes: Born) -> None:
    for process in processes:
        if (found := process.stdout.readline().strip()) != what:
            raise RuntimeError(f"a worker says {found!r} instead of {what!r}")


def _go(*processes: Born) -> None:
    for process in processes:
        process.stdin.write(b"go\n")


def _kill(process: Born, log: Path) -> None:
    """Kill who has stopped everybody for that. Nobody does anything before it is noted."""
    _expect(b"kill me", process)
    process.kill()
    process.wait()
    with log.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(json.dumps({"process": 0, "op": "kill", "word": 0, "value": 0}) + "\n")
        file.flush()
        os.truncate(f"{log}{GATE}", 0)


def _until_lost(meeting: Meeting) -> None:
    end, again = time.monotonic() + _LIMIT_S, threading.Event()
    while meeting.statistics().lost != (0,):
        if time.monotonic() > end:
            raise RuntimeError("nobody gives rank 0 up")
        again.wait(0.001)


def _events(lines: list[dict[str, Any]], places: int) -> list[Event]:
    reading = Reading(Shape(RANKS, places))
    head = {"v": 1, "protocol": "meeting", "dp": 0}
    found = [{**head, **event} for line in lines for event in reading.read(line)]
    if reading.calls > CALLS:
        raise RuntimeError(f"a process has begun {reading.calls} waits")
    return [{**head, "action": "Open", "ranks": RANKS, "labels": LABELS, "places": places, "calls": CALLS}, *found]


def both(runs: list[list[Event]]) -> list[tuple[str, str]]:
    """Have runs judged by the model and by TLC: of each what is wrong, ("", "") if it is accepted.

    AssertionError: they do not agree, on the verdict or on the first impossible event.
    """
    return agreed(map(accept, runs), judge(runs))


def accept(run: list[Event]) -> Verdict:
    """Judge a run by the model."""
    return accept_channel("meeting", run)


# -- what must not be accepted -----------------------------------------------------------------------------------------


def _where(run: list[Event], action: str, value: int | None = None) -> int:
    """Of a process that is not killed: of one that is, what follows may be nothing."""
    return next(
        number
        for number, event in enumerate(run)
        if event["action"] == action and event["who"] and (value is None or event["value"] == value)
    )


def _changed(run: list[Event], at: int, **fields: Any) -> list[Event]:
    return [*run[:at], {**run[at], **fields}, *run[at + 1 :]]


def _without(run: list[Event], at: int, count: int = 1) -> list[Event]:
    return run[:at] + run[at + count :]


def _told(run: list[Event], outcome: str, instead: str) -> list[Event]:
    return _changed(run, _where(run, "Told", OUTCOMES.index(outcome)), value=OUTCOMES.index(instead))


# Of a run in which one is killed. A store goes with its Flush.
ALTERED: dict[str, Callable[[list[Event]], list[Event]]] = {
    "a pass that is told as a loss": lambda run: _told(run, "passed", "lost"),
    "a mismatch that is told as a pass": lambda run: _told(run, "mismatch", "passed"),
    "a loss that is told as a time limit": lambda run: _told(run, "lost", "timeout"),
    "a rank does not arrive": lambda run: _without(run, _where(run, "StoreWord"), 2),
    "an arrival in another turn": lambda run: _changed(
        run, _where(run, "StoreWord"), value=run[_where(run, "StoreWord")]["value"] + 4
    ),
    "who decides has no lock": lambda run: _without(run, _where(run, "TakeLock")),
    "a turn is left out": lambda run: _changed(
        run, _where(run, "StoreTurn"), value=run[_where(run, "StoreTurn")]["value"] + 16
    ),
    "no look under the lock": lambda run: _without(run, _where(run, "LookLocked"), RANKS),
    "no barrier before a sleep": lambda run: _without(run, _where(run, "BarrierReaches"), RANKS + 2),
    "a rank is given up by nobody": lambda run: _without(run, _where(run, "StoreLife"), 2),
    "a process that there is not": lambda run: _changed(run, _where(run, "Sleep"), who=9),
}
