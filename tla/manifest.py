"""The list of configurations with what each must give (``manifest.toml``), and the judgement of a run against it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tla.config import Config, read_config
from tla.messages import FAILED, HOLDS, VIOLATED, Result
from tla.run import ROOT, Run, execute, simulate
from tla.shared import graph_run

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ("SIZES", "Entry", "ManifestError", "Outcome", "check", "find", "load", "problems_of", "with_graph")

SIZES = ("small", "large")
_MODES = ("check", "live", "refine", "simulate")
_EXPECT = {"holds": HOLDS, "violates": VIOLATED}
_KEYS = {"name", "folder", "module", "mode", "variant", "expect", "violates", "race", "size", "distinct", "depth"}
_KEYS |= {"never", "steps", "behaviours", "seed", "protocols", "graph"}


# From here on two workers are worth that TLC may find a state on a longer way first, and tell another depth.
_MANY_STATES = 50_000


class ManifestError(ValueError):
    """An entry that cannot be right."""


@dataclass(frozen=True)
class Entry:
    """One configuration.

    Attributes:
        name: Stem of the configuration file.
        mode: "check" (safety), "live" (temporal properties), "refine", or "simulate" (random behaviours).
        variant: "FIXED" is our protocol, "SHIPPED" is FastDeploy's.
        expect: "holds" or "violates".
        violates: The property that must fail.
        race: The race that the violation is, as spec/ and the race register name it.
        distinct: Distinct states. For a violation: those found until then.
        depth: Depth of the state graph. For a violation: states of the counterexample. To simulate: the longest
            behaviour.
        never: With mode "check", actions that these bounds exclude. Every other action must be taken.
        steps: With mode "refine", the actions of the abstract specification that must occur, where the module prints
            <<"IS", action>> for each that does. Empty: it prints none.
        graph: The model's graph is compared with the one of this configuration (V2): one run of TLC gives both.
    """

    name: str
    folder: str
    module: str
    mode: str
    variant: str
    expect: str
    size: str
    protocols: tuple[str, ...]
    violates: str = ""
    race: str = ""
    distinct: int = 0
    depth: int = 0
    never: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    behaviours: int = 0
    seed: int = 0
    graph: bool = False

    @property
    def config_file(self) -> Path:
        """The configuration file."""
        return ROOT / self.folder / f"{self.name}.cfg"

    def config(self) -> Config:
        """Return what the configuration file says."""
        return read_config(self.config_file)

    def run(self) -> Run:
        """Return the run of TLC that decides this entry."""
        return Run(
            module=ROOT / self.folder / f"{self.module}.tla",
            config=self.config_file,
            # A counterexample, and the depth of a graph, are the same in every run only with one worker.
            size=self.size if self.expect == "holds" and not 0 < self.distinct < _MANY_STATES else "small",
            timeout_s=120.0 if self.size == "small" else 3600.0,
            coverage=self.expect == "holds" and self.mode == "check",
        )


@dataclass(frozen=True)
class Outcome:
    """A run and what is wrong with it; no problems means that the entry is confirmed."""

    entry: Entry
    result: Result
    problems: tuple[str, ...]


def load(path: Path = ROOT / "manifest.toml") -> list[Entry]:
    """Return all entries. Raises ManifestError on one that is not well formed."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    entries = [_entry(item) for item in data["config"]]
    names = [entry.name for entry in entries]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ManifestError(f"listed twice: {', '.join(twice)}")
    return entries


def _entry(item: dict[str, Any]) -> Entry:
    unknown = set(item) - _KEYS
    if unknown:
        raise ManifestError(f"{item.get('name')}: unknown keys {sorted(unknown)}")
    try:
        values: dict[str, Any] = {key: tuple(item[key]) for key in ("never", "steps", "protocols") if key in item}
        entry = Entry(**(item | values))
    except TypeError as error:
        raise ManifestError(f"{item.get('name')}: {error}") from None
    wrong = [
        key
        for key, value, allowed in (
            ("mode", entry.mode, _MODES),
            ("variant", entry.variant, ("FIXED", "SHIPPED")),
            ("expect", entry.expect, tuple(_EXPECT)),
            ("size", entry.size, SIZES),
        )
        if value not in allowed
    ]
    if (entry.expect == "violates") != bool(entry.violates):
        wrong.append("violates (named exactly when a violation is expected)")
    if entry.graph and (entry.mode, entry.expect) != ("check", "holds"):
        wrong.append("graph (a violated one is not complete, and with temporal properties TLC adds steps)")
    if wrong:
        raise ManifestError(f"{entry.name}: wrong {', '.join(wrong)}")
    return entry


