"""A process that puts without the lock is killed, stopped, forked or interrupted: nobody waits for it in vain, and no
message is lost, doubled or overwritten."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest
from hypothesis import settings

from fdcomm.deadline import Deadline
from fdcomm.errors import CommTimeoutError
from fdcomm.ring import RingReader, RingWriter
from fdcomm.ring.layout import BIAS, HEAD, Shape
from fdcomm.ring.memory import Memory
from fdcomm.ring.producer import Producer
from fdcomm.runtime import SYSTEM
from tests.multiproc.biased_child import FIRST
from tests.multiproc.counted_words import CountedWords
from tests.races.nursery import Born, born
from tests.soak.nursery import soak_nursery

__all__ = ("soak_nursery",)

pytestmark = pytest.mark.multiproc

_LIMIT_S = 60.0
# In the nightly run every access of a put.
_SOME = (1, 2, 6, 9, 12)


def _points() -> tuple[int, ...]:
    return tuple(range(1, 20)) if settings().max_examples > 1000 else _SOME


def _limit() -> Deadline:
    return Deadline(_LIMIT_S, SYSTEM.monotonic)


class _Ring:
    def __init__(self, folder: str, undo: ExitStack) -> None:
        self.folder = folder
        self._undo = undo
        self.first = Memory.make("ring", Shape(1, 64, 64), folder, _limit())
        self._undo.callback(self._close)

    def _close(self) -> None:
        self.first.close(_limit(), remove=True)

    def producer(self) -> Producer:
        """Another one, with a view and locks of its own."""
        memory = Memory.open("ring", self.folder, _limit())
        self._undo.callback(lambda: memory.close(_limit()))
        made = Producer(memory, 1000)
        self._undo.callback(made.close)
        return made

    def child(self, how: str, after: int = 0) -> Born:
        """Start the process, and wait until its last put begins."""
        process = born("tests.multiproc.biased_child", self.folder, how, str(after))
        self._undo.callback(process.wait)
        self._undo.callback(process.kill)
        self._undo.callback(process.stdout.close)
        self._undo.callback(process.stdin.close)
        return process

    def read(self) -> list[Any]:
        """Everything that was put."""
        got: list[Any] = []
        with RingReader.attach("ring", 0, directory=self.folder) as reader:
            while True:
                try:
                    got.append(reader.get(0))
                except CommTimeoutError:
                    return [tuple(thing) for thing in got]


@pytest.fixture
def ring() -> Iterator[_Ring]:
    with tempfile.TemporaryDirectory(prefix="fdcomm-biased-", dir="/dev/shm") as folder, ExitStack() as undo:
        made = _Ring(folder, undo)
        yield made
        undo.close()
        del made.first  # a mapping goes with the last who has it


def _hear(process: Born, *texts: str) -> None:
    heard = {process.stdout.readline().decode().strip() for _ in texts}
    assert heard == set(texts)


def _stopped(process: Born) -> None:
    """Wait until the kernel says that it stands still."""
    deadline = _limit()
    while True:
        with open(f"/proc/{process.pid}/stat", encoding="utf-8") as file:
            if file.read().rpartition(")")[2].split()[0] == "T":
                return
        assert deadline.remaining() != 0
        os.sched_yield()


def _theirs(count: int) -> list[tuple[str, int]]:
    return [("child", number) for number in range(count)]


@pytest.mark.parametrize("after", _points())
def test_killed_in_a_put(ring: _Ring, after: int) -> None:
    other = ring.producer()
    process = ring.child("kill", after)
    process.wait()
    for number in range(6):
        other.put(("ours", number), _LIMIT_S, "put")
    assert other._place._token == 1  # that of the dead
    got = ring.read()
    assert got in (_theirs(FIRST) + _OURS, _theirs(FIRST + 1) + _OURS)


_OURS = [("ours", number) for number in range(6)]


def test_stopped_between_two_puts(ring: _Ring) -> None:
    other = ring.producer()
    process = ring.child("rest")
    _hear(process, "ready")
    _stopped(process)
    for number in range(6):
        other.put(("ours", number), 0, "put")
    os.kill(process.pid, signal.SIGCONT)
    _hear(process, "done")
    assert ring.read() == [*_theirs(FIRST), *_OURS, ("child", FIRST)]


def test_stopped_in_a_put_is_named_and_waited_for(ring: _Ring) -> None:
    others = [ring.producer() for _ in range(2)]
    process = ring.child("stop", 4)
    _hear(process, "ready")
    _stopped(process)
    for other in (*others, *others):
        with pytest.raises(CommTimeoutError, match=f"held by process {process.pid},"):
            other.put("no", 0, "put")
    assert not others[0].adopt(_limit())
    with pytest.raises(CommTimeoutError, match=f"held by process {process.pid},"):
        RingWriter.take_over("ring", directory=ring.folder, timeout=0)
    os.kill(process.pid, signal.SIGCONT)
    _hear(process, "done")
    others[1].put(("ours", 0), _LIMIT_S, "put")
    assert ring.read() == [*_theirs(FIRST + 1), ("ours", 0)]


def test_a_fork_does_not_keep_the_token(ring: _Ring) -> None:
    other = ring.producer()
    process = ring.child("fork", 4)
    _hear(process, "ready", "forked")
    process.wait()
    other.put(("ours", 0), _LIMIT_S, "put")
    assert ring.read() == [*_theirs(FIRST), ("ours", 0)]


def test_a_writer_takes_over_from_a_biased_process(ring: _Ring) -> None:
    process = ring.child("kill", 4)
    process.wait()
    with RingWriter.take_over("ring", directory=ring.folder) as writer:
        writer.put(("ours", 0))
        assert ring.first.board.words[BIAS] == 0
        assert ring.read() == [*_theirs(FIRST), ("ours", 0)]


def _interrupt() -> None:
    """As a signal's handler does."""
    raise KeyboardInterrupt


