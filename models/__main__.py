"""Command line of the models.

python -m models list                                   the protocols, and the guards of each
python -m models check dispatch [--ranks 3 ...]         explore, and say what holds (bounds: of dispatch only)
python -m models show barrier --without FenceWithdraws  a shortest counterexample, as text, Mermaid or HTML
python -m models accept dispatch TRACE.ndjson ...       is each recorded run a behaviour of its model?
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path as File
from typing import Any

from models.catalogue import CATALOGUE, broken_liveness, counterexample
from models.counterexample import to_html, to_mermaid, to_text
from models.dispatch_state import Config
from models.dispatch_trace import accept_file
from models.explore import explore
from models.guards import without


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 means that what was asked holds (for ``show``: that a counterexample was found)."""
    parser = argparse.ArgumentParser(prog="python -m models", description=__doc__, formatter_class=_AsWritten)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="name the protocols and their guards")
    check = commands.add_parser("check", help="explore a model and check everything that is claimed of it")
    shown = commands.add_parser("show", help="show a shortest counterexample of a model without one of its guards")
    accept = commands.add_parser("accept", help="judge recorded runs, of whichever protocols they are")
    for command in (check, shown, accept):
        command.add_argument("protocol", choices=tuple(CATALOGUE))
    _add_constants(check)
    check.add_argument("--without", action="append", default=[], metavar="GUARD", help="a name that list says")
    shown.add_argument("--without", required=True, metavar="GUARD", help="a name that list says")
    shown.add_argument("--format", choices=("text", "mermaid", "html"), default="text")
    shown.add_argument("--output", type=File, help="file to write; standard output when left out")
    accept.add_argument("trace", nargs="+", help="NDJSON file")
    args = parser.parse_args(argv)
    if args.command == "list":
        for name, listed in CATALOGUE.items():
            print(f"{name}: {', '.join(listed.faults())}")
        return 0
    if args.command == "accept":
        return _accept(args.trace)
    removed = args.without if args.command == "check" else [args.without]
    unknown = sorted(set(removed) - set(CATALOGUE[args.protocol].faults()))
    if unknown:
        parser.error(f"{args.protocol} has no guard {', '.join(unknown)}: see python -m models list")
    if args.command == "show":
        return _show(args.protocol, args.without, args.format, args.output)
    config: Any = _config(args) if args.protocol == "dispatch" else _default(args, parser)
    return _check(args.protocol, _taken_away(config, removed))


class _AsWritten(argparse.RawDescriptionHelpFormatter):
    """Keeps the line breaks of the description."""


_BOUNDS = ("ranks", "producers", "depth", "max_calls", "max_epoch", "per_producer")
_PEOPLE = ("leavers", "mortal", "mortal_producers", "quitters")


def _add_constants(parser: argparse.ArgumentParser) -> None:
    default = Config()
    for name in _BOUNDS:
        text = f"default {getattr(default, name)}"
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, help=text)
    for name in _PEOPLE:
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, nargs="*", help="default: nobody")


def _said(args: argparse.Namespace) -> dict[str, Any]:
    values = {name: getattr(args, name) for name in (*_BOUNDS, *_PEOPLE)}
    return {name: frozenset(v) if name in _PEOPLE else v for name, v in values.items() if v is not None}


def _config(args: argparse.Namespace) -> Config:
    try:
        return Config(**_said(args))
    except ValueError as error:
        raise SystemExit(f"error: {error}") from None


def _taken_away(config: Any, guards: Sequence[str]) -> Any:
    if not hasattr(config, "guards"):
        return config.without(*guards)
    return without(config, *guards)


def _default(args: argparse.Namespace, parser: argparse.ArgumentParser) -> Any:
    if _said(args):
        parser.error(f"these bounds are those of dispatch; {args.protocol} is explored as it is by default")
    return CATALOGUE[args.protocol].default()


def _check(protocol: str, config: Any) -> int:
    listed = CATALOGUE[protocol]
    model = listed.make(config)
    result = explore(model)
    print(f"{model.name}: {result.distinct} states, {result.generated} generated, depth {result.depth}")
    if (found := result.violation) is not None:
        print(to_text(found.path, str(found)))
        return 1
    broken = broken_liveness(listed, config)
    for name in (*model.invariants, *model.action_properties):
        print(f"  holds: {name}")
    for name in listed.promises(config):
        print(f"  {'FAILS' if name in broken else 'holds'}: {name}{': ' + broken[name][0] if name in broken else ''}")
    for name in (*model.sometimes, *model.sometimes_steps):
        print(f"  {'NEVER' if name in result.unreached else 'reached'}: {name}")
    return 0 if result.ok and not broken else 1


def _show(protocol: str, guard: str, form: str, output: File | None) -> int:
    listed = CATALOGUE[protocol]
    bug = listed.faults()[guard]
    found = counterexample(listed, guard)
    if found is None:
        print(f"no counterexample: {bug.violates} holds without {guard}", file=sys.stderr)
        return 1
    title, path = found
    name = listed.make(bug.config).name
    text = {
        "text": lambda: to_text(path, f"{name}: {title}") + "\n",
        "mermaid": lambda: to_mermaid(path),
        "html": lambda: to_html(path, f"{name}: {title}", f"{_size(bug.config)}; a shortest behaviour"),
    }[form]()
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text, encoding="utf-8")
    return 0


def _size(config: Any) -> str:
    if hasattr(config, "ranks"):
        return f"{config.ranks} ranks"
    return ", ".join(f"{name} = {value}" for name, value in config.constants().items() if type(value) is int)


def _accept(paths: Sequence[str]) -> int:
    accepted = True
    for path in paths:
        try:
            verdicts = accept_file(path)
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
