"""What should hold of the shipped words in fairness, and the environments in which their races show."""

from __future__ import annotations

from dataclasses import dataclass, replace

from models.liveness import Fair, LeadsTo
from models.status_shipped import StatusShipped
from models.status_shipped_state import Config, State

__all__ = ("RACES", "Race", "answered", "fairness")


def fairness(model: StatusShipped) -> list[Fair[State]]:
    """Everybody who can go on does; nobody must ask or give up."""
    config = model.config
    found: list[Fair[State]] = []
    for name in set(model.actions) - {"Ask", "GiveUp"}:
        for number in range(max(config.workers, config.movers)):
            found.append(
                Fair(
                    f"{name}({number})",
                    lambda s, a, name=name, number=number: (  # type: ignore[misc]
                        a.name == name and all(value == number for _, value in a.params)
                    ),
                )
            )
    return found


answered: LeadsTo[State] = LeadsTo("Answered", lambda s: s.pcA != "idle", lambda s: s.pcA == "idle")


@dataclass(frozen=True)
class Race:
    """An environment in which a race shows, and the property that fails."""

    config: Config
    violates: str

    @property
    def liveness(self) -> bool:
        """Return True when what fails is that everybody is answered."""
        return self.violates == "Answered"


_R = frozenset[int]
_FREE = Config(calm=False, max_asked=2)

RACES: dict[str, Race] = {
    "P7.1": Race(_FREE, "KvInOrder"),
    "P7.2": Race(Config(workers=2, movers=1, max_asked=1), "KvInOrder"),
    "P7.3": Race(replace(_FREE, workers=2, movers=1), "PollsForWhatComes"),
    "P7.5": Race(Config(tree_first=True, movers=1, max_asked=1), "Answered"),
    "P7.6": Race(Config(tree_dies=True, movers=1, max_asked=1), "Answered"),
    "P7.7": Race(Config(failing=_R({1}), max_asked=1), "Answered"),
    "P7.8": Race(
        Config(workers=2, movers=1, absent=_R({1}), may_give_up=True, calm=False, max_asked=2), "RefusedForAReason"
    ),
    "B45": Race(replace(_FREE, movers=1, write_back=True), "WeightsInOrder"),
    "B46": Race(Config(may_give_up=True, tree_dies=True, movers=1, calm=False, max_asked=2), "TruthfulAnswer"),
    "B47": Race(Config(cross_wait=True, movers=1, max_asked=2), "Answered"),
    "B48": Race(_FREE, "AllDownFirst"),
}
