"""V6: TLC and the model judge recorded runs of real processes, and reject altered ones at the right event."""

from __future__ import annotations

import tempfile
from pathlib import Path

from fdcomm.trace import read
from models.dispatch_trace import accept_file
from tests.traces.corpus import cases
from tests.traces.judges import by_model, by_tlc
from tests.traces.stress import compare, run
from tests.verify import cache_rows
from tests.verify.check import Check, Row
from tla.trace import judge

__all__ = ("checks",)

_CORPUS = "corpus of recorded and altered runs, TLC and model"


def checks(protocol: str, size: str) -> list[Check]:
    """Return the checks of this level."""
    if protocol in cache_rows.PROTOCOLS:
        return cache_rows.v6(protocol, size)
    if protocol != "dispatch":
        return []
    batches = 12 if size == "small" else 100
    return [
        Check(protocol, "V6", _stress_name(batches), _stress, (batches,)),
        Check(protocol, "V6", _CORPUS, _corpus),
    ]


def _stress_name(batches: int) -> str:
    return f"engine, 4 workers, kill and restart, {2 * batches} batches: TLC, model, what workers say"


def _stress(batches: int) -> Row:
    with tempfile.TemporaryDirectory(prefix="fdcomm-stress-") as folder:
        trace = Path(folder) / "stress.ndjson"
        story = run(trace, batches=batches)
        events = [event for event in read(trace) if event["protocol"] == "dispatch"]
        problems = compare(story, events)
        problems += [str(verdict) for verdict in accept_file(str(trace), ("dispatch",)) if not verdict.accepted]
        problems += [str(verdict) for verdict in judge([events]) if not verdict.accepted]
    names = {event["action"] for event in events}
    problems += [f"{name} did not occur" for name in ("Fence", "ClearRank", "ClearProducer") if name not in names]
    return Row(
        "dispatch",
        "V6",
        _stress_name(batches),
        ok=not problems,
        edges=len(events) - 1,
        bounds="one run; N=4, Depth=2, two putting threads",
        detail="; ".join(problems)[:500] or f"{len(events) - 1} events accepted by both judges, as the workers say",
    )


def _corpus() -> Row:
    files = cases()
    runs = [case.events for case in files]
    problems = []
    for judge_name, answers in (("model", by_model(runs)), ("TLC", by_tlc(runs))):
        for case, found in zip(files, answers, strict=True):
            if found != case.position:
                problems.append(f"{judge_name}: {case.name}: first impossible event {found}, not {case.position}")
    rejected = sum(case.position is not None for case in files)
    return Row(
        "dispatch",
        "V6",
        _CORPUS,
        ok=not problems and rejected > 0 and len(files) > rejected,
        edges=sum(len(case.events) - 1 for case in files),
        bounds="N=2, Depth=2",
        detail="; ".join(problems)[:500]
        or f"{len(files) - rejected} recorded runs accepted, {rejected} altered ones rejected at the right event",
    )
