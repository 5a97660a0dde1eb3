"""A process at a meeting that records each of its memory accesses and system calls, and can be killed after one.

``main()`` with ``<folder> <log> <process> <ranks> meet|again|fence|reset <rounds> <kill after> <hurried>``. An access
and its record are made under one lock, so the records of all processes have the order of the accesses.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from fdcomm.deadline import Deadline
from fdcomm.errors import BarrierBrokenError, BarrierMismatchError, CommTimeoutError, FencedError, PeerLostError
from fdcomm.meeting import members
from fdcomm.meeting.attendant import Attendant
from fdcomm.meeting.chair import Chair
from fdcomm.meeting.hall import Hall, Room
from fdcomm.meeting.layout import BROKEN, LIVES, LOST, TURN, round_of
from fdcomm.runtime import SYSTEM

__all__ = ("FLAG", "GATE", "NAME", "main")

NAME = "meeting"
GATE = ".gate"
"""A file beside the log: not empty while a process is being killed, and nobody may do anything."""
FLAG = "flag"
_LIMIT_S = 30.0
_HURRY_S = 0.002
_MOST_CALLS = 20
_OUTCOMES: dict[type[Exception], str] = {
    CommTimeoutError: "timeout",
    BarrierMismatchError: "mismatch",
    PeerLostError: "lost",
    BarrierBrokenError: "broken",
    FencedError: "refused",
}


class Log:
    """Lines of several processes in one file, in the order of what they are about."""

    def __init__(self, path: str, process: int, kill_after: int) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND)
        self._gate = os.open(path + GATE, os.O_RDWR)
        self._process = process
        self._left = kill_after
        self._kept = False

    def take(self) -> None:
        """Keep all others from doing anything until :meth:`give`."""
        while not self._kept:
            fcntl.flock(self._fd, fcntl.LOCK_EX)
            if not os.fstat(self._gate).st_size:
                self._kept = True
                return
            fcntl.flock(self._fd, fcntl.LOCK_UN)
            os.sched_yield()

    def give(self) -> None:
        """Let others go on."""
        self._kept = False
        fcntl.flock(self._fd, fcntl.LOCK_UN)

    def do(self, act: Callable[[], Any], op: str, word: int = 0, *, noted: Callable[[Any], bool] | None = None) -> Any:
        """Do something, and note it. After so many notes the process stops here, holding all others up."""
        alone = not self._kept
        self.take()
        value = act()
        if noted is None or noted(value):
            self._line(op, word, int(value or 0))
            self._left -= 1
            if self._left == 0:
                os.write(self._gate, b"!")
                print("kill me", flush=True)
                sys.stdin.read()
        if alone:
            self.give()
        return value

    def mark(self, op: str, value: int = 0) -> None:
        """Note what is no access."""
        alone = not self._kept
        self.take()
        self._line(op, 0, value)
        if alone:
            self.give()

    def _line(self, op: str, word: int, value: int) -> None:
        line = json.dumps({"process": self._process, "op": op, "word": word, "value": value})
        os.write(self._fd, f"{line}\n".encode())


class _Words:
    """Words whose accesses are recorded. ``log.take`` at a life begins what is one step of the model."""

    def __init__(self, words: Any, log: Log, op: str = "") -> None:
        self._words = words
        self._log = log
        self._op = op
        self.together = False

    def __getitem__(self, place: int, /) -> int:
        if self.together and place >= LIVES and place < LIVES + 64:
            self._log.give()
            self._log.take()
        return int(self._log.do(lambda: int(self._words[place]), "load", place))

    def __setitem__(self, place: int, value: int, /) -> None:
        def store() -> int:
            self._words[place] = value
            return value

        self._log.do(store, self._op or "store", place)


class _Kernel:
    """A kernel whose calls are recorded."""

    def __init__(self, kernel: Any, log: Log) -> None:
        self._kernel = kernel
        self._log = log

    def take(self, fd: int, place: int, *, shared: bool) -> bool:
        return bool(self._log.do(lambda: self._kernel.take(fd, place, shared=shared), "take", noted=bool))

    def give(self, fd: int, place: int) -> None:
        self._log.do(lambda: self._kernel.give(fd, place), "give")

    def wake(self, address: int) -> int:
        return int(self._log.do(lambda: self._kernel.wake(address), "wake"))

    def barrier(self) -> bool:
        return bool(self._log.do(self._kernel.barrier, "barrier"))

    def sleep(self, address: int, token: int, timeout_s: float) -> None:
        self._log.do(lambda: 0, "sleep")
        self._kernel.sleep(address, token, timeout_s)
        self._log.do(lambda: 0, "woken")

    def fence(self) -> None:
        self._kernel.fence()


class _Chair(Chair):
    """The look at who is gone is one step of the model."""

    log: Log

    def gone(self, rank: int) -> bool:
        if rank == 0:
            self.log.take()
        found = super().gone(rank)
        if found or rank == self.room.shape.ranks - 1:
            self.log.mark("gone", int(found))
            self.log.give()
        return found


class _Attendant(Attendant):
    """The look at one rank is one step of the model."""

    def __init__(self, room: Room, rank: int, life: int, log: Log) -> None:
        super().__init__(room, rank, life, turns=0)
        self._chair = _Chair(room)
        self._chair.log = self._log = log

    def _all_here(self, turn: int) -> bool:
        with self._looking():
            return super()._all_here(turn)

    @contextlib.contextmanager
    def _looking(self) -> Iterator[None]:
        words: Any = self._room.words
        self._log.take()
        words.together = True
        try:
            yield
        finally:
            words.together = False
            self._log.give()


def _meet(hall: Hall, attendant: Attendant, words: Any, log: Log, rank: int, rounds: int, hurried: int) -> None:
    """Pass rounds, whatever else happens; end when it is not this process's meeting any more.

    The last rank comes with another label, or to another barrier, until all are told that they can never meet so.
    """
    call, differs, life = 0, rank == hall.room.shape.ranks - 1, words[LIVES + rank]
    places = hall.room.shape.places
    while call < _MOST_CALLS:
        call += 1
        if rank == life == 0 and round_of(words[TURN]) >= rounds - 2:
            _until(lambda: words[LIVES] != life)  # this process is killed or given up before the last rounds
        label = "other" if differs and places == 1 else ""
        place = (round_of(words[TURN]) + 1 + differs) % places  # the last round is not at the one that is aborted
        log.mark("call", 2 * place + bool(label))
        try:
            passed = attendant.wait(label, _HURRY_S if call <= hurried else _LIMIT_S, place=place)
        except tuple(_OUTCOMES) as error:
            outcome = next(what for kind, what in _OUTCOMES.items() if isinstance(error, kind))
            log.mark(f"ended {outcome}")
            differs = differs and outcome != "mismatch"
            if outcome == "refused" or (outcome in ("lost", "broken") and not _open_again(words)):
                return
        else:
            log.mark("ended passed")
            if passed >= rounds - 1:
                return


def _open_again(words: Any) -> bool:
    return _until(lambda: not words[TURN] & (LOST | BROKEN))


def _until(holds: Callable[[], bool]) -> bool:
    """Look for something that no record is about."""
    end, again = time.monotonic() + _LIMIT_S, threading.Event()
    while not holds():
        if time.monotonic() > end:
            return False
        again.wait(0.001)
    return True


def main() -> None:
    """Do it, and stay until the other side of stdin is closed."""
    folder, path, *numbers = sys.argv[1:]
    process, _, what, rounds, kill_after, hurried = (int(text) if text.isdigit() else text for text in numbers)
    log = Log(path, int(process), int(kill_after))
    never = Deadline(_LIMIT_S, SYSTEM.monotonic)
    hall = Hall.open(NAME, folder, never)
    words: Any = hall.room.words
    rank = 0 if what == "again" else int(process)
    life = members.attach(hall.room, rank, never) if what == "meet" else 0
    print("ready", flush=True)
    sys.stdin.readline()
    room: Any = hall.room
    room.words, room.flags = _Words(words, log), _Words(room.flags, log, FLAG)
    room.kernel = _Kernel(room.kernel, log)
    if what in ("fence", "reset"):
        _until(lambda: round_of(words[TURN]) >= int(rounds))
        if what == "fence":
            log.mark("ask fence")
            members.fence(hall.room, 0, never)
        else:
            log.mark("ask abort")
            members.abort(hall.room, never)
            log.mark("ask reset")
            members.reset(hall.room, never)
    else:
        if what == "again":
            log.mark("come")
            life = members.attach(hall.room, rank, never)
        _meet(hall, _Attendant(hall.room, rank, life, log), words, log, rank, int(rounds), int(hurried))
    print("done", flush=True)
    sys.stdin.read()
