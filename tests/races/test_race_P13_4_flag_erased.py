"""P13.4: a rank is told to load again while it loads, and lowers the new flag when it ends."""

from fdcomm import RearrangeEndedError
from tests.races.rearranging import Group, Words, rearrange_race


def shipped(words: Words) -> str:
    loader = words.loaders[0]
    loader.hook = lambda step: words.manager.tell("second") if step == "load.table" else None
    words.manager.tell("first")
    loader.run()
    loader.hook = lambda step: None
    again = loader.run()
    return "" if again else f"the rank was told to load the second table, and holds the {loader.table} one"


def ours(group: Group) -> str:
    first = group.begin("first")
    loader = group.loaders[0]
    loader.take_load()
    group.coordinator.call_off(first, "impatience")
    second = group.begin("second")
    refused = False
    try:
        loader.report(first)
    except RearrangeEndedError:
        refused = True
    if not refused:
        return "a report about the first request was accepted"
    taken = loader.take_load()
    return "" if taken == (second, "second") else f"the rank was told to load {taken}"


RACE = rearrange_race(("P13.4",), shipped, ours, "and holds the first one")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
