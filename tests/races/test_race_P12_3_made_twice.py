"""P12.3: both sides see that the words are not there, both make them, and each has words of its own."""

import subprocess
from pathlib import Path

from fdcomm.layerwise import LayerProgress
from tests.races.layerwise_race import Between, LayerRace, child_that_reports, stop
from tests.races.shipped_layerwise import ShippedSegment, open_words


def shipped(folder: Path) -> str:
    others: list[tuple[ShippedSegment, ShippedSegment]] = []

    def looked(name: str) -> None:
        if not others:
            others.append(open_words(folder, lambda name: None, own_name=True))

    mine = open_words(folder, looked, own_name=True)
    for word, value in zip(others[0], (5, 1), strict=True):
        word.set(value)
    read = mine[0].get(), mine[1].get()
    for word in (*mine, *others[0]):
        word.close()
    return "" if read == (5, 1) else f"the worker reports (5, 1), and the messager reads {read}"


def ours(folder: Path) -> str:
    others: list[subprocess.Popen[str]] = []

    def reached() -> None:
        if not others:
            others.append(child_that_reports(folder, 5, 1))

    try:
        with LayerProgress(directory=str(folder), runtime=Between(reached=reached)) as words:
            read = words.read()
            return "" if others and read == (5, 1) else f"the worker reports (5, 1), and the messager reads {read}"
    finally:
        for child in others:
            stop(child)


RACE = LayerRace(("P12.3",), shipped, ours, "reports (5, 1), and the messager reads (-1, 1)", ranks=2)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
