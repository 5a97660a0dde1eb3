"""Checks the specs with TLC.

python -m tla check dispatch                     every small configuration, against manifest.toml
python -m tla check dispatch --cfg MCDispatch_small --show    one, with its counterexample if it has one
python -m tla check dispatch -n                  only print the java commands
python -m tla check dispatch --size large        the nightly ones too
python -m tla graph dispatch --cfg MCDispatch_small           what the state graph holds
python -m tla trace run.ndjson                   is a recorded run a behaviour of the spec?
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tla import manifest
from tla.manifest import Entry
from tla.messages import Result
from tla.run import RunError, command_line, dump
from tla.toolchain import ToolMissingError
from tla.values import show

if TYPE_CHECKING:
    from tla.trace import Verdict
    from tla.trace_events import Event

    Judge: TypeAlias = Callable[[list[list[Event]]], list[Verdict]]


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tla", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("check", "graph"):
        command = commands.add_parser(name)
        command.add_argument("protocol")
        command.add_argument("--cfg", default="", metavar="NAME", help="only this configuration")
        command.add_argument("--size", choices=manifest.SIZES, default="small")
        command.add_argument("-n", "--dry-run", action="store_true", help="print the java commands, run nothing")
        command.add_argument("--show", action="store_true", help="print the counterexample")
    trace = commands.add_parser("trace")
    trace.add_argument("file", type=Path, help="NDJSON, as the host records it")
    return parser.parse_args(argv)


def _show(result: Result) -> None:
    before: dict[str, object] = {}
    for number, step in enumerate(result.trace):
        changed = {name: value for name, value in step.state.items() if before.get(name) != value or not before}
        print(f"  {number:3} {step.action or 'initially'}")
        print("".join(f"        {name} = {show(value)}\n" for name, value in changed.items()), end="")
        before = dict(step.state)
    if result.loop is not None:
        stays = result.loop == len(result.trace) - 1
        print("      and nothing more happens" if stays else f"      and back to {result.loop}, again and again")


def _check(entry: Entry, show_trace: bool) -> bool:
    start = time.monotonic()
    try:
        outcome = manifest.check(entry)
    except RunError as error:
        print(f"FAIL {entry.name}: {error}", flush=True)
        return False
    said = f"{entry.violates} fails" if entry.violates else "holds"
    numbers = f"{outcome.result.distinct} states, {time.monotonic() - start:.1f} s"
    if outcome.problems:
        print(f"FAIL {entry.name}: {'; '.join(outcome.problems)} ({numbers})", flush=True)
    else:
        print(f"ok   {entry.name}: {said} ({numbers})", flush=True)
    if show_trace:
        _show(outcome.result)
    return not outcome.problems


def _graph(entry: Entry) -> None:
    _, graph = dump(entry.run())
    print(f"{entry.name}: {len(graph.states)} states, {len(graph.edges)} edges, {len(graph.initial)} initial")
    for label, count in sorted(graph.labels().items()):
        print(f"  {label} {count}")


def judge_of(protocol: str) -> Judge:
    """Return the judge of the runs of a protocol."""
    from tla import (
        barrier_trace,
        blocks_trace,
        control_trace,
        fmq_trace,
        gate_trace,
        layerwise_trace,
        link_trace,
        mailbox_trace,
        meeting_trace,
        pause_trace,
        readiness_trace,
        rearrange_trace,
        ring_trace,
        signal_trace,
        status_trace,
        trace,
        transfer_trace,
        word_trace,
    )

    if protocol.startswith(barrier_trace.PREFIX):
        return barrier_trace.judge
    if protocol.startswith(link_trace.PREFIX):
        return link_trace.judge
    judges: dict[str, Judge] = {
        **dict.fromkeys(gate_trace.PROTOCOLS, gate_trace.judge),
        blocks_trace.PROTOCOL: blocks_trace.judge,
        fmq_trace.PROTOCOL: fmq_trace.judge,
        "control": control_trace.judge,
        "pause": pause_trace.judge,
        status_trace.PROTOCOL: status_trace.judge,
        layerwise_trace.PROTOCOL: layerwise_trace.judge,
        mailbox_trace.PROTOCOL: mailbox_trace.judge,
        readiness_trace.PROTOCOL: readiness_trace.judge,
        rearrange_trace.PROTOCOL: rearrange_trace.judge,
        meeting_trace.PROTOCOL: meeting_trace.judge,
        ring_trace.PROTOCOL: ring_trace.judge,
        signal_trace.PROTOCOL: signal_trace.judge,
        transfer_trace.PROTOCOL: transfer_trace.judge,
        word_trace.PROTOCOL: word_trace.judge,
    }
    return judges.get(protocol, trace.judge)


def _trace(file: Path) -> bool:
    from tla.trace import read_channels

    groups: dict[Judge, list[list[Event]]] = {}
    for run in read_channels(file):
        groups.setdefault(judge_of(str(run[0].get("protocol"))), []).append(run)
    verdicts = [verdict for judge, runs in groups.items() for verdict in judge(runs)]
    for verdict in verdicts:
        print(verdict)
    return bool(verdicts) and all(verdict.accepted for verdict in verdicts)


def main(argv: Sequence[str] | None = None) -> int:
    """Return 0 when everything is as expected, 1 when not, 2 when it could not be decided."""
    options = _arguments(argv)
    try:
        if options.command == "trace":
            return 0 if _trace(options.file) else 1
        entries = manifest.find(options.protocol, name=options.cfg, size=options.size)
        if not entries:
            print(f"no configuration of {options.protocol!r} {options.cfg}".rstrip(), file=sys.stderr)
            return 2
        if options.dry_run:
            print("\n".join(command_line(entry.run()) for entry in entries))
            return 0
        if options.command == "graph":
            for entry in entries:
                _graph(entry)
            return 0
        results = [_check(entry, options.show) for entry in entries]
        print(f"{sum(results)} of {len(results)} as expected")
        return 0 if all(results) else 1
    except (ToolMissingError, RunError, manifest.ManifestError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
