"""An environment for each race of the published transfer loop in which it shows, and the property that fails."""

from __future__ import annotations

from dataclasses import dataclass

from models.transfer_shipped import Config

__all__ = ("RACES", "Race")


@dataclass(frozen=True)
class Race:
    """An environment in which a race shows, and the property that fails."""

    config: Config
    violates: str


RACES: dict[str, Race] = {
    "P4.1": Race(Config(max_pauses=0, raisers=frozenset({1})), "SwapTogether"),
    "P5.1": Race(Config(max_tasks=0, slow=True), "InStep"),
    "P5.2": Race(Config(max_tasks=2, max_pauses=0, goes_on=True, clears=True), "InStep"),
    "P5.3": Race(Config(max_pauses=0, clears=True), "CountsTasks"),
    "P5.5": Race(Config(goes_on=True), "NothingDropped"),
    "P5.7": Race(Config(max_tasks=0, max_pauses=0, faulty=frozenset({1})), "InStep"),
    "P5.9": Race(Config(early=True), "PausedIsQuiet"),
    "B08": Race(Config(resets=True), "ResetCanEnd"),
    "B10": Race(Config(local=True), "NoHalfHead"),
}
