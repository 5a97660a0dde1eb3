"""The layerwise protocol as pure objects: the table of one rank's tasks, and the pair (step, layer) as words.

One method per action of ``spec/layerwise.toml`` (``tla/layerwise/Layerwise.tla``). A task is one pass of the device
over all layers of one slot; the step tells the passes of a slot apart. Steps are serial numbers: they wrap.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field

from fdcomm.errors import ConfigError, ProtocolViolationError

__all__ = (
    "NOTHING",
    "STEPS",
    "Done",
    "Early",
    "ProgressTable",
    "Ready",
    "Task",
    "is_later",
    "is_past",
    "pack",
    "signed",
    "unpack",
)

STEPS = 2**32
"""Steps are counted modulo this: what a 32-bit counter of the device does by itself."""

NOTHING = (-1, -1)
"""What a reader gets before the first report."""


def is_later(a: int, b: int, modulus: int = STEPS) -> bool:
    """Return True if step a is later than step b, as long as they are less than half of all steps apart."""
    return 0 < 2 * ((a - b) % modulus) < modulus


def is_past(now: tuple[int, int], before: tuple[int, int]) -> bool:
    """Return True if a pair (step, layer) is further than another one. Every report is further than NOTHING."""
    if before == NOTHING or now == NOTHING:
        return now != before and before == NOTHING
    return is_later(now[0], before[0]) or (now[0] == before[0] and now[1] > before[1])


def signed(step: int) -> int:
    """Return the step as a signed 32-bit word holds it."""
    return (step + 2**31) % STEPS - 2**31


def pack(step: int, layer: int) -> int:
    """Return the pair as one signed 8-byte word. No pair is -1."""
    return signed(step) * 2**32 + layer


def unpack(word: int) -> tuple[int, int]:
    """Return the pair that a word holds; NOTHING for -1."""
    return NOTHING if word == -1 else ((word >> 32) % STEPS, word & 0xFFFF_FFFF)


@dataclass(slots=True, eq=False)
class Task:
    """A task whose cache info has come.

    Attributes:
        since: The clock when its info came, or its progress last moved.
        sent: Layers that were handed out to be sent.
        ready: Layers that are computed, as far as is known.
        error: Why it failed, or None.
    """

    request: Hashable
    slot: int
    step: int
    since: float
    sent: int = 0
    ready: int = 0
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class Early:
    """Progress that is ahead of its cache info. ``since``: the clock when the first progress of this step came."""

    step: int
    layer: int
    since: float


@dataclass(frozen=True, slots=True)
class Ready:
    """Layers ``first .. last`` of a task, both included: computed, and not sent before."""

    request: Hashable
    slot: int
    step: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Done:
    """A task that is finished. ``error`` is None when all its layers were sent."""

    request: Hashable
    slot: int
    step: int
    sent: int
    error: Exception | None


@dataclass(slots=True)
class _Slot:
    early: Early | None = None
    seen: int | None = None
    # Steps that were over before their info came, oldest first. Bounded by `max_gone`.
    gone: dict[int, Exception] = field(default_factory=dict)
    tasks: deque[Task] = field(default_factory=deque)


class ProgressTable:
    """The tasks in flight of one rank.

    Args:
        slots: Number of slots; a slot is ``0 .. slots - 1``.
        layers: Number of layers of the model.
        capacity: Tasks that the table holds; more infos have to wait.
        max_gone: Ended steps of one slot that are remembered until their infos come; beyond it the oldest is forgotten.
        modulus: Steps are counted modulo this.
    """

    def __init__(self, slots: int, layers: int, capacity: int = 1024, max_gone: int = 64, modulus: int = STEPS) -> None:
        if min(slots, layers, capacity, max_gone) < 1 or modulus < 2:
            raise ConfigError(
                f"slots={slots}, layers={layers}, capacity={capacity} and max_gone={max_gone} must be at least 1"
            )
        self.layers = layers
        self.capacity = capacity
        self.max_gone = max_gone
        self.modulus = modulus
        self.tasks: deque[Task] = deque()
        self.slots = [_Slot() for _ in range(slots)]

    # -- the two streams -----------------------------------------------------------------------------------------

    def on_progress(self, slot: int, step: int, layer: int, now: float = 0.0) -> None:
        """OnProgress: the device has computed the layers up to ``layer``. Layers may be skipped; old news do no harm.

        Progress of a later step says that the earlier passes of the slot are whole: who gives a pass up has to
        :meth:`on_end` it before the slot goes on.
        """
        here = self._slot(slot)
        step %= self.modulus
        if not 0 <= layer < self.layers:
            raise ConfigError(f"layer {layer} is outside 0 <= layer < {self.layers}")
        for task in here.tasks:
            if task.error is not None:
                continue
            ready = layer + 1 if task.step == step else self.layers if self._later(step, task.step) else 0
            if ready > task.ready:
                task.ready, task.since = ready, now
        if self._is_before_info(here, step) and step not in here.gone:
            kept = here.early
            if kept is None or self._later(step, kept.step):
                here.early = Early(step, layer, now)
            elif step == kept.step and layer > kept.layer:
                here.early = Early(step, layer, kept.since)

    def on_cache_info(self, request: Hashable, slot: int, step: int, now: float = 0.0) -> Task | None:
        """OnCacheInfo: a task may be sent from now on. Returns None when the table is full: nothing was changed.

        Infos come in the same order on every rank, and those of one slot in the order of their steps.
        """
        here = self._slot(slot)
        step %= self.modulus
        if not self._is_before_info(here, step):
            raise ProtocolViolationError(
                f"the info of step {step} in slot {slot} comes after that of step {here.seen}; infos come in order"
            )
        if len(self.tasks) >= self.capacity:
            return None
        task = Task(request, slot, step, now, error=here.gone.get(step))
        kept = here.early
        if kept is not None and task.error is None:
            if kept.step == step:
                task.ready = kept.layer + 1
            elif self._later(kept.step, step):
                task.ready = self.layers
        if kept is not None and not self._later(kept.step, step):
            here.early = None
        here.gone = {gone: why for gone, why in here.gone.items() if self._later(gone, step)}
        here.seen = step
        here.tasks.append(task)
        self.tasks.append(task)
        return task

    # -- sending -------------------------------------------------------------------------------------------------

    def next_ready(self) -> Ready | None:
        """NextReady: the computed layers of the oldest task that has some; they count as sent from now on."""
        for task in self.tasks:
            if task.error is None and task.ready > task.sent:
                ready = Ready(task.request, task.slot, task.step, task.sent, task.ready - 1)
                task.sent = task.ready
                return ready
        return None

    def next_done(self) -> Done | None:
        """NextDone: the oldest task, if it is sent or has failed. It leaves the table.

        So tasks are finished in the order of their infos, each once: a collective call for each is the same on all
        ranks, whatever happened on one of them.
        """
        if not self.tasks:
            return None
        task = self.tasks[0]
        if task.error is None and task.sent < self.layers:
            return None
        self.tasks.popleft()
        self.slots[task.slot].tasks.remove(task)
        return Done(task.request, task.slot, task.step, task.sent, task.error)

    # -- ends ----------------------------------------------------------------------------------------------------

    def on_end(self, slot: int, step: int, error: Exception) -> bool:
        """OnEnd: the task is given up. Returns False when there is nothing to give up: it is over.

        Before its info has come, the info will find it over. What is kept for other tasks stays.
        """
        here = self._slot(slot)
        step %= self.modulus
        task = next((task for task in here.tasks if task.step == step), None)
        if task is not None:
            return self._fail(task, error)
        if not self._is_before_info(here, step) or step in here.gone:
            return False
        self._over(here, step, error)
        return True

    def expire_task(self, slot: int, step: int, error: Exception) -> bool:
        """ExpireTask: the next layer of a task is not computed in time. False when all are, or it is over."""
        here = self._slot(slot)
        step %= self.modulus
        task = next((task for task in here.tasks if task.step == step), None)
        return task is not None and task.ready < self.layers and self._fail(task, error)

    def expire_early(self, slot: int, error: Exception) -> bool:
        """ExpireEarly: the info of the slot's early progress does not come in time. False when none is kept."""
        here = self._slot(slot)
        if here.early is None:
            return False
        self._over(here, here.early.step, error)
        return True

    # -- looks ---------------------------------------------------------------------------------------------------

    def waiting(self) -> list[Task]:
        """Return the tasks whose next layer is not computed yet."""
        return [task for task in self.tasks if task.error is None and task.ready < self.layers]

    def early(self) -> list[tuple[int, Early]]:
        """Return the slots in which progress is ahead of its info, with that progress."""
        return [(slot, here.early) for slot, here in enumerate(self.slots) if here.early is not None]

    def overtaken(self, slot: int, step: int) -> Early | None:
        """Return the early progress that an info of this step overtakes: its own info can not come any more."""
        kept = self._slot(slot).early
        return kept if kept is not None and self._later(step % self.modulus, kept.step) else None

    # -- helpers -------------------------------------------------------------------------------------------------

    def _fail(self, task: Task, error: Exception) -> bool:
        if task.error is not None:
            return False
        task.error = error
        return True

    def _over(self, here: _Slot, step: int, error: Exception) -> None:
        if here.early is not None and here.early.step == step:
            here.early = None
        here.gone[step] = error
        while len(here.gone) > self.max_gone:
            del here.gone[next(iter(here.gone))]

    def _later(self, a: int, b: int) -> bool:
        return is_later(a, b, self.modulus)

    def _is_before_info(self, here: _Slot, step: int) -> bool:
        return here.seen is None or self._later(step, here.seen)

    def _slot(self, slot: int) -> _Slot:
        if not 0 <= slot < len(self.slots):
            raise ConfigError(f"slot {slot} is outside 0 <= slot < {len(self.slots)}")
        return self.slots[slot]
