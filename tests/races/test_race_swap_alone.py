"""A worker exchanges its weights although the others never will: the ranks then run different experts."""

from fdcomm import CommTimeoutError
from tests.races.rearranging import FEW_S, Group, Words, rearrange_race


def shipped(words: Words) -> str:
    words.manager.tell("plan")
    for loader in words.loaders:
        loader.run()
    words.manager.declare()
    words.requester.update()
    words.workers[0].told()
    words.workers[0].swap(polls=3)  # and the worker of rank 1 is gone
    weights = [worker.weights for worker in words.workers]
    return f"the ranks run {weights}" if len(set(weights)) > 1 else ""


def ours(group: Group) -> str:
    number = group.begin()
    group.load(number)
    group.requester.update(number)
    try:
        return f"rank 0 was given {group.workers[0].take_update(FEW_S)} alone"
    except CommTimeoutError as error:
        return "" if error.missing == (1,) else f"{error}"


RACE = rearrange_race(("swap-alone",), shipped, ours, "the ranks run ['plan', None]")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
