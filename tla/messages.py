"""What one run of TLC said: its tool-mode messages as a result."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from tla.values import Function, ValueSyntaxError, parse, parse_state

__all__ = ("HOLDS", "VIOLATED", "Result", "Step", "read")

HOLDS, VIOLATED, FAILED = "holds", "violated", "failed"

_START = re.compile(r"^@!@!@STARTMSG (\d+):(\d) @!@!@$")
_END = re.compile(r"^@!@!@ENDMSG \d+ @!@!@$")
_NAMED = {2107: r"Invariant (\S+) is violated", 2110: r"Invariant (\S+) is violated"}
_NAMED |= {2108: r"[Pp]roperty (\S+) is violated", 2112: r"Action property (\S+) is violated"}
_DEADLOCK, _TEMPORAL = 2114, 2116
_KINDS = {2107: "invariant", 2108: "property", 2110: "invariant", 2112: "action property"}
_KINDS |= {_DEADLOCK: "deadlock", _TEMPORAL: "temporal property"}
_STATE, _STUTTER, _BACK = 2217, 2218, 2122
_SUCCESS, _DEPTH, _STATS, _COVERAGE, _ACTION_COVERAGE = 2193, 2194, 2199, 2201, 2772
_SIMULATED, _FINISHED = 2209, 2186
_ERROR_CLASSES = ("1", "2")
_ERROR_BUT_EXPECTED = {2121, 2264}  # "the behavior up to this point is", "the following behavior ..."
_EXIT_OF_VIOLATION = (11, 12, 13)


@dataclass(frozen=True)
class Step:
    """One step of a counterexample: the action that led to the state ("" for the initial one)."""

    action: str
    state: Function


@dataclass(frozen=True)
class Result:
    """Outcome of a run.

    Attributes:
        outcome: ``HOLDS``, ``VIOLATED`` or ``FAILED`` (TLC could not decide: see ``errors``).
        kind: What was violated: "invariant", "action property", "temporal property", "deadlock", or "".
        violated: Name of what was violated; "" where TLC does not say (a temporal property).
        trace: The counterexample.
        loop: For a temporal property, the index in ``trace`` to which the last state goes back; the last index means
            that it stutters. None otherwise.
        coverage: Action name -> (new states, steps) over the whole run, when coverage was asked for.
        printed: Values that the spec printed with PrintT.
    """

    outcome: str
    kind: str = ""
    violated: str = ""
    trace: tuple[Step, ...] = ()
    loop: int | None = None
    generated: int = 0
    distinct: int = 0
    depth: int = 0
    coverage: dict[str, tuple[int, int]] = field(default_factory=dict)
    printed: tuple[Any, ...] = ()
    errors: tuple[str, ...] = ()
    exit_code: int = 0


class _Reader:
    def __init__(self) -> None:
        self.kind = ""
        self.violated = ""
        self.success = False
        self.simulated = False
        self.trace: list[Step] = []
        self.loop: int | None = None
        self.counts = (0, 0)
        self.depth = 0
        self.coverage: dict[str, tuple[int, int]] = {}
        self.errors: list[str] = []
        self.memo: dict[str, Any] = {}

    def message(self, code: int, kind: str, text: str) -> None:
        if code in _KINDS:
            self.violation(code, text)
        elif code == _STATE:
            self.step(text)
        elif code == _STUTTER:
            self.loop = len(self.trace) - 1
        elif code == _BACK:
            self.loop = int(text.split(":")[0]) - 1
        elif code == _SUCCESS:
            self.success = True
        elif code == _SIMULATED:  # random behaviours end without a word of success, only with their number of states
            found = re.search(r": (\d+) states generated", text.replace(",", ""))
            self.simulated, self.counts = found is not None, (int(found[1]) if found else 0, 0)
        elif code == _FINISHED:
            self.success = self.success or self.simulated
        elif code == _STATS:
            found = re.match(r"(\d+) states generated.*?, (\d+) distinct", text)
            self.counts = (int(found[1]), int(found[2])) if found else self.counts
        elif code == _DEPTH:
            found = re.search(r"is (\d+)\.", text)
            self.depth = int(found[1]) if found else 0
        elif code == _COVERAGE:  # a new report: the numbers are totals
            self.coverage.clear()
        elif code == _ACTION_COVERAGE:
            self.covered(text)
        elif kind in _ERROR_CLASSES and code not in _ERROR_BUT_EXPECTED:
            self.errors.append(" ".join(text.split()))

    def violation(self, code: int, text: str) -> None:
        self.kind = _KINDS[code]
        found = re.search(_NAMED[code], text) if code in _NAMED else None
        self.violated = found[1] if found else ""
        if code in (2107, 2108):
            shown = text.partition("\n")[2].strip()
            if shown:
                self.trace.append(Step("", parse_state(shown, self.memo)))

    def step(self, text: str) -> None:
        head, _, shown = text.partition("\n")
        found = re.match(r"\d+: <(?:(\w+) line|Initial predicate|Action line)", head)
        action = (found[1] or "") if found else ""
        self.trace.append(Step(action, parse_state(shown.strip(), self.memo)))

    def covered(self, text: str) -> None:
        found = re.match(r"<(\w+) line .*>: (\d+):(\d+)", text)
        if found:
            new, steps = self.coverage.get(found[1], (0, 0))
            self.coverage[found[1]] = (new + int(found[2]), steps + int(found[3]))


def _plain(lines: list[str]) -> tuple[list[Any], list[str]]:
    """Return the printed values and the parser's complaints among the lines outside messages."""
    printed: list[Any] = []
    complaints: list[str] = []
    text = "\n".join(lines)
    found = re.search(r"(\*\*\* Errors|\*\*\*Parse Error\*\*\*|Parse Error|Semantic errors)[\s\S]*", text)
    if found:
        complaints.append(" ".join(found[0].split())[:600])
    for line in lines:
        if line.startswith("<<"):
            try:
                printed.append(parse(line))
            except ValueSyntaxError:
                complaints.append(f"cannot read what the spec printed: {line[:200]}")
    return printed, complaints


def read(output: str, exit_code: int) -> Result:
    """Return the result of a run from its ``-tool`` output. What TLC did not say clearly is FAILED."""
    reader = _Reader()
    plain: list[str] = []
    current: tuple[int, str] | None = None
    body: list[str] = []
    for line in output.splitlines():
        start = _START.match(line)
        if start:
            current, body = (int(start[1]), start[2]), []
        elif current is not None and _END.match(line):
            reader.message(*current, "\n".join(body).strip())
            current = None
        elif current is not None:
            body.append(line)
        else:
            plain.append(line)
    printed, complaints = _plain(plain)
    errors = [*reader.errors, *complaints]
    if reader.kind and exit_code in _EXIT_OF_VIOLATION and not errors:
        outcome = VIOLATED
    elif reader.success and exit_code == 0 and not errors:
        outcome = HOLDS
    else:
        outcome = FAILED
        errors = errors or [f"TLC ended with exit code {exit_code} and no verdict"]
    return Result(
        outcome=outcome,
        kind=reader.kind,
        violated=reader.violated,
        trace=tuple(reader.trace),
        loop=reader.loop,
        generated=reader.counts[0],
        distinct=reader.counts[1],
        depth=reader.depth,
        coverage=dict(reader.coverage),
        printed=tuple(printed),
        errors=tuple(errors),
        exit_code=exit_code,
    )
