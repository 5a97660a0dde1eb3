"""P12.5: the device's 32-bit step counter wraps, and a task of the new step looks as if it were computed long ago."""

from pathlib import Path

from fdcomm.layerwise import LayerSender
from tests.races.layerwise_race import LayerRace
from tests.races.shipped_layerwise import ShippedSender

LAYERS = 2
LAST, FIRST = 2**31 - 1, -(2**31)


def judged(sent: list[tuple[str, int]]) -> str:
    early = [layer for request, layer in sent if request == "new"]
    return f"layers {early} of the new step were sent while the old one was computed" if early else ""


def shipped(folder: Path) -> str:
    sender = ShippedSender(LAYERS)
    sender.info("old", LAST)
    sender.info("new", FIRST)
    sender.progress(LAST, 0)
    return judged(sender.sent)


def ours(folder: Path) -> str:
    sent: list[tuple[str, int]] = []

    def send(request: object, first: int, last: int) -> None:
        sent.extend((str(request), layer) for layer in range(first, last + 1))

    sender = LayerSender(2, LAYERS, send, lambda request, error: None)
    sender.on_cache_info("old", 0, LAST)
    sender.on_cache_info("new", 1, FIRST)
    sender.on_step(LAST, 0)
    while sender.run_once():
        pass
    if judged(sent):
        return judged(sent)
    sender.on_step(FIRST, 0)
    while sender.run_once():
        pass
    return "" if sent == [("old", 0), ("old", 1), ("new", 0)] else f"sent is {sent}"


RACE = LayerRace(("P12.5",), shipped, ours, "layers [0, 1] of the new step were sent while", ranks=1)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