def find(protocol: str, *, name: str = "", size: str = "small") -> list[Entry]:
    """Return the entries of a protocol up to a size ("large" includes the small ones), or the one of that name."""
    entries = [entry for entry in load() if protocol in entry.protocols]
    if name:
        return [entry for entry in entries if entry.name == name.removesuffix(".cfg")]
    return [entry for entry in entries if entry.size in SIZES[: SIZES.index(size) + 1]]


def with_graph(module: Path, constants: Mapping[str, str], specification: str) -> Entry | None:
    """Return the entry marked ``graph`` of this module, or of what ``MC<module>`` claims of it; None if not listed."""
    for entry in load():
        if not entry.graph or ROOT / entry.folder != module.parent:
            continue
        if entry.module.removeprefix("MC") != module.stem:
            continue
        config = entry.config()
        if config.specification == specification and not config.narrowed and _same(config.constants, constants):
            return entry
    return None


def _same(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """The same constants; sets are written sorted, so only spaces may differ."""
    return _plain(one) == _plain(other)


def _plain(constants: Mapping[str, str]) -> dict[str, str]:
    return {name: value.replace(" ", "") for name, value in constants.items()}


def violated(entry: Entry, result: Result) -> str:
    """Return the name of what was violated. TLC names no temporal property; it is sure when only one is checked."""
    if result.violated or result.outcome != VIOLATED:
        return result.violated
    if result.kind == "deadlock":
        return "deadlock"
    properties = entry.config().properties
    return properties[0] if len(properties) == 1 else f"one of {', '.join(properties)}"


def problems_of(entry: Entry, result: Result) -> tuple[str, ...]:
    """Return how the result differs from what the entry expects."""
    if result.outcome == FAILED:
        return tuple(result.errors)
    name = violated(entry, result)
    if result.outcome != _EXPECT[entry.expect]:
        if result.outcome == VIOLATED:
            return (f"{result.kind} {name} is violated, and all should hold",)
        return (f"nothing is violated, and {entry.violates} should be",)
    found = []
    if name != entry.violates:
        found.append(f"{result.kind} {name} is violated instead of {entry.violates}")
    if entry.mode == "simulate":
        if result.outcome == HOLDS and result.generated <= entry.behaviours:
            found.append(f"only {result.generated} states in {entry.behaviours} behaviours")
        return tuple(found)
    depth = len(result.trace) if result.outcome == VIOLATED else result.depth
    for what, is_now, was in (("distinct states", result.distinct, entry.distinct), ("depth", depth, entry.depth)):
        if is_now != was:
            found.append(f"{what}: {is_now}, and the manifest says {was}")
    if result.outcome == HOLDS and entry.run().coverage:
        never = {action for action, (_, steps) in result.coverage.items() if steps == 0}
        if never - set(entry.never):
            found.append(f"never taken: {', '.join(sorted(never - set(entry.never)))}")
        if set(entry.never) - never:
            found.append(f"taken, and the manifest says never: {', '.join(sorted(set(entry.never) - never))}")
    if result.outcome == HOLDS and entry.mode == "refine":
        steps = {said[1] for said in result.printed if said[:1] == ("IS",)}
        if steps != set(entry.steps):
            found.append(f"abstract steps: {sorted(steps)}, and the manifest says {sorted(entry.steps)}")
    return tuple(found)


def check(entry: Entry) -> Outcome:
    """Run TLC for the entry and compare. RunError when TLC could not run."""
    if entry.mode == "simulate":
        result = simulate(entry.run(), entry.behaviours, entry.depth, entry.seed)
    elif entry.graph:
        result, _ = graph_run(entry.run())
    else:
        result = execute(entry.run())
    return Outcome(entry, result, problems_of(entry, result))
