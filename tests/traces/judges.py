"""Both judges over many runs, in one form: the index of the first impossible event, or None."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from models.dispatch_trace import accept
from tla.trace import judge

__all__ = ("by_model", "by_tlc")


def by_model(runs: Sequence[Sequence[dict[str, Any]]]) -> list[int | None]:
    """Ask the Python model."""
    answers: list[int | None] = []
    for run in runs:
        (verdict,) = accept(json.dumps(event) for event in run)
        answers.append(None if verdict.accepted else verdict.events)
    return answers


def by_tlc(runs: Sequence[Sequence[dict[str, Any]]]) -> list[int | None]:
    """Ask TLC, once for all runs of one shape."""
    return [None if verdict.accepted else verdict.position for verdict in judge([list(run) for run in runs])]
