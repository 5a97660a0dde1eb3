"""How far a device is, (step, layer), as words in shared memory: one writer, any readers."""

from __future__ import annotations

import contextlib
import importlib
from types import TracebackType
from typing import Any, Final

from fdcomm.core.layerwise import NOTHING, is_past, pack, signed, unpack
from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.errors import ClosedError, CommTimeoutError, ConfigError, SignalInUseError, SignalNotFoundError
from fdcomm.layer_table import whole
from fdcomm.runtime import SYSTEM, Runtime, Words
from fdcomm.signals.ipc_signal import IPCSignal

__all__ = ("NOTHING", "LayerProgress", "PairWords")

_STEP: Final = "splitwise_complete_prefilled_step_{}"
_LAYER: Final = "splitwise_complete_prefilled_layer_{}"
_PACKED: Final = "splitwise_complete_prefilled_progress_{}"
_POLL_S: Final = 0.0002
_OPEN_POLL_S: Final = 0.001


class PairWords:
    """The three words of a device's progress.

    A report stores the layer, then the step, each into the 32-bit word that FastDeploy's readers know, and then both
    as one aligned 8-byte word. Readers take that one, so they never see a pair that was put together from two reports,
    and a writer that dies between two stores harms nobody.

    Readers that know only the two plain words are right if they read the step first: the layer that they see then is
    computed in that step, or in a later one. One that reads the layer first may believe that a whole step is computed
    when it has only begun, however long it waits between two looks; no writer can prevent that.

    Args:
        runtime: Where the words are.
        step: Word of the step, and its index.
        layer: Word of the layer.
        packed: Word of both; None for words of a writer that does not store it (and stores the layer first).
    """

    def __init__(
        self,
        runtime: Runtime,
        step: tuple[Words, int],
        layer: tuple[Words, int],
        packed: tuple[Words, int] | None,
    ) -> None:
        self._runtime = runtime
        self._step = step
        self._layer = layer
        self._packed = packed

    def report(self, step: int, layer: int) -> None:
        """Store a pair: all layers of the step up to this one, and all earlier steps, are computed."""
        self._store(step, layer, pack(step, layer))

    def reset(self) -> None:
        """Store that nothing is computed."""
        self._store(-1, -1, -1)

    def _store(self, step: int, layer: int, both: int) -> None:
        store = self._runtime.store
        store(*self._layer, layer)
        store(*self._step, signed(step))
        if self._packed is not None:
            store(*self._packed, both)

    def read(self) -> tuple[int, int]:
        """Return the last report, or NOTHING. Of a foreign writer's words: a pair that is computed."""
        load = self._runtime.load
        if self._packed is not None:
            return unpack(load(*self._packed))
        step = load(*self._step)
        layer = load(*self._layer)
        return NOTHING if layer < 0 else unpack(pack(step, layer))


