"""P13.1: the manager sees how long the addresses are before they are written."""

from tests.races.rearranging import Group, Words, rearrange_race


def shipped(words: Words) -> str:
    seen: list[str | None] = []
    words.requester.hook = lambda step: seen.append(words.manager.take()) if step == "request.addresses" else None
    words.requester.request("a:1;b:2")
    return "" if seen == ["a:1;b:2"] else f"the manager works with the addresses {seen[0]!r}"


def ours(group: Group) -> str:
    group.requester.request(["a:1", "b:2"])
    taken = group.coordinator.take()
    return "" if taken == (1, ("a:1", "b:2")) else f"the coordinator was given {taken}"


RACE = rearrange_race(("P13.1",), shipped, ours, "works with the addresses '\\x00")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
