"""P11.2: answers that cannot be combined end the call with the lock held, and the gate is shut for ever."""

import contextlib
from collections.abc import Callable
from typing import Any

from fdcomm.errors import FdcommError
from tests.races.gates import GateClient, added, finished, responses
from tests.races.race import Race
from tests.races.shipped import Stuck
from tests.races.shipped_gate import ShippedGate
from tests.races.variants import Ours, Shipped, Variant

Make = Callable[..., GateClient]

# What goes in, and what is put afterwards.
CASES: dict[str, tuple[Make, list[Any], Any]] = {
    "no success": (responses, [{"task_id": 1}, {"task_id": 1}], {"task_id": 2, "success": True}),
    "tuple and error": (finished, [("a", "finished"), ("a", "write error")], ["b", "finished"]),
    "different lists": (added, [["a", "b"], ["a"]], ["c"]),
}


def _case(variant: Variant, make: Make, answers: list[Any], after: Any) -> str:
    engine, ranks = make(variant), [make(variant, 0), make(variant, 1)]
    raised = []
    for rank, answer in zip(ranks, answers, strict=True):
        try:
            rank.put(answer)
        except (FdcommError, KeyError) as error:
            raised.append(type(error).__name__)
    try:
        engine.get()
    except (KeyError, TypeError, AssertionError) as error:
        raised.append(type(error).__name__)
    try:
        for rank in ranks:
            rank.put(after)
        told = engine.get()
    except Stuck as error:
        return f"after {raised} {error}"
    return "" if told in (after, [after]) else f"the engine was told {told} instead of {after}"


def _empty(variant: Variant) -> str:
    rank = finished(variant, 0)
    try:
        if isinstance(rank, ShippedGate):
            rank.put_first([])
        else:
            variant.reader(1).put_finished_req([])  # type: ignore[attr-defined]
    except (IndexError, FdcommError) as error:
        try:
            rank.put(["a", "finished"])
        except Stuck as stuck:
            return f"after {type(error).__name__} {stuck}"
    return ""


def _all(variant: Variant, make: Callable[[int], contextlib.AbstractContextManager[Variant]]) -> str:
    """Each case has a host of its own: on the shipped one it ruins the gate."""
    found = {"empty list": _empty(variant)}
    for name, case in CASES.items():
        with make(2) as fresh:
            found[name] = _case(fresh, *case)
    return "; ".join(f"{name}: {found[name]}" for name in (*CASES, "empty list") if found[name])


def ours(variant: Ours) -> str:
    return _all(variant, Ours)


def shipped(variant: Shipped) -> str:
    return _all(variant, Shipped)


RACE = Race(
    ("P11.2",),
    shipped,
    ours,
    "no success: after [\x27KeyError\x27] put has no lock after 0.7 s; "
    "tuple and error: after [\x27TypeError\x27] put has no lock after 0.7 s; "
    "different lists: after [\x27AssertionError\x27] put has no lock after 0.7 s; "
    "empty list: after IndexError put has no lock",
)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
