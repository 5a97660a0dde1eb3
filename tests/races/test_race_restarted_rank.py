"""restarted-rank: what a killed rank had answered, or owed, is held against its successor."""

import pytest

from fdcomm.errors import CommTimeoutError
from tests.races.gates import finished
from tests.races.race import Race, wait_until
from tests.races.variants import Ours, Shipped

pytestmark = pytest.mark.multiproc


def shipped(variant: Shipped) -> str:
    engine, rank0, rank1 = finished(variant), finished(variant, 0), finished(variant, 1)
    rank1.put(["a", "error: out of memory"])
    restarted = finished(variant, 1)  # its predecessor was killed; the manager has not noticed, and never will
    rank0.put(["b", "finished"])
    told = engine.get()
    restarted.put(["b", "finished"])
    return "" if told is None else f"rank 1 has not finished b since its restart, and the engine was told {told}"


def ours(variant: Ours) -> str:
    engine, rank0, rank1 = variant.engine(), variant.reader(0), variant.child(1)
    rank1.call("put_finished_req", [["a", "error: out of memory"]])
    rank0.put_finished_req([["b", "finished"]])
    for _ in ("a lacks rank 0", "b lacks rank 1"):
        try:
            engine.get_finished_req(round_timeout=0.0)
        except CommTimeoutError:
            continue
        return "an incomplete round was collected"
    rank1.kill()
    wait_until("the fence of rank 1", lambda: 1 in engine._view("send_cache", name="view")["lost"])
    restarted = variant.child(1)
    # Rank 1 owed an answer to b when it was killed. Its successor owes nothing.
    rank0.put_finished_req([["b", "finished"]])
    restarted.call("put_finished_req", [["b", "finished"]])
    told = engine.get_finished_req(round_timeout=None)
    return "" if told == [["b", "finished"]] else f"the engine was told {told}"


RACE = Race(("restarted-rank",), shipped, ours, "rank 1 has not finished b since its restart, and the engine was told")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
