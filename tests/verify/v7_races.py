"""V7: every registered race fails on the shipped protocol and does not occur on ours."""

from __future__ import annotations

import re

from tests.races.race import Race
from tests.races.register import read, scenarios
from tests.verify.check import Check, Row

__all__ = ("checks",)


_WHERE = re.compile(r"(?<![\w.])/[\w./-]+/(?=[\w.-]+)")
"""The folders of a file: they are this machine's."""

_ID = re.compile(r"test_race_([A-Z]\w*?\d+(_\d+)?_)?")
"""What the name of a test begins with."""


def checks(protocol: str, size: str) -> list[Check]:
    """Return one check per race test of the protocol. The size changes nothing: each is one scenario."""
    titles = {name: entry.title for entry in reversed(read()) if entry.protocol == protocol for name in entry.tests}
    called = {name: f"{', '.join(scenarios()[name].RACE.ids)}: {title}" for name, title in titles.items()}
    found = []
    for name in sorted(called):
        what = called[name]
        if list(called.values()).count(what) > 1:
            what += f" ({_ID.sub('', name).replace('_', ' ')})"
        found.append(Check(protocol, "V7", what, _run, (protocol, name, what)))
    return found


def _run(protocol: str, name: str, what: str) -> Row:
    module = scenarios()[name]
    race: Race = module.RACE
    bounds = f"{race.ranks} rank{'s' if race.ranks > 1 else ''}, one schedule"
    shown = []
    for variant in (value for value in vars(module).values() if isinstance(value, Race)):
        answer = variant.on_shipped()
        shown.append(answer)
        if variant.symptom not in answer:
            detail = f"shipped does not show {variant.symptom!r} but {answer!r}: see tests/races/{name}.py"
            return Row(protocol, "V7", what, ok=False, bounds=bounds, detail=detail)
    answer = race.on_ours()
    detail = (
        f"ours fails: {answer}; see tests/races/{name}.py" if answer else _WHERE.sub("", f"shipped: {'; '.join(shown)}")
    )
    return Row(protocol, "V7", what, ok=not answer, bounds=bounds, detail=detail)
