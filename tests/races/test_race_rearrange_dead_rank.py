"""A loader dies: nobody is told, the status stays, and no request is accepted any more."""

from tests.races.rearranging import Group, Words, rearrange_race


def shipped(words: Words) -> str:
    words.requester.request("first")
    words.manager.take()
    words.manager.tell("plan")
    words.loaders[0].run()  # and the loader of rank 1 is gone
    polls: list[str] = []
    words.manager.hook = polls.append
    words.manager.gather(polls=40)
    asked = words.requester.request("second")
    return f"after {len(polls)} polls the second request is refused" if len(polls) == 40 and not asked else ""


def ours(group: Group) -> str:
    number = group.begin()
    for loader in group.loaders:
        loader.take_load()
    group.lose(group.loaders[1])
    outcome = group.requester.wait(number, 30.0)
    if (outcome.what, outcome.missing) != ("lost", (1,)):
        return f"{outcome}"
    return "" if group.requester.request() == number + 1 else "the next request was refused"


RACE = rearrange_race(("rearrange-dead-rank",), shipped, ours, "after 40 polls the second request is refused")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
