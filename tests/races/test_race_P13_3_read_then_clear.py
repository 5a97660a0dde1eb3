"""P13.3: a request that comes between the manager's read and its clear is erased."""

from fdcomm import RearrangeBusyError
from tests.races.rearranging import Group, Words, rearrange_race


def shipped(words: Words) -> str:
    told: list[bool] = []
    words.manager.hook = lambda step: told.append(words.requester.request("second")) if step == "take.clear" else None
    words.requester.request("first")
    taken = [words.manager.take()]
    words.page.set(words.page.STATUS, 0)  # the first one is over
    words.manager.hook = lambda step: None
    taken.append(words.manager.take())
    return f"the second was accepted, and the manager has {taken}" if told == [True] and taken[1] is None else ""


def ours(group: Group) -> str:
    group.requester.request(["first"])
    taken = [group.coordinator.take()]
    try:
        group.requester.request(["second"])
        return "a second request was accepted"
    except RearrangeBusyError:
        group.coordinator.call_off(1, "over")
    second = group.requester.request(["second"])
    taken.append(group.coordinator.take())
    return "" if taken == [(1, ("first",)), (second, ("second",))] else f"the coordinator was given {taken}"


RACE = rearrange_race(("P13.3",), shipped, ours, "the second was accepted, and the manager has ['first', None]")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
