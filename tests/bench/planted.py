"""A peer that does wrong on purpose, for the tests of the benchmark: BENCH_PEERS with FDCOMM_BENCH_FAULT."""

from __future__ import annotations

import os
from typing import Any

from tests.bench.example_peer import Streams
from tests.bench.path.subject import Batch

__all__ = ("AT", "FAULTS", "SUBJECTS", "Planted")

AT = 7
"""Number of the batch that goes wrong."""

FAULTS = ("twice", "lost", "swapped", "cut", "changed", "dies")


class Planted(Streams):
    """Streams, but one batch goes wrong."""

    name = "planted"
    _kept: Any = None

    def put(self, batch: Batch) -> None:
        fault = os.environ.get("FDCOMM_BENCH_FAULT", "")
        if fault not in FAULTS or batch[0]["number"] not in (AT, AT + 1):
            super().put(batch)
            return
        head, content = batch
        if head["number"] == AT + 1:
            # The reader has taken one batch too many or too few by now: it gets as many as were put, all the same.
            {"swapped": self._put_kept, "lost": self._put_both}.get(fault, super().put)(batch)
        elif fault in ("swapped", "lost"):
            self._kept = batch
            super().put([{**head, "number": AT + 1}, content])
        elif fault == "twice":
            super().put([{**head, "number": AT - 1}, content])
        elif fault == "cut":
            super().put([head, content[:-1]])
        elif fault == "changed":
            super().put([head, content[:-1] + bytes([content[-1] ^ 1])])
        else:
            os._exit(3)

    def _put_kept(self, batch: Batch) -> None:
        super().put(self._kept)

    def _put_both(self, batch: Batch) -> None:
        super().put([{**batch[0], "number": AT + 2}, batch[1]])


SUBJECTS = [Planted()]