@contextmanager
def _interrupted(producer: Producer, after: int) -> Iterator[CountedWords]:
    board, publisher = producer._board, producer._publisher
    words = board.words
    board.words = publisher._words = mine = CountedWords(words, after, _interrupt)
    try:
        yield mine
    finally:
        board.words = publisher._words = words


def test_an_interrupt_anywhere_in_a_put(ring: _Ring) -> None:
    first, other = ring.producer(), ring.producer()
    put = after = 0
    while True:
        after += 1
        for _ in range(70):  # until it is biased again
            first.put(("puts", put), 0, "put")
            put += 1
            ring_reads = ring.read()
            assert [number for _, number in ring_reads][-1:] == [put - 1]
            if first._place._token:
                break
        assert first._place._token
        with _interrupted(first, after) as words:
            with suppress(KeyboardInterrupt):
                first.put(("cut", put), 0, "put")
        whole = words.left > 0
        other.put(("puts", put + 1), 0, "put")  # nobody waits for who was interrupted
        first.put(("puts", put + 2), 0, "put")
        cut = [("cut", put)]
        rest = [("puts", put + 1), ("puts", put + 2)]
        assert ring.read() in ([*cut, *rest], *([] if whole else [rest]))
        put += 3
        if whole:
            break
    assert after > 8


class _Stores:
    """Words that note where something is stored."""

    def __init__(self, words: Any) -> None:
        self._words = words
        self.places: set[int] = set()

    def __getitem__(self, place: int) -> int:
        return int(self._words[place])

    def __setitem__(self, place: int, value: int) -> None:
        self.places.add(place)
        self._words[place] = value


def test_who_closes_stores_no_number_that_may_be_old(ring: _Ring) -> None:
    first, other = ring.producer(), ring.producer()
    first.put("message", 0, "put")
    publisher = other._publisher
    words, publisher._words = publisher._words, _Stores(publisher._words)
    other.close()
    assert HEAD not in publisher._words.places
    publisher._words = words
