"""What must hold of the workers' loop, and what must be possible in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

__all__ = ("INVARIANTS", "SOMETIMES")

_LAG: Final = 2


def in_step_per_loop(s: Any) -> bool:
    """In each loop all ranks run the same batch, or none runs any."""
    return all(a == b for ran in s.ran for other in s.ran for a, b in zip(ran, other, strict=False))


def run_once(s: Any) -> bool:
    """No rank runs a batch twice."""
    runs = ([batch for batch in ran if batch] for ran in s.ran)
    return all(len(ran) == len(set(ran)) for ran in runs)


def none_left_behind(s: Any) -> bool:
    """What one rank has run, every other has run at the latest two loops later."""
    return all(
        batch in other[: index + 1 + _LAG]
        for ran in s.ran
        for index, batch in enumerate(ran)
        if batch
        for other in s.ran
        if len(other) > index + _LAG
    )


def word_is_true(s: Any) -> bool:
    """When rank 0 begins a loop, the word says that there is a batch only if there is one."""
    return s.pc[0] != "look" or s.word == 0 or bool(s.log)


def _loops(s: Any) -> Iterator[tuple[int, ...]]:
    return zip(*s.ran, strict=False)


INVARIANTS: Final[dict[str, Callable[[Any], bool]]] = {
    "InStepPerLoop": in_step_per_loop,
    "RunOnce": run_once,
    "NoneLeftBehind": none_left_behind,
    "WordIsTrue": word_is_true,
}

SOMETIMES: Final[dict[str, Callable[[Any], bool]]] = {
    "a batch was run by all": lambda s: any(set(loop) != {0} and len(set(loop)) == 1 for loop in _loops(s)),
    "a loop was idle": lambda s: any(set(loop) == {0} for loop in _loops(s)),
}
