"""slot-reuse: a late report of a slot's last task is taken for one of the new task in the slot."""

from pathlib import Path

from fdcomm.layerwise import LayerSender
from tests.races.layerwise_race import LayerRace
from tests.races.shipped_layerwise import ShippedMessager


def shipped(folder: Path) -> str:
    rank = ShippedMessager("drop")
    rank.info("old", 0)
    rank.message((0,))
    rank.run(1)
    rank.info("new", 0)
    rank.message((0,))  # the old task's last layer: the message names the slot, and nothing else
    rank.run(1)
    return "the new task was sent before anything of it was computed" if ("new",) in rank.calls else ""


def ours(folder: Path) -> str:
    sent: list[tuple[object, int]] = []
    sender = LayerSender(1, 2, lambda request, first, last: sent.append((request, last)), lambda request, error: None)
    sender.on_cache_info("old", 0, 1)
    sender.on_progress(0, 1, 0)
    sender.run_once()
    sender.on_cache_info("new", 0, 2)
    sender.on_progress(0, 1, 1)
    sender.on_progress(0, 1, 1)
    while sender.run_once():
        pass
    if sent != [("old", 0), ("old", 1)]:
        return f"sent is {sent}"
    sender.on_progress(0, 2, 1)
    while sender.run_once():
        pass
    return "" if sent[2:] == [("new", 1)] else f"sent is {sent}"


RACE = LayerRace(("slot-reuse",), shipped, ours, "the new task was sent before anything of it was computed", ranks=1)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
