"""The program of docs/cache-group.md: requests find what they wrote, no block is lost, and both judges accept it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.multiproc.cache_group import CHANNELS, ROOT, run_group
from tests.traces.events import runs_of
from tla.blocks_trace import judge


@pytest.mark.tlc
@pytest.mark.multiproc
def test_the_group_is_disturbed_and_no_block_is_lost(seed: int, tmp_path: Path) -> None:
    run = run_group(tmp_path, seed, 4)
    page = (ROOT / "docs" / "cache-group.md").read_text(encoding="utf-8")
    assert f"```text\n{run.printed}```" in page, f"seed {seed}: {run.printed} {run.counted}"
    assert len(run.verdicts) == sum(map(len, CHANNELS.values()))
    for verdict in run.verdicts:
        assert verdict.accepted, f"seed {seed}: {verdict}"
    (found,) = judge([runs_of(tmp_path / "blocks.ndjson")["blocks"]])
    assert found.accepted, f"seed {seed}: {found}"
    counts = run.verdicts[0].counts
    assert min(counts[name] for name in ("Allocate", "Handle", "Rebuild", "Close")) > 0
