"""``python -m models`` knows every protocol of its catalogue: each guard's counterexample, and what holds with all."""

from __future__ import annotations

import pytest

from models.__main__ import main
from models.catalogue import CATALOGUE

GUARDS = [(protocol, guard) for protocol, listed in CATALOGUE.items() for guard in listed.faults()]


def test_it_lists_every_protocol_and_guard(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    lines = dict(line.split(": ") for line in capsys.readouterr().out.splitlines())
    assert {(protocol, guard) for protocol, text in lines.items() for guard in text.split(", ")} == set(GUARDS)


@pytest.mark.parametrize(("protocol", "guard"), GUARDS)
def test_it_shows_every_guard(protocol: str, guard: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", protocol, "--without", guard]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith(protocol)
    bug = CATALOGUE[protocol].faults()[guard]
    assert bug.violates in first or getattr(bug, "liveness", False)


@pytest.mark.parametrize("protocol", CATALOGUE)
def test_a_page_says_the_size(protocol: str, capsys: pytest.CaptureFixture[str]) -> None:
    guards = CATALOGUE[protocol].faults()
    first = next(guard for guard, bug in guards.items() if not getattr(bug, "liveness", False))
    assert main(["show", protocol, "--without", first, "--format", "html"]) == 0
    assert "; a shortest behaviour" in capsys.readouterr().out


@pytest.mark.parametrize("protocol", CATALOGUE)
def test_everything_holds_by_default(protocol: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", protocol])
    printed = capsys.readouterr().out
    assert "holds: " in printed
    assert "FAILS" not in printed
    assert "is violated" not in printed


@pytest.mark.parametrize(
    ("protocol", "guard", "said"),
    [("barrier", "CrossWaitFound", "NoCrossWait"), ("word.add", "Locked", "NothingLost")],
)
def test_a_guard_taken_away_by_check_is_seen(
    protocol: str, guard: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", protocol, "--without", guard]) == 1
    assert f"{said} is violated" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "gate", "--without", "GuardOwnRead"], "gate has no guard"),
        (["check", "gate", "--ranks", "3"], "bounds"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert said in capsys.readouterr().err
