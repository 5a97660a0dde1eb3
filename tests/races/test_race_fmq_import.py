"""The module of queues cannot be imported: one option object stands as the default of a configuration's field."""

from fdcomm.mq import Config, load_config
from tests.races.fmq_race import FmqOurs, FmqRace, FmqShipped
from tests.races.shipped_fmq import shipped_config


def shipped(variant: FmqShipped) -> str:
    try:
        made = shipped_config()
    except ValueError as error:
        return str(error)
    # Before 3.11 it is allowed, and all configurations share the object.
    return "mutable default, shared by all" if made().options is made().options else ""


def ours(variant: FmqOurs) -> str:
    one, two = Config(), Config()
    if one.endpoints is two.endpoints:
        return "two configurations share their endpoints"
    told = load_config('{"window": 7, "socket_config": {"linger": 100}}')
    return "" if (told.window, told.socket_config.linger) == (7, 100) else "the configuration has no effect"


RACE = FmqRace(("fmq-import",), shipped, ours, "mutable default")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
