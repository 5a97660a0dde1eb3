"""P13.10, B55: after a failed load the worker waits for a table, inside its loop and without a limit."""

from fdcomm import CommTimeoutError, RearrangeEndedError
from tests.races.rearranging import FEW_S, Group, Words, rearrange_race
from tests.races.shipped import Stuck


def shipped(words: Words) -> str:
    words.loaders[0].works = False
    words.manager.tell("plan")
    words.loaders[0].run()
    if words.manager.gather(polls=3):
        words.manager.declare()
    words.requester.update()
    if not words.workers[0].told():
        return ""
    try:
        words.workers[0].swap(polls=40)
    except Stuck as error:
        return str(error)
    return ""


def ours(group: Group) -> str:
    number = group.begin()
    group.loaders[0].take_load()
    group.loaders[0].report(number, False, "no such file")
    if group.workers[0].take_update() is not None:
        return "a worker was told to exchange what was not loaded"
    number = group.begin()
    group.load(number)
    group.requester.update(number)
    try:
        return f"a worker was given {group.workers[0].take_update(FEW_S)} alone"
    except CommTimeoutError as error:
        if error.missing != (1,):
            return f"{error}"
    group.loaders[1].close()
    try:
        group.requester.update(number)
    except RearrangeEndedError:
        return "" if group.workers[0].take_update() is None else "it waits for what is over"
    return "the loss of a loader changed nothing"


RACE = rearrange_race(("P13.10", "B55"), shipped, ours, "still waits for a table after 40 polls")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
