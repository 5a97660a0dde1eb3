"""``python -m tests.verify``: run every check of every protocol and end in one table. See ``make verify``."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import metadata
from typing import Any

from tests.verify.check import LEVELS, Check, Row
from tests.verify.collect import EMPTY_CELLS, ROOT, SIZES, collect, protocols
from tests.verify.pool import run_all
from tests.verify.progress import Reporter
from tests.verify.status import render
from tests.verify.table import print_table
from tla.toolchain import versions as tool_versions

RESULTS = ROOT / "results" / "verify.json"
LIMIT_S = {"small": 300.0, "large": 7200.0}
# Of a check that has not run on this checkout.
_GUESS_S = {"V1": 2.0, "V2": 3.0, "V3": 2.5, "V4": 4.0, "V5": 1.5, "V6": 5.0, "V7": 1.0}


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.verify", description="Verify the protocols.")
    parser.add_argument("--protocol", choices=protocols(), help="only this one (default: all)")
    parser.add_argument("--level", choices=list(LEVELS), help="only this one (default: all)")
    parser.add_argument("--size", choices=SIZES, default="small", help="of the configurations (default: small)")
    # One more than processors: checks with real processes wait much of their time.
    jobs = (os.cpu_count() or 1) + 1
    parser.add_argument("--jobs", type=int, default=jobs, help=f"checks at a time (default: {jobs})")
    parser.add_argument("--write-status", action="store_true", help="write docs/status.md; needs a full run")
    options = parser.parse_args(argv)
    if options.jobs < 1:
        parser.error("--jobs must be at least 1")
    if options.write_status and (options.protocol or options.level):
        parser.error("--write-status needs a full run: leave --protocol and --level out")
    return options


def _key(check: Check) -> str:
    return f"{check.protocol}/{check.level}/{check.what}"


def _last_rows(size: str) -> dict[str, dict[str, Any]]:
    """Return what earlier runs on this checkout wrote: key of the check -> its row."""
    try:
        rows: dict[str, dict[str, Any]] = json.loads(RESULTS.read_text())[size]
        return rows if all(isinstance(row["seconds"], float) for row in rows.values()) else {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _longest_first(checks: list[Check], size: str) -> list[Check]:
    """Order by the durations of the last run on this checkout, longest first; unknown ones by a guess for their level.

    It only shortens the run: which checks run does not depend on it.
    """
    last = _last_rows(size)
    return sorted(checks, key=lambda check: -last.get(_key(check), {"seconds": _GUESS_S[check.level]})["seconds"])


def _remember(rows: Mapping[str, Row], size: str) -> None:
    everything = {other: _last_rows(other) for other in SIZES}
    everything[size].update({key: asdict(row) for key, row in rows.items()})
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(everything, indent=1) + "\n")


def _versions() -> dict[str, str]:
    return {
        "fdcomm": metadata.version("fdcomm"),
        "Python": platform.python_version(),
        "Hypothesis": metadata.version("hypothesis"),
        **tool_versions(),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Return 0 when every check passed and no cell is missing, else 1."""
    options = _arguments(argv)
    names = [options.protocol] if options.protocol else protocols()
    levels = [options.level] if options.level else list(LEVELS)
    begun = time.monotonic()
    checks, rows = collect(names, levels, options.size)
    ordered = _longest_first(checks, options.size)
    with Reporter(len(checks)) as reporter:
        done = run_all(ordered, options.jobs, LIMIT_S[options.size], reporter.started, reporter.finished)
    by_key = {_key(check): row for check, row in zip(ordered, done, strict=True)}
    rows += [by_key[_key(check)] for check in checks]
    rows.sort(key=lambda row: (row.protocol, row.level))
    wall_s = time.monotonic() - begun
    print_table(rows, wall_s)
    _remember(by_key, options.size)
    ok = bool(rows) and all(row.ok for row in rows)
    if options.write_status:
        now = datetime.datetime.now(datetime.timezone.utc)
        page = render(rows, names, EMPTY_CELLS, size=options.size, wall_s=wall_s, versions=_versions(), now=now)
        (ROOT / "docs" / "status.md").write_text(page)
        print("wrote docs/status.md")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
