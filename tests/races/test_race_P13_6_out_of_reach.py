"""P13.6: who was not reached is not counted, and the rearrangement is declared a success without it."""

from fdcomm import ProtocolViolationError
from tests.races.rearranging import Group, Words, rearrange_race


def shipped(words: Words) -> str:
    words.manager.out_of_reach = {1}
    words.manager.tell("plan")
    words.loaders[0].run()
    words.manager.gather(polls=3)
    words.manager.declare()
    tables = [loader.table for loader in words.loaders]
    return "" if None not in tables else f"it is declared loaded, and the ranks hold {tables}"


def ours(group: Group) -> str:
    number = group.begin(addresses=("a:1", "b:2"))
    for loader in group.loaders:
        loader.take_load()
        loader.report(number)
    group.coordinator.peer_ready(number, "a:1")
    try:
        group.coordinator.declare_loaded(number)
        return "it was declared loaded without an address"
    except ProtocolViolationError as error:
        if "b:2" not in str(error):
            return f"the error names nobody: {error}"
    group.coordinator.peer_failed(number, "b:2", "connection refused")
    outcome = group.requester.wait(number)
    return "" if (outcome.what, outcome.addresses) == ("failed", ("b:2",)) else f"{outcome}"


RACE = rearrange_race(("P13.6",), shipped, ours, "and the ranks hold ['plan', None]")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
