"""P11.4: the engine stops polling, and the ranks' threads hang in their next put."""

from fdcomm.errors import CommTimeoutError
from tests.races.gates import finished
from tests.races.race import Race
from tests.races.shipped import Stuck
from tests.races.variants import Variant

ROUNDS = 64


def scenario(variant: Variant) -> str:
    ranks = [finished(variant, 0), finished(variant, 1)]
    for number in range(ROUNDS):
        for rank in ranks:
            try:
                rank.put([str(number), "finished"])
            except Stuck as error:
                return f"the engine has not collected request {number - 1}, and {error}"
    try:
        ranks[0].put(["one more", "finished"])
    except CommTimeoutError as error:
        return "" if not error.missing else f"the error names {error.missing}, and all have answered"
    return "the number of open rounds has no limit"


RACE = Race(("P11.4",), scenario, scenario, "the engine has not collected request 0, and put still polls")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
