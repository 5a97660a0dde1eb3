"""P14.5: a rank raises after it has answered; the others wait for it, and meet it in another request."""

import pytest

from tests.conformance.waiting import Background
from tests.races.control_race import ControlOurs, ControlRace
from tests.races.pipes import WATCHDOG_S
from tests.races.shipped_control import ShippedEngine

pytestmark = pytest.mark.multiproc


def shipped(engine: ShippedEngine) -> str:
    first, second = engine.ranks
    number = engine.ask()
    first.step(raises=True)
    second.step()
    engine.gather(number)
    engine.ask()
    first.step()
    second.step()
    apart = [met for met in engine.met if len(set(met)) > 1]
    return f"the ranks go on together from the requests {apart[0]}" if apart else ""


def ours(variant: ControlOurs) -> str:
    """A rank's loop answers for whatever its handler raises, and nobody waits for another rank."""
    told: list[list[tuple[bool, object]]] = []

    def serve(rank: int) -> None:
        def handler(payload: object) -> object:
            if (rank, payload) == (0, "first"):
                raise RuntimeError("outside")
            return payload

        variant.servers[rank].serve(handler, lambda: len(told) == 2)

    loops = [Background(lambda rank=rank: serve(rank)) for rank in (0, 1)]  # type: ignore[misc]
    for what in ("first", "second"):
        result = variant.client.ask(what, timeout=WATCHDOG_S)
        told.append([(answer.ok, answer.value) for answer in result.answers])
    for loop in loops:
        loop.value()
    wanted = [[(False, "RuntimeError: outside"), (True, "first")], [(True, "second")] * 2]
    return "" if told == wanted else f"the ranks answered {told}"


RACE = ControlRace(("P14.5",), shipped, ours, "the ranks go on together from the requests [2, 1]")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
