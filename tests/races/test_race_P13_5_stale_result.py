"""P13.5: the result of the last request is taken for one of this request."""

from fdcomm import ProtocolViolationError
from tests.races.rearranging import Group, Words, rearrange_race


def shipped(words: Words) -> str:
    for plan in ("first", "second"):
        words.manager.tell(plan)
        if plan == "first":
            for loader in words.loaders:
                loader.run()
        words.manager.gather(polls=3)
        words.manager.declare()
    tables = [loader.table for loader in words.loaders]
    return "" if tables == ["second"] * 2 else f"the second is declared loaded, and the ranks hold {tables}"


def ours(group: Group) -> str:
    group.exchange_all()
    second = group.begin("second")
    try:
        group.coordinator.declare_loaded(second)
        return "it was declared loaded before a rank had loaded"
    except ProtocolViolationError as error:
        return "" if error.missing == (0, 1) else f"{error.missing} were missing"


RACE = rearrange_race(("P13.5",), shipped, ours, "and the ranks hold ['first', 'first']")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
