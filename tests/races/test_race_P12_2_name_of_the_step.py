"""P12.2: whether the layer's segment is there is asked under the step's name, and that one was just made."""

from pathlib import Path

from fdcomm.layerwise import LayerProgress
from tests.races.layerwise_race import LayerRace
from tests.races.shipped_layerwise import open_words


def shipped(folder: Path) -> str:
    try:
        open_words(folder, lambda name: None)
    except FileNotFoundError as error:
        return f"the first to come raises FileNotFoundError: {Path(str(error.filename)).name}"
    return ""


def ours(folder: Path) -> str:
    with LayerProgress(directory=str(folder)) as words:
        names = sorted(path.name for path in folder.iterdir())
        wanted = [f"splitwise_complete_prefilled_{word}_0" for word in ("layer", "progress", "step")]
        return "" if names == wanted and words.read() == (-1, -1) else f"the words are {names}"


RACE = LayerRace(("P12.2",), shipped, ours, "raises FileNotFoundError: splitwise_complete_prefilled_layer", ranks=1)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
