"""Command line of the models.

python -m models check dispatch [--ranks 3 ...]         explore, and say what holds
python -m models show dispatch --without GuardOwnRead   a shortest counterexample, as text, Mermaid or HTML
python -m models accept dispatch TRACE.ndjson ...       is each recorded run a behaviour of the model?
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path as File
from typing import Any

from models.acceptance import Verdict
from models.counterexample import to_html, to_mermaid, to_text
from models.dispatch import Dispatch
from models.dispatch_bugs import BUGS
from models.dispatch_liveness import fairness, liveness
from models.dispatch_state import Config, Guards, State
from models.dispatch_trace import accept_file
from models.explore import Path, explore
from models.graph import build
from models.liveness import leads_to
from models.status_trace import accept_file as accept_status

_JUDGES: dict[str, Callable[[str], list[Verdict]]] = {"dispatch": accept_file, "status": accept_status}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 means that what was asked holds (for ``show``: that a counterexample was found)."""
    parser = argparse.ArgumentParser(prog="python -m models", description=__doc__, formatter_class=_AsWritten)
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="explore a model and check everything that is claimed of it")
    shown = commands.add_parser("show", help="show a shortest counterexample of a model without one of its guards")
    accept = commands.add_parser("accept", help="judge recorded runs")
    for command in (check, shown):
        command.add_argument("protocol", choices=("dispatch",))
    accept.add_argument("protocol", choices=tuple(_JUDGES))
    _add_constants(check)
    check.add_argument("--without", action="append", default=[], choices=Guards.names(), metavar="GUARD")
    shown.add_argument(
        "--without", required=True, choices=Guards.names(), metavar="GUARD", help=", ".join(Guards.names())
    )
    shown.add_argument("--format", choices=("text", "mermaid", "html"), default="text")
    shown.add_argument("--output", type=File, help="file to write; standard output when left out")
    accept.add_argument("trace", nargs="+", help="NDJSON file")
    args = parser.parse_args(argv)
    if args.command == "check":
        return _check(replace(_config(args), guards=Guards.without(*args.without)))
    if args.command == "show":
        return _show(args.without, args.format, args.output)
    return _accept(_JUDGES[args.protocol], args.trace)


class _AsWritten(argparse.RawDescriptionHelpFormatter):
    """Keeps the line breaks of the description."""


def _add_constants(parser: argparse.ArgumentParser) -> None:
    default = Config()
    for name in ("ranks", "producers", "depth", "max_calls", "max_epoch", "per_producer"):
        value = getattr(default, name)
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=value, help=f"default {value}")
    for name in ("leavers", "mortal", "mortal_producers", "quitters"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, nargs="*", default=[], help="default: nobody")


def _config(args: argparse.Namespace) -> Config:
    bounds = ("ranks", "producers", "depth", "max_calls", "max_epoch", "per_producer")
    people = ("leavers", "mortal", "mortal_producers", "quitters")
    values: dict[str, Any] = {name: getattr(args, name) for name in bounds}
    values |= {name: frozenset(getattr(args, name)) for name in people}
    try:
        return Config(**values)
    except ValueError as error:
        raise SystemExit(f"error: {error}") from None


def _check(config: Config) -> int:
    model = Dispatch(config)
    result = explore(model)
    print(f"{model.name}: {result.distinct} states, {result.generated} generated, depth {result.depth}")
    if (found := result.violation) is not None:
        print(to_text(found.path, str(found)))
        return 1
    broken = _broken_liveness(config)
    for name in (*model.invariants, *model.action_properties):
        print(f"  holds: {name}")
    for name in liveness(config):
        print(f"  {'FAILS' if name in broken else 'holds'}: {name}{': ' + broken[name][0] if name in broken else ''}")
    for name in (*model.sometimes, *model.sometimes_steps):
        print(f"  {'NEVER' if name in result.unreached else 'reached'}: {name}")
    return 0 if result.ok and not broken else 1


def _broken_liveness(config: Config) -> dict[str, tuple[str, Path[State]]]:
    graph = build(Dispatch(config))
    fair = fairness(config)
    broken: dict[str, tuple[str, Path[State]]] = {}
    for name, properties in liveness(config).items():
        for prop in properties:
            if name not in broken and (lasso := leads_to(graph, prop, fair)) is not None:
                broken[name] = (f"{prop.name}: {lasso}", lasso.path)
    return broken


def _show(guard: str, form: str, output: File | None) -> int:
    bug = BUGS[guard]
    model = Dispatch(bug.config)
    if bug.liveness:
        broken = _broken_liveness(bug.config)
        if bug.violates not in broken:
            print(f"no counterexample: {bug.violates} holds without {guard}", file=sys.stderr)
            return 1
        title, path = broken[bug.violates]
    else:
        found = explore(model, only={bug.violates}).violation
        if found is None:
            print(f"no counterexample: {bug.violates} holds without {guard}", file=sys.stderr)
            return 1
        title, path = str(found), found.path
    text = {
        "text": lambda: to_text(path, f"{model.name}: {title}") + "\n",
        "mermaid": lambda: to_mermaid(path),
        "html": lambda: to_html(path, f"{model.name}: {title}", f"{bug.config.ranks} ranks; a shortest behaviour"),
    }[form]()
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text, encoding="utf-8")
    return 0


def _accept(judge: Callable[[str], list[Verdict]], paths: Sequence[str]) -> int:
    accepted = True
    for path in paths:
        try:
            verdicts = judge(path)
        except OSError as error:
            raise SystemExit(f"error: {error}") from None
        for verdict in verdicts:
            print(f"{path}: {verdict}")
            accepted = accepted and verdict.accepted
    return 0 if accepted else 1


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
