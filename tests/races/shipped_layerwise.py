"""FastDeploy's layer-wise sending, written anew from its description, for race tests. Nothing is corrected here.

The progress words are two files that are mapped; a reader takes them one after the other. The sender keeps a table of
tasks that another thread fills.
"""

from __future__ import annotations

import mmap
import os
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

__all__ = ("ShippedMessager", "ShippedReader", "ShippedSegment", "ShippedSender", "open_words")

STEP, LAYER = "splitwise_complete_prefilled_step", "splitwise_complete_prefilled_layer"


class ShippedSegment:
    """One 32-bit word in a file. A creator unlinks what is there; who attaches finds it or fails."""

    def __init__(self, path: Path, create: bool) -> None:
        if create:
            path.unlink(missing_ok=True)
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            os.ftruncate(fd, 4)
        else:
            fd = os.open(path, os.O_RDWR)
        self._map = mmap.mmap(fd, 4)
        os.close(fd)
        if create:
            self.set(-1)

    def get(self) -> int:
        """Read the word."""
        return int.from_bytes(self._map[:4], "little", signed=True)

    def set(self, value: int) -> None:
        """Write the word."""
        self._map[:4] = value.to_bytes(4, "little", signed=True)

    def close(self) -> None:
        """Unmap."""
        self._map.close()


def open_words(
    folder: Path, looked: Callable[[str], None], *, own_name: bool = False
) -> tuple[ShippedSegment, ShippedSegment]:
    """Open both words: make each that is not there. ``looked`` is called between the look and what follows.

    As published, the look for the layer's word is made under the step's name; ``own_name`` corrects only that.
    """
    opened = []
    for name in (STEP, LAYER):
        exists = (folder / (name if own_name else STEP)).exists()
        looked(name)
        opened.append(ShippedSegment(folder / name, create=not exists))
    return opened[0], opened[1]


class ShippedReader:
    """Reads the layer, then the step; having seen the last layer, it sleeps and looks at both once more.

    ``between`` is called between the two loads of a look, and ``asleep`` instead of the sleep.
    """

    def __init__(
        self,
        words: tuple[ShippedSegment, ShippedSegment],
        layers: int,
        between: Callable[[], None],
        asleep: Callable[[], None],
    ) -> None:
        self._words = words
        self._layers = layers
        self._between = between
        self._asleep = asleep

    def read(self) -> tuple[int, int]:
        """Return (step, layer)."""
        step, layer = self._look()
        if layer == self._layers - 1:
            self._asleep()
            step, layer = self._look()
        return step, layer

    def _look(self) -> tuple[int, int]:
        layer = self._words[1].get()
        self._between()
        return self._words[0].get(), layer


class ShippedSender:
    """Decides by the device's step and layer which layers of its tasks are computed: steps are compared as numbers."""

    def __init__(self, layers: int) -> None:
        self._layers = layers
        self._tasks: dict[str, tuple[int, int]] = {}
        self.sent: list[tuple[str, int]] = []

    def info(self, request: str, current_id: int) -> None:
        """A task comes; ``current_id`` is the step in which it is computed."""
        self._tasks[request] = current_id, 0

    def progress(self, step: int, layer: int) -> None:
        """Send what is computed."""
        for request, (current_id, done) in self._tasks.items():
            if current_id > step:
                continue
            ready = self._layers if current_id < step else layer + 1
            self.sent += [(request, number) for number in range(done, ready)]
            self._tasks[request] = current_id, max(done, ready)


class ShippedMessager:
    """One rank's thread that takes messages ("these slots have computed this layer") and looks the slots up in a table.

    Args:
        style: "drop": a slot without a task is passed over. "wait": the thread waits for all of them. "split": those
            with a task are sent, and the others when theirs comes.
    """

    def __init__(self, style: str) -> None:
        self._style = style
        self._messages: deque[tuple[int, ...]] = deque()
        self._table: dict[int, str] = {}
        self._pending: list[int] = []
        self.calls: list[tuple[str, ...]] = []

    def message(self, slots: Iterable[int]) -> None:
        """A message comes."""
        self._messages.append(tuple(slots))

    def info(self, request: str, slot: int) -> None:
        """The table learns of a task."""
        self._table[slot] = request

    def run(self, turns: int) -> bool:
        """Let the thread have so many turns; return whether it has nothing left to do."""
        for _ in range(turns):
            self._send([slot for slot in self._pending if slot in self._table])
            self._pending = [slot for slot in self._pending if slot not in self._table]
            if not self._messages:
                continue
            slots = self._messages[0]
            ready = [slot for slot in slots if slot in self._table]
            if self._style == "wait" and len(ready) < len(slots):
                continue
            self._messages.popleft()
            if self._style == "split":
                self._pending += [slot for slot in slots if slot not in ready]
            self._send(ready)
        return not self._messages and not self._pending

    def _send(self, slots: list[int]) -> None:
        if slots:
            self.calls.append(tuple(self._table[slot] for slot in slots))
