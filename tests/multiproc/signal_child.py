"""A process that does with signals what it is told, one JSON line at a time. Needs no numpy: signals are raw bytes.

Orders: ``create``, ``attach`` (key, name, options); ``read``, ``write``, ``clear``, ``close``, ``drop``, ``ask`` (key,
...); ``exit``. The answer is a JSON value, or ``{"error": class, "text": ...}``.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from fdcomm import FdcommError, IPCSignal

__all__ = ("answer",)

signals: dict[str, IPCSignal] = {}
kept: list[memoryview] = []


def answer(order: str, key: str, *rest: Any) -> Any:
    """Carry out one order."""
    if order in ("create", "attach"):
        name, options = rest
        signals[key] = IPCSignal(name, create=order == "create", **options)
    elif order == "read":
        return signals[key].shm.buf.hex()
    elif order == "write":
        buffer = signals[key].shm.buf
        buffer[:] = bytes.fromhex(rest[0])
        kept.append(buffer)  # still there when the interpreter ends
    elif order == "drop":
        del signals[key]
    elif order == "ask":
        value = getattr(signals[key], rest[0])
        return value() if callable(value) else value
    elif order == "version":
        return sys.version_info[:2]
    else:
        getattr(signals[key], order)()
    return None


def main() -> None:
    """Answer until ``exit``, or until nobody asks any more."""
    for line in sys.stdin:
        order, key, *rest = json.loads(line)
        if order == "exit":
            return
        try:
            print(json.dumps(answer(order, key, *rest)), flush=True)
        except FdcommError as error:
            print(json.dumps({"error": type(error).__name__, "text": str(error)}), flush=True)


if __name__ == "__main__":
    main()
