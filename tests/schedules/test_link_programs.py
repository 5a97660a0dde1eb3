"""Schedules of small programs over the book of links; faulty ones are found."""

from __future__ import annotations

from typing import Any

import pytest

from fdcomm.link.links import Links
from tests.conformance import link_faults
from tests.schedules.checks import every_schedule_is_right, failure_is_found
from tests.schedules.link_programs import PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_schedule(name: str) -> None:
    every_schedule_is_right(*PROGRAMS[name])


def test_a_fence_that_does_not_begin_with_the_service_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The link says that the session has ended, and a call may still take effect."""

    def end(self: Any, known: Any, *, lost: bool) -> None:
        with self._guard:
            session = known.session
            self._ended_now(known, lost=lost)
        if session:
            self._service.lose_session(session)

    monkeypatch.setattr(Links, "_end", end)
    assert failure_is_found(*PROGRAMS["silence while a call is done"]).verdict in ("invariant", "error")


def test_a_session_that_is_left_open_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(self: Any, known: Any, session: int) -> None:
        with self._guard:
            known.session = session

    monkeypatch.setattr(Links, "_opened", opened)
    assert failure_is_found(*PROGRAMS["silence while the session is opened"]).verdict in ("invariant", "error")


def test_a_copy_that_is_done_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fdcomm.link.links.Link", link_faults.CORE["RunsAgain"])
    assert failure_is_found(*PROGRAMS["a call, its copy and a sign of life"])
