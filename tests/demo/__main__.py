"""``python -m tests.demo``: an engine and four workers on a real queue, and two judges of what was recorded.

The exit code is 0 when every rank received what it should have, and both TLC and the Python model say that the
recorded run is a behaviour of the specification.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from models.dispatch_trace import accept_file
from tests.demo.run import Outcome, run
from tla.trace import judge as judge_by_tlc
from tla.trace import read_channels


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; 0 means that all is as it should be."""
    parser = argparse.ArgumentParser(prog="python -m tests.demo", description=__doc__)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--batches", type=int, default=6)
    parser.add_argument("--kill", action="store_true", help="kill one worker with SIGKILL on the way, and restart it")
    parser.add_argument("--trace", type=Path, help="keep the recorded events in this file")
    options = parser.parse_args(argv)
    if options.ranks < 1 or options.batches < 3:
        parser.error("needs at least one rank and three batches")
    with tempfile.TemporaryDirectory(prefix="fdcomm-demo-") as folder:
        trace = (options.trace or Path(folder) / "demo.ndjson").resolve()
        outcome = run(trace, options.ranks, options.batches, options.kill)
        problems = check(outcome)
        print()
        for rank, got in outcome.got.items():
            print(f"rank {rank} received {got}")
        print()
        problems += judge(trace)
    for problem in problems:
        print(f"WRONG: {problem}")
    print("the demo failed" if problems else "all ranks received what they should, and both judges accept the run")
    return 1 if problems else 0


def check(outcome: Outcome) -> list[str]:
    """Compare what the ranks received with what the engine put."""
    problems = list(outcome.wrong)
    for rank, got in outcome.got.items():
        if rank == outcome.killed:
            # Batches that the others started while it was gone are not for it.
            rest = iter(outcome.put)
            if not all(name in rest for name in got) or got[-1:] != ["end"]:
                problems.append(f"rank {rank} received {got} of {outcome.put}")
        elif got != outcome.put:
            problems.append(f"rank {rank} received {got} instead of {outcome.put}")
    return problems


def judge(trace: Path) -> list[str]:
    """Ask both judges whether the recorded run is a behaviour of the specification."""
    problems = []
    for verdict in accept_file(str(trace), only=("dispatch",)):
        print(f"Python model: {verdict}")
        if not verdict.accepted:
            problems.append(f"the Python model rejects {verdict.channel}")
    decided = judge_by_tlc([run for run in read_channels(trace) if run[0]["protocol"] == "dispatch"])
    for decision in decided:
        print(f"TLC: {decision}")
        if not decision.accepted:
            problems.append("TLC rejects the run")
    if not decided:
        problems.append("TLC was given nothing to judge")
    return problems


if __name__ == "__main__":
    sys.exit(main())