class LayerProgress:
    """The progress words of one device, under FastDeploy's names.

    The worker writes them and the cache messager reads them; whoever comes first makes them. A segment that was left
    behind by a process that is gone is made anew, and whoever still has the old one finds the new one by itself.

    Args:
        dp_rank: Data-parallel replica, part of the names.
        suffix: Tells devices of one machine apart, as FastDeploy's names do (the device's number).
        writer: This process reports. Nothing is computed from now on, whatever an earlier writer had reported.
        foreign: The writer is other software, for example device code, that stores only the two plain words, the layer
            before the step. They are waited for and never made.
        timeout: Seconds to wait for a segment: of a foreign writer, or one that another process is just making.
        directory: As for :class:`IPCSignal`.
        runtime: For tests.

    Raises:
        SignalMismatchError: A segment of the name has another shape.
        CommTimeoutError: ``timeout`` has passed.
        ConfigError: A writer cannot be foreign.
    """

    def __init__(
        self,
        dp_rank: int = 0,
        suffix: int | str | None = None,
        *,
        writer: bool = False,
        foreign: bool = False,
        timeout: Timeout = DEFAULT,
        directory: str | None = None,
        runtime: Runtime = SYSTEM,
    ) -> None:
        if writer and foreign:
            raise ConfigError("writer=True and foreign=True: a foreign writer is another process")
        if isinstance(dp_rank, bool) or not isinstance(dp_rank, int) or dp_rank < 0:
            raise ConfigError(f"dp_rank={dp_rank!r} must be an integer >= 0")
        self._runtime = runtime
        self._names = [_STEP.format(dp_rank), _LAYER.format(dp_rank)]
        if not foreign:
            self._names.append(_PACKED.format(dp_rank))
        self._suffix = suffix
        self._foreign = foreign
        self._timeout: Timeout = timeout
        self._directory = directory
        self._signals: list[IPCSignal] = []
        self._closed = False
        self._opening = runtime.condition()
        self._pair = self._open(self._deadline("open", DEFAULT))
        if writer:
            self._pair.reset()

    # -- opening -----------------------------------------------------------------------------------------------------

    def _open(self, deadline: Deadline) -> PairWords:
        """Open what is not open, or is not what its name stands for any more. If that fails, nothing is changed."""
        old = self._signals
        now: list[IPCSignal] = []
        try:
            for number, name in enumerate(self._names):
                is_kept = number < len(old) and not old[number].superseded
                now.append(old[number] if is_kept else self._find_or_make(name, deadline))
        except BaseException:
            for signal in now:
                if signal not in old:
                    signal.close()
            raise
        self._signals = now
        for signal in old:
            if signal not in now:
                signal.close()
        if self._closed:  # meanwhile, by another thread
            self.close()
            raise ClosedError("the progress words are closed")
        words = [(signal.shm.buf.cast("q" if n == 2 else "i"), 0) for n, signal in enumerate(now)]
        return PairWords(self._runtime, words[0], words[1], None if self._foreign else words[2])

    def _find_or_make(self, name: str, deadline: Deadline) -> IPCSignal:
        """Attach to the segment of this very name, or make it; never anew if somebody has it."""
        while True:
            with contextlib.suppress(SignalNotFoundError):
                signal = self._segment(name, deadline, create=False)
                if self._foreign or signal.owner_alive(deadline.remaining()):
                    return signal
                signal.close()
            if not self._foreign:
                self._runtime.point("layerwise.create")
                # Another process may be faster: its segment is the one to attach to.
                with contextlib.suppress(SignalInUseError):
                    return self._segment(name, deadline, create=True)
            if deadline.expired():
                raise CommTimeoutError(
                    f"the progress words {name!r} are not there after {deadline.waited():.3g} s; is the worker up?",
                    operation="open",
                    waited_s=deadline.waited(),
                )
            self._runtime.sleep(_OPEN_POLL_S)

    def _segment(self, name: str, deadline: Deadline, *, create: bool) -> IPCSignal:
        is_packed = not self._foreign and name == self._names[-1]
        first = _numpy().full(1, -1, dtype="int64" if is_packed else "int32")
        return IPCSignal(
            name,
            first,
            first.dtype,
            self._suffix,
            create,
            validate=not self._foreign,
            timeout=deadline.remaining(),
            directory=self._directory,
        )

    def _current(self, deadline: Deadline | None = None) -> PairWords:
        if not self._signals:
            raise ClosedError("the progress words are closed")
        if any(signal.superseded for signal in self._signals):
            with self._opening:
                self._pair = self._open(deadline or self._deadline("open", DEFAULT))
        return self._pair

    # -- use ---------------------------------------------------------------------------------------------------------

    def report(self, step: int, layer: int) -> None:
        """Say that all layers of the step up to this one are computed, and all earlier steps. One writer only.

        Steps are counted modulo 2**32, so a 32-bit counter may wrap. Never waits, unless a word was removed and has to
        be made anew.

        Raises:
            ConfigError: These are no numbers of a step and a layer.
            ClosedError: The words are closed.
        """
        step, layer = whole(step, "step"), whole(layer, "layer")
        if not 0 <= layer < 2**31:
            raise ConfigError(f"layer {layer} is not a number of a layer")
        self._current().report(step, layer)

    def read(self) -> tuple[int, int]:
        """Return (step, layer) as it was reported last, ``0 <= step < 2**32``; NOTHING before the first report."""
        return self._current().read()

    def wait_past(self, before: tuple[int, int], timeout: Timeout = DEFAULT) -> tuple[int, int]:
        """Wait until there is another report than ``before``, and return it.

        If the writer has started anew, NOTHING is returned: what it reported before counts no more. Go on from there.

        Raises:
            CommTimeoutError: There was none for ``timeout`` seconds.
            ConfigError: ``before`` is no pair of integers.
            ClosedError: The words are closed.
        """
        if not isinstance(before, tuple) or len(before) != 2:
            raise ConfigError(f"wait_past: before={before!r} must be a pair that read() or wait_past() returned")
        before = (whole(before[0], "step"), whole(before[1], "layer"))
        deadline = self._deadline("wait_past", timeout)
        while True:
            now = self._current(deadline).read()
            if is_past(now, before):
                return now
            # The plain words of a foreign writer may seem to go back for a moment: between its two stores.
            if now != before and (now == NOTHING or not self._foreign):
                return NOTHING
            if deadline.expired():
                raise CommTimeoutError(
                    f"nothing was reported after step {before[0]}, layer {before[1]} for {deadline.waited():.3g} s",
                    operation="wait_past",
                    waited_s=deadline.waited(),
                )
            remaining = deadline.remaining()
            self._runtime.sleep(_POLL_S if remaining is None else min(_POLL_S, remaining))

    def close(self) -> None:
        """Let go of the words; they stay for others. Idempotent."""
        self._closed = True
        signals, self._signals = self._signals, []
        for signal in signals:
            signal.close()

    def clear(self) -> None:
        """Remove the segments that this process has made, and close. Idempotent.

        Raises:
            CommTimeoutError: A process that is stopped has held up the names of signals for ``timeout`` seconds.
        """
        deadline = self._deadline("clear", DEFAULT)
        self._closed = True
        signals, self._signals = self._signals, []

        def end(signal: IPCSignal) -> None:
            signal.clear(deadline.remaining())

        with contextlib.ExitStack() as stack:
            for signal in signals:
                stack.callback(end, signal)

    def __enter__(self) -> LayerProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()

    def _deadline(self, operation: str, timeout: Timeout) -> Deadline:
        limit = self._timeout if timeout is DEFAULT else timeout
        return Deadline(timeout_seconds(limit, operation), self._runtime.monotonic)


def _numpy() -> Any:
    """The words are arrays, as FastDeploy's readers expect them."""
    try:
        return importlib.import_module("numpy")
    except ImportError as error:
        raise ConfigError("the progress words are numpy arrays: install numpy") from error
