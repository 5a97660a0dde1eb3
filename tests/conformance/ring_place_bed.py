"""``Producer.put`` of several processes that are simulated in this one, each with its own view of a ring, descriptors
and locks. Before each step that others can see a put can be killed, or stopped: then its thread stands still."""

from __future__ import annotations

import contextlib
import os
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from fdcomm.deadline import Deadline
from fdcomm.errors import CommTimeoutError
from fdcomm.ring import members
from fdcomm.ring.layout import CURSOR, HEAD, SEQ, WRITER_PID, Shape
from fdcomm.ring.memory import Memory
from fdcomm.ring.payload import encode
from fdcomm.ring.producer import Producer
from fdcomm.ring.reader import RingReader
from fdcomm.runtime import SYSTEM
from models.ring_place import Config, State

__all__ = ("Bed",)

_NAME = "ring"
_LIMIT_S = 20.0
_FIRST_PID = 5_000_000  # larger than any process id
_STEPS = ("Take", "Name", "See", "Fill", "Publish", "Give")


class _Crash(BaseException):
    """The process is killed here."""


def _deadline() -> Deadline:
    return Deadline(_LIMIT_S, SYSTEM.monotonic)


def _thing(message: int) -> bytes:
    return bytes([message]) * 20


class _Gate:
    """Follows a put through its steps, and ends it, or lets it stand still, before one of them."""

    def __init__(self) -> None:
        self.at = 0
        self.left: int | None = None
        self.stops = False
        self.dead = False
        self.stands, self._ends = threading.Event(), threading.Event()

    def begin(self, left: int | None, stops: bool) -> None:
        """Before a put."""
        self.at, self.left, self.stops = 0, left, stops

    def step(self, name: str) -> None:
        """Before something that may be the next step."""
        if self.dead:
            raise _Crash
        if self.at < len(_STEPS) and _STEPS[self.at] == name:
            self.halt()
            self.at += 1

    def halt(self) -> None:
        """End, or stand still, if the steps are done that were asked for."""
        if self.left == self.at:
            if self.stops:
                self.stands.set()
                self._ends.wait()
            self.dead = True
            raise _Crash

    def kill(self) -> None:
        """Whatever it does, it ends there."""
        self.dead = True
        self._ends.set()


class _Words:
    def __init__(self, words: Any, gate: _Gate, shape: Shape) -> None:
        self._words, self._gate = words, gate
        self._seqs = {shape.of_slot(slot, SEQ) for slot in range(shape.slots)}

    def __getitem__(self, place: int, /) -> int:
        if place == HEAD:
            self._gate.step("See")
        return int(self._words[place])

    def __setitem__(self, place: int, value: int, /) -> None:
        if place in self._seqs:
            self._gate.step("Publish")
        elif place == WRITER_PID:
            self._gate.step("Name" if value else "Give")
        else:
            self._gate.step("Give" if place == HEAD else "")
        self._words[place] = value


class _Slot:
    def __init__(self, payload: Any, gate: _Gate) -> None:
        self._payload, self._gate = payload, gate

    def __setitem__(self, part: slice, value: bytes, /) -> None:
        self._gate.step("Fill")
        self._payload[part] = value


class _Locks:
    def __init__(self, locks: Any, gate: _Gate) -> None:
        self._locks, self._gate = locks, gate

    def open_writer(self) -> None:
        self._locks.open_writer()

    def try_writer(self) -> bool:
        """At first before the step; who waits asks again."""
        self._gate.step("Take")
        return bool(self._locks.try_writer())

    def leave_writer(self) -> None:
        """Not by a process that is dead."""
        self._gate.step("Give")
        self._locks.leave_writer()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._locks, name)


