"""P13.8: the status is freed by time while a worker still exchanges its weights."""

from fdcomm import CommTimeoutError
from tests.races.rearranging import Group, Words, rearrange_race

LIMIT_S = 2.0


def shipped(words: Words) -> str:
    words.manager.tell("plan")
    words.loaders[0].run()
    words.manager.declare()
    seen: list[object] = []

    def meanwhile(step: str) -> None:
        words.manager.reset()
        seen.append(words.requester.request("next"))

    words.workers[0].hook = meanwhile
    words.workers[0].swap(polls=3)
    words.workers[0].finish()
    status = words.page.get(words.page.STATUS)
    return f"the next request was accepted meanwhile, and the status says {status} over it" if seen == [True] else ""


def ours(group: Group) -> str:
    number = group.begin(limit=LIMIT_S)
    group.load(number)
    group.requester.update(number)
    assert group.meet() == [number]
    refused = False
    try:
        group.requester.wait(number, LIMIT_S + 0.2)  # the limit passes here
    except CommTimeoutError:
        refused = True
    if not refused:
        return "it is over, and the worker still exchanges its weights"
    phase = group.requester.status().phase
    if phase != "UPDATING":
        return f"the limit has freed it while the worker exchanges its weights: {phase}"
    group.workers[0].updated(number)
    return "" if group.requester.wait(number).ok else "it is not done"


RACE = rearrange_race(("P13.8",), shipped, ours, "was accepted meanwhile, and the status says 3", ranks=1)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
