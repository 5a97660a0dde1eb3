"""Real processes: one that plays the devices of two ranks, and a messager for each rank, with the shipping classes.

Orders and answers are lines of JSON. A messager records its run; the engine, which gives the orders, is the test.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from fdcomm.layerwise import LayerProgress, LayerSender
from fdcomm.trace import Recorder
from tests.races.pipes import ROOT, WATCHDOG_S, read_line

__all__ = ("RANKS", "RealRun", "real_run")

RANKS = 2
SLOTS, LAYERS = 3, 3
_LIMIT_S = 0.3


class _Child:
    """A process that takes orders."""

    def __init__(self, *arguments: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.traces.layerwise_processes", *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            cwd=ROOT,
        )

    def __enter__(self) -> _Child:
        return self

    def order(self, name: str, *arguments: object) -> None:
        """Give an order."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([name, *arguments]).encode() + b"\n")

    def answer(self) -> Any:
        """Wait for the next line."""
        return read_line(self.process)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        try:
            self.process.wait(WATCHDOG_S)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()


class RealRun:
    """What came of a run: the traces, and for each rank its collective calls and the infos that it missed."""

    def __init__(self) -> None:
        self.traces: list[str] = []
        self.calls: list[list[tuple[int, str]]] = [[] for _ in range(RANKS)]
        self.missing: list[list[int]] = [[] for _ in range(RANKS)]
        self.left: list[str] = []

    def hear(self, rank: int, child: _Child) -> str:
        """Take the next line of a messager; return its kind."""
        kind, *rest = child.answer()
        if kind == "finish":
            self.calls[rank].append((rest[0], rest[1]))
        elif kind == "missing":
            self.missing[rank].append(rest[0])
        return str(kind)


def real_run(steps: int = 12) -> RealRun:
    """The engine of a run of so many steps: an info is lost, a request is aborted, and the device's process is killed.

    The ranks get the same infos, and everything else at different moments.
    """
    run = RealRun()
    lost, aborted, killed = steps - 2, 5, 7
    infos = [step for step in range(steps) if step != lost]
    with tempfile.TemporaryDirectory(prefix="fdcomm-layers-") as name:
        folder = Path(name)
        ranks = [_Child("messager", folder, rank) for rank in range(RANKS)]
        with ranks[0], ranks[1]:
            device = _Child("device", folder)
            for step in range(steps):
                _do(ranks, device, step, with_info=step != lost, layers=1 if step in (aborted, killed) else LAYERS)
                if step in (aborted, killed):
                    # A pass that is given up is ended everywhere before the device goes on.
                    for number, rank in enumerate(ranks):
                        rank.order("end", step % SLOTS, step)
                        while run.hear(number, rank) != "end":
                            pass
                if step == killed:
                    device.process.kill()
                    device.__exit__(None, None, None)
                    device = _Child("device", folder)
            with device:
                for number, child in enumerate(ranks):
                    while len(run.calls[number]) < len(infos) or not run.missing[number]:
                        run.hear(number, child)
        run.traces = [(folder / f"rank{rank}.ndjson").read_text(encoding="utf-8") for rank in range(RANKS)]
        run.left = sorted(path.name for path in folder.iterdir() if path.suffix != ".ndjson")
    return run


def _do(ranks: list[_Child], device: _Child, step: int, *, with_info: bool, layers: int) -> None:
    """One step: rank 0 hears of its first layer before the info, rank 1 after it."""
    device.order("report", step, 0)
    device.answer()
    slot = step % SLOTS
    for number, rank in enumerate(ranks):
        if number == 0 or not with_info:
            rank.order("progress", slot, step, 0)
        if with_info:
            rank.order("info", step, slot, step)
        if number == 1:
            rank.order("progress", slot, step, 0)
    for layer in range(1, layers):
        device.order("report", step, layer)
        device.answer()


# -- the processes -------------------------------------------------------------------------------------------------


def _orders() -> Any:
    return (json.loads(line) for line in sys.stdin)


def _device(folder: str) -> None:
    words = [LayerProgress(0, rank, writer=True, directory=folder) for rank in range(RANKS)]
    for _, step, layer in _orders():
        for word in words:
            word.report(step, layer)
        print("[]", flush=True)
    for word in words:
        word.clear()


def _messager(folder: str, rank: int) -> None:
    lock = threading.Lock()

    def say(*what: object) -> None:
        with lock:
            print(json.dumps(what), flush=True)

    recorder = Recorder(Path(folder) / f"rank{rank}.ndjson")
    sender = LayerSender(
        SLOTS,
        LAYERS,
        lambda request, first, last: None,
        lambda request, error: say("finish", request, "" if error is None else type(error).__name__),
        missing=lambda slot, step, error: say("missing", step),
        info_timeout=_LIMIT_S,
        recorder=recorder,
        rank=rank,
    )
    words = LayerProgress(0, rank, directory=folder)
    threads = [threading.Thread(target=sender.run), threading.Thread(target=sender.follow, args=(words,))]
    for thread in threads:
        thread.start()
    calls: dict[str, Callable[..., object]] = {
        "progress": sender.on_progress,
        "info": sender.on_cache_info,
        "end": sender.on_end,
    }
    for name, *arguments in _orders():
        calls[name](*arguments)
        if name == "end":
            say(name)
    sender.close()
    for thread in threads:
        thread.join()
    words.clear()
    recorder.close()


if __name__ == "__main__":
    if sys.argv[1] == "device":
        _device(sys.argv[2])
    else:
        _messager(sys.argv[2], int(sys.argv[3]))
