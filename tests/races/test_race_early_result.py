"""early-result: the result of a task is there before its issuer has recorded it, and is dropped."""

import threading
from typing import Any

from tests.conformance.waiting import until
from tests.races.blocks_race import BlocksOurs, BlocksRace
from tests.races.pipes import WATCHDOG_S


def _outcome(variant: BlocksOurs) -> str:
    """A result that the receiver has looked for before the call that issues its task returns."""
    looked = threading.Event()
    await_number = variant.client._receiver.await_number

    def looking(number: int | None) -> Any:
        looked.set()
        return await_number(number)

    variant.client._receiver.await_number = looking  # type: ignore[method-assign]

    def accepted() -> None:
        variant.port.serve(1)
        if not looked.wait(WATCHDOG_S):
            raise TimeoutError("the receiver has taken nothing")

    variant.accepted = accepted
    swap = variant.swap_in()
    until(lambda: swap.done() or variant.port.outstanding() == 0)
    return variant.problem() if swap.done() else "the result was dropped, and its issuer waits"


def shipped() -> str:
    """What looks a result up once, as the published receiver does; that one records a task before it puts it."""
    with BlocksOurs() as variant:
        core = variant.client._core

        def look(number: int | None) -> Any:
            return None if number is None else core.find(number)

        variant.client._receiver.await_number = look  # type: ignore[method-assign]
        return _outcome(variant)


def ours(variant: BlocksOurs) -> str:
    return _outcome(variant)


RACE = BlocksRace(("early-result",), shipped, ours, "was dropped, and its issuer waits")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