class _Writer:
    """One process."""

    def __init__(self, number: int, memory: Memory) -> None:
        self.gate = gate = _Gate()
        mine: Any = memory
        self.memory = mine
        self.pid = _FIRST_PID + number
        memory.board.words = _Words(memory.board.words, gate, memory.shape)
        mine.locks = _Locks(memory.locks, gate)
        mine.payloads = [_Slot(payload, gate) for payload in memory.payloads]
        self.producer = Producer(memory, 1000)
        self.producer._pid = self.pid
        self.publisher = self.producer._publisher
        self._make_room = self.publisher.make_room
        self.publisher.make_room = self._waits_for_room  # type: ignore[method-assign]
        self.thread: threading.Thread | None = None
        self.error: CommTimeoutError | None = None

    def _waits_for_room(self, timeout: Any, operation: str) -> None:
        try:
            self._make_room(timeout, operation)
        except CommTimeoutError:
            self.gate.halt()
            raise

    def put(self, message: int) -> None:
        """Put, in a thread that may have to stand still."""
        self.error = None
        self.gate.stands.clear()
        self.thread = threading.Thread(target=self._run, args=(message,), daemon=True)
        self.thread.start()
        if self.gate.stops:
            if not self.gate.stands.wait(_LIMIT_S):
                raise AssertionError("the put does not get to where it should stop")
        else:
            self.thread.join(_LIMIT_S)

    def _run(self, message: int) -> None:
        with contextlib.suppress(_Crash):
            try:
                self.producer.put(_thing(message), 0.0, "put")
            except CommTimeoutError as error:
                self.error = error

    def kill(self) -> None:
        """The kernel closes what it has open."""
        self.gate.kill()
        if self.thread is not None:
            self.thread.join(_LIMIT_S)
        self.memory.segment.files.abandon()


class Bed:
    """The code under a configuration of the model: call for call, and what is there after each."""

    def __init__(self, config: Config, folder: str, patch: pytest.MonkeyPatch) -> None:
        patch.setattr(members, "os", SimpleNamespace(kill=self._ask, getpid=os.getpid))
        self._config = config
        self._watch = Memory.make(_NAME, Shape(1, config.slots, 64), folder, _deadline())
        self._board = self._watch.board
        self._reader = RingReader.attach(_NAME, 0, directory=folder)
        self._writers = [_Writer(p, Memory.open(_NAME, folder, _deadline())) for p in range(config.writers)]
        self._got: list[int] = []
        self._told = [-1] * config.writers

    def _ask(self, pid: int, number: int) -> None:
        if self._writers[pid - _FIRST_PID].gate.dead:
            raise ProcessLookupError

    def close(self) -> None:
        """Let go of everything."""
        for writer in self._writers:
            writer.kill()
        self._reader.close()
        self._watch.close(_deadline(), remove=True)

    def put(self, p: int, message: int, left: int | None, stops: bool) -> None:
        """Put; ``left``: after so many steps it is killed or stopped."""
        writer = self._writers[p]
        writer.gate.begin(left, stops)
        writer.put(message)
        if left is not None and not stops:
            writer.kill()
        if writer.error is not None:
            name = next((q for q, one in enumerate(self._writers) if f"process {one.pid}" in str(writer.error)), None)
            self._told[p] = self._config.writers if name is None else name

    def kill(self, p: int) -> None:
        """SIGKILL."""
        self._writers[p].kill()

    def read(self) -> None:
        """The reader takes the next message."""
        self._got.append(self._reader.get(0)[0])

    def differs(self, state: State) -> str:
        """Say in what the code differs from the model."""
        words, shape = self._board.words, self._board.shape
        self._watch.locks.open_writer()
        free = self._watch.locks.try_writer()
        if free:
            self._watch.locks.leave_writer()
        last = max(state.seq)
        filled = [(slot, encode(_thing(message)).stream) for slot, message in enumerate(state.data) if message]
        pid = words[WRITER_PID]
        found = {
            "numbers": tuple(words[shape.of_slot(slot, SEQ)] for slot in range(shape.slots)) == state.seq,
            "payloads": all(self._watch.payloads[slot][: len(stream)] == stream for slot, stream in filled),
            "cursor": words[shape.of_line(0, CURSOR)] == state.cursor,
            "lock": free == (state.lock == -1),
            "who has the place": (pid - _FIRST_PID if pid else -1) == state.pid,
            "what was told": tuple(self._told) == state.told,
            "what was got": tuple(self._got) == state.got,
            "what writers know": all(
                writer.publisher.head == state.known[p]
                for p, writer in enumerate(self._writers)
                if state.pc[p] == "idle" and state.known[p]
            ),
            "HEAD": last - 1 <= words[HEAD] <= last,
        }
        return ", ".join(name for name, same in found.items() if not same)
