"""Sends the caches of requests layer by layer while they are computed."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial

from fdcomm.core.layerwise import NOTHING, Ready
from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.errors import ClosedError, CommTimeoutError, ConfigError, ProtocolViolationError, TaskEndedError
from fdcomm.layer_progress import LayerProgress
from fdcomm.layer_table import TimedTable, whole
from fdcomm.runtime import SYSTEM, Runtime
from fdcomm.trace import Recorder

__all__ = ("LayerProgress", "LayerSender")

Send = Callable[[Hashable, int, int], object]
Finish = Callable[[Hashable, "Exception | None"], object]
Missing = Callable[[int, int, Exception], object]


class LayerSender:
    """The cache sender of one rank: it brings together what the device reports and the cache infos.

    A task is one pass of the device over all layers of one slot; ``step`` tells the passes of a slot apart. Reports
    may come before the task's cache info, or after it, twice, or not for every layer.

    ``send`` and ``finish`` are called by one thread, the one that runs :meth:`run` or :meth:`run_once`:

    * ``send(request, first, last)`` for layers that are computed and were not sent before, in order. If it raises, the
      task has failed. What is no Exception, as KeyboardInterrupt, ends :meth:`run` besides.
    * ``finish(request, error)`` once for each info, in the order of the infos, whatever has become of the task; error
      is None when all layers were sent. So if every rank gets the same infos in one order, all ranks make the same
      collective calls in it. What it raises ends :meth:`run`.

    Args:
        slots: Number of slots.
        layers: Number of layers of the model.
        send: Sends layers ``first .. last``, both included.
        finish: Makes the collective call that ends a task.
        missing: Is told ``(slot, step, error)`` when the device has computed layers of a task, and its info does not
            come: that task alone fails, with :class:`CacheInfoMissingError`.
        capacity: Tasks that may be in flight; more infos have to wait.
        info_timeout: Seconds after which early progress without an info is given up.
        layer_timeout: Seconds after which a task whose next layer is not computed fails, with
            :class:`LayerTimeoutError`.
        recorder: Records every action, see :mod:`fdcomm.trace`.
        rank: Only for the record: the rank, which tells the runs of one file apart.
        runtime: For tests.

    Raises:
        ConfigError: An argument cannot work.
    """

    def __init__(
        self,
        slots: int,
        layers: int,
        send: Send,
        finish: Finish,
        *,
        missing: Missing | None = None,
        capacity: int = 1024,
        info_timeout: Timeout = DEFAULT,
        layer_timeout: Timeout = DEFAULT,
        recorder: Recorder | None = None,
        rank: int = 0,
        runtime: Runtime = SYSTEM,
    ) -> None:
        for name, function in (("send", send), ("finish", finish), ("missing", missing)):
            if not callable(function) and (function is not None or name != "missing"):
                raise ConfigError(f"{name}={function!r} must be a function")
        self._table = TimedTable(
            whole(slots, "slots"),
            whole(layers, "layers"),
            whole(capacity, "capacity"),
            info_s=timeout_seconds(info_timeout, "info_timeout"),
            layer_s=timeout_seconds(layer_timeout, "layer_timeout"),
            clock=runtime.monotonic,
            recorder=recorder,
            rank=rank,
        )
        self._send = send
        self._finish = finish
        self._missing = missing
        self._runtime = runtime
        self._changed = runtime.condition()
        self._running = False
        self._closed = False

    # -- what comes in -----------------------------------------------------------------------------------------------

    def on_progress(self, slot: int, step: int, layer: int) -> None:
        """The device has computed a pass up to this layer.

        A report of a later step says that the slot's earlier passes are whole, so end a pass that was given up
        (:meth:`on_end`) before the slot goes on.

        Raises:
            ConfigError: There is no such slot or layer. Nothing was changed.
            ClosedError: The sender was closed. So does every method but :meth:`close` and :meth:`in_flight`.
        """
        slot, step, layer = whole(slot, "slot"), whole(step, "step"), whole(layer, "layer")
        with self._changed:
            self._require_open()
            self._table.progress(slot, step, layer)
            self._changed.notify_all()

    def on_step(self, step: int, layer: int) -> None:
        """The device, which computes one step after another for all slots, has come to this layer of this step.

        Raises:
            ConfigError: There is no such layer. Nothing was changed.
        """
        step, layer = whole(step, "step"), whole(layer, "layer")
        with self._changed:
            self._require_open()
            self._table.progress_of_all(step, layer)
            self._changed.notify_all()

    def on_restart(self) -> None:
        """The device has started anew: what :meth:`on_step` was told before counts for no info that comes later.

        Tasks in flight go on; end those that it has given up.
        """
        with self._changed:
            self._require_open()
            self._table.forget_latest()

    def on_cache_info(self, request: Hashable, slot: int, step: int, timeout: Timeout = DEFAULT) -> None:
        """A task may be sent. Call it on every rank in the same order, and for one slot in the order of the steps.

        Raises:
            CommTimeoutError: ``capacity`` tasks have been in flight for ``timeout`` seconds. Nothing was changed.
            ProtocolViolationError: An info of a later step of the slot came before.
            ConfigError: There is no such slot.
        """
        slot, step = whole(slot, "slot"), whole(step, "step")
        deadline = Deadline(timeout_seconds(timeout, "on_cache_info"), self._runtime.monotonic)
        with self._changed:
            while True:
                self._require_open()
                if self._table.info(request, slot, step):
                    break
                if deadline.expired():
                    raise CommTimeoutError(
                        f"{self._table.capacity} tasks have been in flight for {deadline.waited():.3g} s; is "
                        "LayerSender.run() running?",
                        operation="on_cache_info",
                        request=request,
                        waited_s=deadline.waited(),
                    )
                self._changed.wait(deadline.remaining())
            self._changed.notify_all()

    def on_end(self, slot: int, step: int, error: Exception | None = None) -> bool:
        """A task is given up, wherever it is: in flight, or still without its info.

        Returns False when there was nothing to give up, because it is over.

        Raises:
            ConfigError: There is no such slot, or ``error`` is no Exception. Nothing was changed.
        """
        slot, step = whole(slot, "slot"), whole(step, "step")
        if not (error is None or isinstance(error, Exception)):
            raise ConfigError(f"on_end: error={error!r} must be an Exception; finish() is told it", operation="on_end")
        with self._changed:
            self._require_open()
            why = error or TaskEndedError(f"the task of step {step} in slot {slot} was ended", operation="on_end")
            ended = self._table.end(slot, step, why)
            self._changed.notify_all()
            return ended

    def follow(self, progress: LayerProgress, poll: float = 1.0) -> None:
        """Pass on what is reported through the progress words, until :meth:`close`. Run it in a thread of its own.

        Args:
            progress: The words of the device.
            poll: Seconds within which it notices a :meth:`close` while nothing is reported.

        Raises:
            ConfigError: A layer is reported that the model does not have, or these are no progress words.
            ClosedError: The words were closed, and the sender was not.
        """
        if not callable(getattr(progress, "wait_past", None)):
            raise ConfigError(f"follow: progress={progress!r} must be a LayerProgress", operation="follow")
        if poll is None:
            raise ConfigError("follow: poll=None would never notice that the sender is closed; give seconds")
        before = NOTHING
        while not self._closed:
            try:
                before = progress.wait_past(before, poll)
            except CommTimeoutError:
                continue
            try:
                if before == NOTHING:
                    self.on_restart()
                else:
                    self.on_step(*before)
            except ClosedError:
                return

    # -- the sending thread ------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Send and finish until :meth:`close`. Run it in a thread of its own."""
        while True:
            try:
                self.run_once(None)
            except ClosedError:
                return

    def run_once(self, timeout: Timeout = 0.0) -> bool:
        """Do the next thing that is due: finish a task, send layers, or tell of a missing info.

        Returns False when nothing was due for ``timeout`` seconds.

        Raises:
            ClosedError: The sender was closed.
        """
        deadline = Deadline(timeout_seconds(timeout, "run_once"), self._runtime.monotonic)
        work = self._next(deadline)
        if work is None:
            return False
        try:
            work()
        finally:
            self._running = False
        return True

    def close(self) -> None:
        """End :meth:`run` and :meth:`follow`. What is in flight is dropped: end it before if others wait for it."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def in_flight(self) -> int:
        """Return the number of tasks that are not finished."""
        with self._changed:
            return self._table.in_flight()

    def _next(self, deadline: Deadline) -> Callable[[], object] | None:
        """Return what is due, and from then on until it is done be the only one who runs it."""
        with self._changed:
            while True:
                self._require_open()
                if self._running:
                    raise ProtocolViolationError("two threads run one LayerSender: its calls would come out of order")
                limit = self._table.expire()
                work = self._due()
                if work is not None:
                    self._running = True
                    return work
                if deadline.expired():
                    return None
                limits = [seconds for seconds in (limit, deadline.remaining()) if seconds is not None]
                self._changed.wait(min(limits) if limits else None)

    def _due(self) -> Callable[[], object] | None:
        for lost in self._table.take_lost():
            if self._missing is not None:
                return partial(self._missing, *lost)
        done = self._table.next_done()
        if done is not None:
            self._changed.notify_all()
            return partial(self._finish, done.request, done.error)
        ready = self._table.next_ready()
        return partial(self._send_layers, ready) if ready is not None else None

    def _send_layers(self, ready: Ready) -> None:
        try:
            self._send(ready.request, ready.first, ready.last)
        except Exception as error:  # noqa: BLE001 - it becomes the outcome of the task, which finish() is told
            with self._changed:
                self._table.end(ready.slot, ready.step, error)
        except BaseException as error:
            with self._changed:
                self._table.end(ready.slot, ready.step, TaskEndedError(f"sending was interrupted: {error!r}"))
            raise

    def _require_open(self) -> None:
        if self._closed:
            raise ClosedError("the sender is closed")
