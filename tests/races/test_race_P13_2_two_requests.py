"""P13.2: two requesters see that the status is free, and the second overwrites the first."""

from fdcomm import RearrangeBusyError
from tests.races.rearranging import Group, Words, rearrange_race


def shipped(words: Words) -> str:
    told = [words.requester.request("first"), words.requester.request("second")]
    taken = [words.manager.take(), words.manager.take()]
    return f"both were accepted, and the manager has {taken}" if told == [True, True] else ""


def ours(group: Group) -> str:
    first = group.requester.request(["first"])
    try:
        group.open(1).request(["second"])
    except RearrangeBusyError as error:
        running = error.request
    else:
        return "a second request was accepted"
    taken = group.coordinator.take()
    return "" if (running, taken) == (first, (first, ("first",))) else f"{running} is running, and {taken} was taken"


RACE = rearrange_race(("P13.2",), shipped, ours, "both were accepted, and the manager has ['second', None]")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
