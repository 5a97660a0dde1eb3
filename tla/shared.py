"""One run of TLC for the checks of one verification that need the same one: V1 its verdict, V2 its graph.

What is kept lies in the folder that ``FDCOMM_TLC_RUNS`` names. ``make verify`` makes a new one for each invocation and
removes it at the end: a verdict never outlives the invocation that ran TLC. Without the variable nothing is kept.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from pathlib import Path

from tla import messages
from tla.messages import Result
from tla.run import Run, library, run_with_graph
from tla.toolchain import jar, java

__all__ = ("FOLDER", "graph_run")

FOLDER = "FDCOMM_TLC_RUNS"


def graph_run(run: Run) -> tuple[Result, str]:
    """Run TLC, or take what the same run said earlier in this invocation. Returns the result and the dumped graph."""
    named = os.environ.get(FOLDER)
    if not named:
        done = run_with_graph(run)
        return messages.read(done.said, done.exit_code), done.graph
    folder = Path(named)
    kept, graph = folder / f"{_key(run)}.json", folder / f"{_key(run)}.dot"
    with open(folder / f"{_key(run)}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # whoever comes second waits for the first
        if not kept.exists():
            done = run_with_graph(run)
            graph.write_text(done.graph, encoding="utf-8")
            # What TLC printed, not what we read from it: hashes of strings differ from process to process.
            kept.write_text(json.dumps([done.said, done.exit_code]), encoding="utf-8")
    said, exit_code = json.loads(kept.read_text(encoding="utf-8"))
    return messages.read(said, exit_code), graph.read_text(encoding="utf-8")


def _key(run: Run) -> str:
    """Everything that decides what TLC says: the options, the configuration, every module that it could read."""
    found = hashlib.sha256(repr((run.size, run.coverage, run.options, run.module.name, java(), str(jar()))).encode())
    files = [run.module, run.module.parent / run.config.name]
    files += [file for folder in library(run) for file in sorted(folder.glob("*.tla"))]
    for file in files:
        found.update(f"\0{file.name}\0".encode() + file.read_bytes())
    return found.hexdigest()[:32]
