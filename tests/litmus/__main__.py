"""What the ring relies on, seen on this machine: ``python -m tests.litmus --seconds 20 --seed 1``.

Each pattern is run by two processes for that many seconds, and at most so many rounds. ``seen`` is how often the
outcome came that the pattern is about. It must not be seen, but for two patterns without a barrier, where it may: those
say whether this machine shows it at all. Ends with 1 when something was seen that must not be.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.litmus.sides import BYTES, PATTERNS

__all__ = ("MAY", "Outcome", "main", "run")

MAY = ("store buffering", "publish and look")
"""Patterns whose outcome the processor allows."""
_BARRIERS = ("barrier of",)
_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Outcome:
    """What a pattern showed. ``joined``: barriers of others reach the processes."""

    pattern: str
    rounds: int
    seen: int
    seconds: float
    joined: bool

    @property
    def may(self) -> bool:
        """The outcome is allowed here. Where barriers reach nobody, a pattern with one is like one without."""
        return self.pattern in MAY or (not self.joined and any(word in self.pattern for word in _BARRIERS))

    @property
    def ok(self) -> bool:
        """Nothing was seen that must not be."""
        return self.rounds > 0 and (self.may or not self.seen)

    def __str__(self) -> str:
        said = "" if self.seen else "not seen"
        verdict = (said or "seen, as it may be") if self.may else (said or "SEEN, AND MUST NOT BE")
        return f"{self.pattern:42} {self.rounds:9,} rounds {self.seen:9,} times  {self.seconds:5.1f} s  {verdict}"


def run(seconds: float, seed: int, rounds: int, patterns: Sequence[str] = tuple(PATTERNS)) -> list[Outcome]:
    """Run the patterns one after the other.

    Args:
        seconds: Limit of each.
        seed: Says how long each side waits before its steps.
        rounds: Limit of each.
    """
    watchdog = 60.0 + 3 * seconds * len(patterns)
    with tempfile.NamedTemporaryFile(prefix="fdcomm-litmus-", dir="/dev/shm") as file:
        file.truncate(BYTES)
        command = [sys.executable, "-m", "tests.litmus.sides", file.name]
        rest = [str(seed), str(seconds), str(rounds), *patterns]
        sides = [
            subprocess.Popen(
                [*command, side, *rest],
                stdout=subprocess.PIPE,
                cwd=_ROOT,
                env=dict(os.environ, PYTHONPATH=str(_ROOT)),
                text=True,
            )
            for side in ("0", "1")
        ]
        try:
            said = [side.communicate(timeout=watchdog)[0] for side in sides]
        finally:
            for side in sides:
                side.kill()
                side.wait()
    if any(side.returncode for side in sides):
        raise RuntimeError(f"the processes ended with {[side.returncode for side in sides]}")
    return [Outcome(**json.loads(line)) for line in said[0].splitlines()]


def main(argv: Sequence[str] | None = None) -> int:
    """Print what was seen."""
    parser = argparse.ArgumentParser(prog="python -m tests.litmus", description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="for each pattern")
    parser.add_argument("--rounds", type=int, default=10**9, help="at most, for each pattern")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    outcomes = run(options.seconds, options.seed, options.rounds)
    print(f"seed {options.seed}")
    print("\n".join(map(str, outcomes)))
    return 0 if all(outcome.ok for outcome in outcomes) and len(outcomes) == len(PATTERNS) else 1


if __name__ == "__main__":
    sys.exit(main())
