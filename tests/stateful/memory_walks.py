"""Long random behaviours of a model in shared memory, done by the code; Hypothesis chooses, and shrinks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conformance.word_walks import Part, follow, random_walk

__all__ = ("run_random",)


def run_random(part_of: Callable[[str], Part], plan: str, options: settings, length: int) -> Counter[str]:
    """Drive random behaviours of a plan of up to ``length`` steps; return which actions occurred."""
    occurred: Counter[str] = Counter()

    @options
    @given(st.lists(st.integers(0, 10_000), min_size=length // 2, max_size=length))
    def run(choices: list[int]) -> None:
        part = part_of(plan)
        occurred.update(follow(part, [random_walk(part, choices)]).actions)

    test: Callable[[], None] = run
    test()
    return occurred
