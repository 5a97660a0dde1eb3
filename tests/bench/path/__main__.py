"""``python -m tests.bench.path``: every way to broadcast batches, by turns, in one run. See ``make bench``."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.bench.path import barriers
from tests.bench.path.catalogue import names
from tests.bench.path.floors import floors_us
from tests.bench.path.measure import Plan, WrongDelivery, measure
from tests.bench.path.tcp import SIZES as TCP_SIZES
from tests.bench.path.tcp import tcp_ms
from tests.bench.peers.packages import version
from tests.bench.text import summary

FULL = Plan((1, 2, 4, 8), (64, 4096, 32768, 262144, 4 << 20), turns=5, share=1.0, idle_s=2.0, limit_s=1500.0)
QUICK = Plan((1, 4), (4096, 262144), turns=3, share=0.2, idle_s=0.3, limit_s=32.0)

_PACKAGES = ("fdcomm", "pyzmq", "faster-fifo", "iceoryx2", "numpy")


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and write JSON on request. Returns 1 if a subject failed, 2 after a wrong delivery."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.path", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer ranks, sizes and batches: at most a minute")
    parser.add_argument("--ranks", type=int, nargs="+", help=f"numbers of readers (default: {FULL.ranks})")
    parser.add_argument("--sizes", type=int, nargs="+", help=f"payload bytes (default: {FULL.sizes})")
    parser.add_argument("--subjects", nargs="+", help="some of: " + "; ".join(names()))
    parser.add_argument("--turns", type=int, help="runs of each subject in each cell (default: 5, quick up to 3)")
    parser.add_argument("--share", type=float, help="part of the batches of a full run (default: 1, quick 0.2)")
    parser.add_argument("--idle", type=float, help="seconds of waiting readers (default: 2, quick 0.3)")
    parser.add_argument(
        "--limit", type=float, help="seconds after which no further turn begins (default: 1500, quick 32)"
    )
    parser.add_argument(
        "--json", type=Path, help="write what was measured; python -m tests.bench.report makes the page"
    )
    options = parser.parse_args(argv)
    base = QUICK if options.quick else FULL
    plan = Plan(
        tuple(options.ranks or base.ranks),
        tuple(options.sizes or base.sizes),
        options.turns or base.turns,
        options.share or base.share,
        options.idle or base.idle_s,
        options.limit or base.limit_s,
    )
    try:
        results = run(plan, options.subjects or names())
    except WrongDelivery as error:
        print(f"WRONG DELIVERY: {error}", file=sys.stderr)
        return 2
    if options.json:
        options.json.write_text(json.dumps(results, indent=None, separators=(",", ":")).replace("},{", "},\n{") + "\n")
    print(summary(results))
    return 1 if results["failed"] else 0


def run(plan: Plan, subjects: Sequence[str]) -> dict[str, Any]:
    """Measure all of it and return what the JSON has."""
    begin, load = time.time(), os.getloadavg()

    def say(text: str) -> None:
        print(f"[{time.time() - begin:5.0f} s] {text}", flush=True)

    found = measure(plan, subjects, say)
    turns = min(plan.turns, 3)
    limits = floors_us(plan.sizes, turns, max(200, round(5000 * plan.share)))
    say("floors: measured")
    several = [ranks for ranks in plan.ranks if ranks > 1]
    rows = _barriers(several, turns, max(20, round(300 * plan.share)), say)
    count = max(2, round(11 * plan.share))
    tcp = tcp_ms(count)
    say("TCP: measured")
    return {
        "format": 1,
        "machine": {
            "processors": len(os.sched_getaffinity(0)),
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
            "python": platform.python_version(),
            "packages": {name: text for name in _PACKAGES if (text := version(name, ""))},
            "load_before": round(load[0], 2),
            "date": time.strftime("%Y-%m-%d", time.gmtime(begin)),
            "took_s": round(time.time() - begin),
        },
        "plan": {"ranks": plan.ranks, "sizes": plan.sizes, "turns": plan.turns, "share": plan.share},
        "checked": found.checked,
        "skipped": found.skipped,
        "failed": found.failed,
        "about": found.about,
        "cells": list(found.cells.values()),
        "idle": list(found.idle.values()),
        "clients": found.clients,
        "floors": limits,
        "barriers": rows,
        "tcp": {"bytes": TCP_SIZES, **tcp},
    }


def _barriers(numbers: Sequence[int], turns: int, count: int, say: Any) -> list[dict[str, Any]]:
    rows = []
    for ranks in numbers:
        found: dict[str, list[float]] = {}
        for _ in range(turns):
            for kind in barriers.KINDS:
                taken = barriers.round_us(kind, ranks, count)
                if taken is not None:
                    found.setdefault(kind, []).append(round(sorted(taken)[len(taken) // 2], 2))
        rows += [{"subject": kind, "ranks": ranks, "us": figures} for kind, figures in found.items()]
        say(f"barriers, N = {ranks}: measured")
    return rows


if __name__ == "__main__":
    raise SystemExit(main())
