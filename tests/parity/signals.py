"""Writes ``docs/signals.md`` from the catalogue of signals: ``python -m tests.parity.signals``."""

from __future__ import annotations

from fdcomm.signals.catalogue import CATALOGUE
from fdcomm.signals.declaration import FEATURES, Declaration, Feature
from tests.tidy.sources import ROOT

__all__ = ("PAGE", "page")

PAGE = ROOT / "docs" / "signals.md"

_HEAD = """# The signals of an engine

<!-- written by `python -m tests.parity.signals` from fdcomm/signals/catalogue.py -->

Every shared-memory signal of a FastDeploy engine, declared once. `SignalSet.create(role=..., tp_size=..., dp_size=...,
suffix=...)` makes those that the role makes, attaches the others, and finds processes that do not agree on a size:

```python
from fdcomm import SignalSet

with SignalSet.create(role="engine", tp_size=2, suffix=9923) as signals:
    signals["exist_task_signal"].value[0] = 1
```

The file is `/dev/shm/<block name>.<suffix>`. Suffix `P` is the port of the replica's worker queue, `E` the port of
replica 0's worker queue, `d` the data-parallel rank, `r` the tensor-parallel rank. Signals with suffix `E` are made by
replica 0's engine. What a killed process has left counts as not made: `create` waits for its maker's next run, up to
`timeout`. A signal with one segment for each rank is asked for by `signals.of(name, tp_rank)`.
`exist_tasks_intra_signal` is not in the table: the worker queue makes and keeps it itself, and
`EngineWorkerQueue.exist_tasks` reads it.

Where FastDeploy's sources of different releases give a signal different suffixes (`need_block_num_signal`, signals of
the engine as a whole), the table has the rule of the newer release.
"""

_TITLES: dict[Feature, str] = {
    "core": "Always",
    "cache": "With prefix caching or prefill/decode separation",
    "expert": "With several data-parallel replicas",
    "eplb": "With rearrangement of experts",
    "profile": "When the number of cache blocks is measured",
    "layerwise": "With layer-by-layer sending",
    "scheduler": "With the V1 scheduler",
}


def page() -> str:
    """Return the whole page."""
    return _HEAD + "".join(_section(feature) for feature in FEATURES)


def _section(feature: Feature) -> str:
    lines = [
        f"\n## {_TITLES[feature]} (`{feature}`)\n",
        "| block name | FastDeploy's attribute | suffix | dtype, shape | made by | written by | read by | meaning |",
        "|" + "---|" * 8,
    ]
    lines += [_row(decl) for decl in CATALOGUE if decl.feature == feature]
    return "\n".join(lines) + "\n"


def _row(decl: Declaration) -> str:
    shape = ", ".join(map(str, decl.shape))
    codes = f" Values: {', '.join(f'{code.name} {int(code)}' for code in decl.codes)}." if decl.codes else ""
    cells = (
        f"`{decl.name}`",
        ", ".join(f"`{name}`" for name in decl.attribute),
        f"`{decl.suffix.value}`",
        f"{decl.dtype or 'bytes'}[{shape}]",
        decl.creator or "the first",
        ", ".join(decl.writers),
        ", ".join(decl.readers),
        decl.meaning + codes,
    )
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
