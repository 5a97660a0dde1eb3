"""The program of the status page: an API server, a worker group and a cache group, each rank a process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.multiproc.page_program import prints_what_the_page_says


@pytest.mark.multiproc
def test_the_program_prints_what_the_page_says(tmp_path: Path) -> None:
    prints_what_the_page_says("protocols/status", tmp_path)
