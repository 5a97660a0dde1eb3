"""C06: a rank is killed after another has answered; the engine's poll never returns."""

import pytest

from fdcomm.errors import PeerLostError
from tests.races.gates import finished
from tests.races.race import Race, wait_until
from tests.races.shipped import Stuck
from tests.races.variants import Ours, Shipped

pytestmark = pytest.mark.multiproc


def shipped(variant: Shipped) -> str:
    engine, rank0, rank1 = finished(variant), finished(variant, 0), variant.child(1)
    rank0.put(["a", "finished"])
    rank1.kill()
    try:
        engine.get()
    except Stuck as error:
        return f"rank 1 is dead, and {error}"
    return "the engine was told of a request that rank 1 has not finished"


def ours(variant: Ours) -> str:
    engine, rank0, rank1 = variant.engine(), variant.reader(0), variant.child(1)
    rank0.put_finished_req([["first", "finished"]])
    assert rank1.call("put_finished_req", [["first", "finished"]])
    assert engine.get_finished_req() == [["first", "finished"]]
    rank0.put_finished_req([["a", "finished"]])
    rank1.kill()

    def ends() -> bool:
        try:
            return bool(engine.get_finished_req(round_timeout=None))
        except PeerLostError as error:
            found.append(error)
            return True

    found: list[PeerLostError] = []
    wait_until("the end of the round", ends)
    if not found or (found[0].missing, found[0].request) != ((1,), "a"):
        return f"the round ended with {found}"
    # A restarted rank takes part again at once.
    restarted = variant.child(1)
    rank0.put_finished_req([["b", "finished"]])
    restarted.call("put_finished_req", [["b", "finished"]])
    told = engine.get_finished_req(round_timeout=None)
    return "" if told == [["b", "finished"]] else f"after the restart the engine was told {told}"


RACE = Race(("C06",), shipped, ours, "rank 1 is dead, and get still polls")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
