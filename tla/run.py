"""Runs TLC once: a private folder, a time limit, nothing read but what this run wrote."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from tla import messages, toolchain
from tla.archive import archive_options
from tla.dot import StateGraph, parse_dot
from tla.messages import Result

__all__ = (
    "ROOT",
    "Run",
    "RunError",
    "Said",
    "command_line",
    "dump",
    "execute",
    "graph_of",
    "library",
    "run_with_graph",
    "simulate",
)

ROOT = Path(__file__).resolve().parent
_SMALL = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx1g")
_LARGE = ("-XX:+UseParallelGC", "-Xmx4g")


class RunError(Exception):
    """TLC did not end in time, or did not write what it was asked for."""


@dataclass(frozen=True)
class Run:
    """One run: a root module with a configuration.

    Attributes:
        module: The root module's file.
        config: The configuration file, in the same folder.
        size: "small": a fast start, one worker, the same order every time. "large": speed, two workers.
        timeout_s: Seconds after which the run is ended and has failed.
        coverage: Also count how often each action was taken.
        library: More folders in which modules are found.
        options: More options of TLC.
    """

    module: Path
    config: Path
    size: str = "small"
    timeout_s: float = 120.0
    coverage: bool = False
    library: tuple[Path, ...] = ()
    options: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Said:
    """What a run of TLC printed and returned, and the graph that it dumped ("" where it was not asked to)."""

    said: str
    exit_code: int
    graph: str = ""


def library(run: Run) -> tuple[Path, ...]:
    """Return the folders in which the run finds modules: also those of protocols that others extend or refine."""
    return (*run.library, ROOT / "common", run.module.parent, ROOT / "dispatch", ROOT / "barrier")


def _command(run: Run, folder: Path) -> list[str]:
    small = run.size == "small"
    folders = ":".join(str(path) for path in library(run))
    flags = _SMALL if small else _LARGE
    command = [toolchain.java(), *flags, "-XX:-UsePerfData", "-Duser.language=en"]
    command += archive_options(flags) if small else ()
    command += [f"-Djava.io.tmpdir={folder}", f"-DTLA-Library={folders}", "-cp", str(toolchain.jar()), "tlc2.TLC"]
    # A fixed seed and fingerprint polynomial: two runs print the same counterexample.
    command += ["-tool", "-nowarning", "-deadlock", "-fp", "0", "-seed", "1"]
    command += ["-metadir", str(folder / "meta"), "-workers", "1" if small else "2"]
    command += ["-coverage", "1"] if run.coverage else []
    # TLC looks for a configuration beside the module, and only there.
    return [*command, *run.options, "-config", run.config.name, str(run.module)]


def command_line(run: Run) -> str:
    """Return the java command, to be pasted into a shell. ``$T`` is an empty folder."""
    placeholder = Path("T_IS_AN_EMPTY_FOLDER")
    return "T=$(mktemp -d); " + shlex.join(_command(run, placeholder)).replace(str(placeholder), "$T")


def _run(run: Run, folder: Path) -> Said:
    for path in (run.module, run.module.parent / run.config.name):
        if not path.is_file():
            raise RunError(f"{path} does not exist")
    try:
        done = subprocess.run(
            _command(run, folder),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=run.timeout_s,
            check=False,
            cwd=folder,
        )
    except subprocess.TimeoutExpired:
        raise RunError(f"{run.config.name}: TLC was ended after {run.timeout_s:g} s") from None
    if done.stderr.strip():
        result = messages.read(done.stdout, done.returncode)
        if result.outcome == messages.FAILED:
            raise RunError(f"{run.config.name}: {'; '.join(result.errors)}; {done.stderr.strip()[-400:]}")
    return Said(done.stdout, done.returncode)


def execute(run: Run) -> Result:
    """Run TLC. The result says what it found; RunError when it could not run."""
    with tempfile.TemporaryDirectory(prefix="fdcomm-tlc-") as folder:
        done = _run(run, Path(folder))
    return messages.read(done.said, done.exit_code)


def simulate(run: Run, behaviours: int, depth: int, seed: int) -> Result:
    """Check random behaviours instead of all: for bounds that cannot be exhausted."""
    options = ("-simulate", f"num={behaviours}", "-depth", str(depth), "-seed", str(seed))
    return execute(_with_options(run, options))


def run_with_graph(run: Run) -> Said:
    """Run TLC and return also the whole labelled transition graph, as it dumps it."""
    with tempfile.TemporaryDirectory(prefix="fdcomm-tlc-") as name:
        file = Path(name) / "graph.dot"
        done = _run(_with_options(run, ("-dump", "dot,actionlabels", str(file))), Path(name))
        graph = file.read_text(encoding="utf-8") if file.exists() else ""
    return Said(done.said, done.exit_code, graph)


def graph_of(run: Run, result: Result, graph: str) -> StateGraph:
    """Return the graph that the run dumped. RunError when a property is violated, or states are missing."""
    if result.outcome != messages.HOLDS:
        said = "; ".join(result.errors) or f"{result.kind} {result.violated} is violated"
        raise RunError(f"{run.config.name}: no graph, because {said}")
    read = parse_dot(graph)
    if len(read.states) != result.distinct:
        raise RunError(f"{run.config.name}: {len(read.states)} states dumped, {result.distinct} found")
    return read


def dump(run: Run) -> tuple[Result, StateGraph]:
    """Run TLC and return the whole labelled transition graph. RunError when a property is violated."""
    done = run_with_graph(run)
    result = messages.read(done.said, done.exit_code)
    return result, graph_of(run, result, done.graph)


def _with_options(run: Run, options: tuple[str, ...]) -> Run:
    return Run(
        module=run.module,
        config=run.config,
        size=run.size,
        timeout_s=run.timeout_s,
        coverage=run.coverage,
        library=run.library,
        options=(*run.options, *options),
    )
