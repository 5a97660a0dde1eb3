"""P13.9: statistics are written element by element, and read meanwhile."""

from tests.races.rearranging import Group, Words, rearrange_race


def shipped(words: Words) -> str:
    words.page.write("\x01" * 64)
    before = words.page.read(64)
    words.page.write("\x02" * 32)  # the writer is half-way
    seen = words.page.read(64)
    torn = len(set(seen)) > 1 and before != seen
    return "the statistics are half old and half new" if torn else ""


def ours(group: Group) -> str:
    for value in (1, 2):
        group.loaders[0].put_stats([value] * 64)
        seen = group.coordinator.stats()
        if seen != [[value] * 64, None]:
            return f"the statistics are {seen}"
    return ""


RACE = rearrange_race(("P13.9",), shipped, ours, "half old and half new")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
