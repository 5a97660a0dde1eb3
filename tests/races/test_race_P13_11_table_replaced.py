"""P13.11: a second load replaces a table that no worker has used, and the worker forgets it."""

from fdcomm import RearrangeBusyError
from tests.races.rearranging import Group, Words, rearrange_race


def shipped(words: Words) -> str:
    loader = words.loaders[0]
    words.manager.tell("first")
    loader.run()
    words.manager.declare()
    words.requester.update()
    words.workers[0].told()
    words.manager.reset()
    words.manager.tell("second")
    loader.run()
    words.workers[0].swap(polls=3)
    return "" if words.workers[0].weights == "first" else "the first exchange was made with the second table"


def ours(group: Group) -> str:
    number = group.begin("first")
    group.load(number)
    group.requester.update(number)
    assert group.meet() == [number]
    refused = False
    try:
        group.requester.request()
    except RearrangeBusyError:
        refused = True
    if not refused:
        return "the next request was accepted while weights are exchanged"
    if group.loaders[0].take_load() is not None:
        return "a second load came before the table was used"
    group.workers[0].updated(number)
    return "" if group.requester.wait(number).ok else "it is not done"


RACE = rearrange_race(("P13.11",), shipped, ours, "made with the second table", ranks=1)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
