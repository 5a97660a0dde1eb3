"""The programs of the page about pauses, and of a worker's loop with its API server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.multiproc.page_program import prints_what_the_page_says


@pytest.mark.multiproc
@pytest.mark.parametrize("page", ["protocols/pause", "worker-loop"])
def test_the_program_prints_what_the_page_says(page: str, tmp_path: Path) -> None:
    prints_what_the_page_says(page, tmp_path)
