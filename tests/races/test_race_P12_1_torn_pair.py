"""P12.1: a reader takes the layer from one step and the step from the next, and sends what is not computed."""

from collections.abc import Callable
from pathlib import Path

from fdcomm.layerwise import LayerProgress
from tests.races.layerwise_race import Between, LayerRace
from tests.races.shipped_layerwise import ShippedReader, open_words

LAYERS = 4


class Device:
    """Computes one layer after another, and reports each."""

    def __init__(self, report: Callable[[int, int], None]) -> None:
        self.report = report
        self.at = (0, LAYERS - 1)

    def next_step(self) -> None:
        """Begin the next step."""
        self.at = (self.at[0] + 1, 0)
        self.report(*self.at)

    def finish_step(self) -> None:
        """Compute the step to its end."""
        self.at = (self.at[0], LAYERS - 1)
        self.report(*self.at)


def judged(device: Device, read: tuple[int, int]) -> str:
    return f"read step {read[0]}, layer {read[1]}, and computed is {device.at}" if read > device.at else ""


def shipped(folder: Path) -> str:
    words = open_words(folder, lambda name: None, own_name=True)

    def report(step: int, layer: int) -> None:
        words[1].set(layer)
        words[0].set(step)

    device = Device(report)
    report(*device.at)
    answer = judged(device, ShippedReader(words, LAYERS, device.next_step, device.finish_step).read())
    for word in words:
        word.close()
    return answer


def ours(folder: Path) -> str:
    device: Device

    def loaded(word: int) -> None:
        # As late as it can be: after every load, and once more to the end of the step.
        device.next_step()
        device.finish_step()

    with LayerProgress(writer=True, directory=str(folder)) as writer:
        device = Device(writer.report)
        writer.report(*device.at)
        with LayerProgress(directory=str(folder), runtime=Between(loaded)) as reader:
            for _ in range(3):
                before = device.at
                read = reader.read()
                if judged(device, read) or read != before:
                    return f"read {read}, and reported was {before}"
    return ""


RACE = LayerRace(("P12.1",), shipped, ours, "read step 2, layer 3, and computed is (2, 0)", ranks=1)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
