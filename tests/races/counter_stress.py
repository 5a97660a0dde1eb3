"""Real threads that begin and end tasks at once, with or without switches of threads between single instructions."""

from __future__ import annotations

import random
import select
import sys
import threading
import time
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

__all__ = ("stress",)

_WATCHDOG_S = 60.0
_SWITCH_S = 1e-6


def stress(
    task: Callable[[], None], threads: int, times: int, codes: set[CodeType] | None = None, seed: int = 0
) -> None:
    """Do a task so many times in each of some threads, all at once.

    Args:
        task: Begins and ends something.
        threads: How many threads.
        times: How often each does it.
        codes: Functions between whose instructions threads give way at random. CPython with a GIL switches threads
            at calls and jumps only; without one, or in another version, it may be anywhere. None: as it comes.
        seed: Of the random choices.
    """
    together = threading.Barrier(threads)
    errors: list[BaseException] = []

    def run(number: int) -> None:
        if codes is not None:
            sys.settrace(_giving_way(codes, random.Random(seed * threads + number)))
        try:
            together.wait(_WATCHDOG_S)
            for _ in range(times):
                task()
        except BaseException as error:  # noqa: BLE001 - it is raised where the threads are joined
            errors.append(error)
        finally:
            sys.settrace(None)

    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_S)
    try:
        running = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(threads)]
        for thread in running:
            thread.start()
        end = time.monotonic() + _WATCHDOG_S
        for thread in running:
            thread.join(max(0.0, end - time.monotonic()))
    finally:
        sys.setswitchinterval(before)
    if errors:
        raise errors[0]
    if any(thread.is_alive() for thread in running):
        raise TimeoutError(f"the threads have not ended within {_WATCHDOG_S:.0f} s")


def _giving_way(codes: set[CodeType], choice: random.Random) -> Callable[[FrameType, str, Any], Any]:
    def local(frame: FrameType, event: str, arg: Any) -> Any:
        if event == "opcode" and choice.random() < 0.2:
            select.select((), (), (), 1e-6)  # without the lock of the interpreter, so that another thread runs
        return local

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        if frame.f_code not in codes:
            return None
        frame.f_trace_opcodes = True
        return local

    return trace
