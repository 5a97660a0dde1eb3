"""P13.7: a load that failed is declared loaded, and the update is accepted."""

from fdcomm import RearrangeEndedError
from tests.races.rearranging import Group, Words, rearrange_race


def shipped(words: Words) -> str:
    words.loaders[1].works = False
    words.manager.tell("plan")
    for loader in words.loaders:
        loader.run()
    if words.manager.gather(polls=3):
        words.manager.declare()
    return "the update after a failed load was accepted" if words.requester.update() else ""


def ours(group: Group) -> str:
    number = group.begin()
    for rank, loader in enumerate(group.loaders):
        loader.take_load()
        loader.report(number, rank == 0, "no such file")
    try:
        group.requester.update(number)
        return "the update after a failed load was accepted"
    except RearrangeEndedError as error:
        if "no such file" not in str(error) or error.missing != (1,):
            return f"the error does not say what failed: {error}"
    status = group.requester.status()
    return "" if status.word == 0 else f"the status is {status.phase}"


RACE = rearrange_race(("P13.7",), shipped, ours, "after a failed load was accepted")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
