"""What should come in the end in the shipped pause, and the environments in which it does not (P6.3)."""

from __future__ import annotations

from dataclasses import replace

from models.kernel import Action
from models.liveness import Fair, LeadsTo
from models.pause_shipped import Config, Race, State

__all__ = ("LIVENESS_RACES", "PROMISES", "fairness")

_LOOP = ("Top", "Look", "Drain", "CountLoad", "CountStore", "Get")
_POOL = ("Start", "EndLoad", "EndStore")


def fairness(config: Config) -> list[Fair[State]]:
    """Loops, pools and control threads go on; nobody has to pause, and nobody has to die."""

    def of(names: tuple[str, ...], rank: int | None) -> Fair[State]:
        def chosen(s: State, a: Action) -> bool:
            return a.name in names and (rank is None or a.param("rank") == rank)

        return Fair(f"{names[0]}({'' if rank is None else rank})", chosen)

    alone = ("Meet0", "Meet1", "Meet3", "PauseReturns", "ResumeReturns")
    found = [of((name,), None) for name in alone]
    return found + [of(names, rank) for names in (_LOOP, _POOL, ("SetFlag",)) for rank in range(config.ranks)]


PROMISES: dict[str, LeadsTo[State]] = {
    "PauseComes": LeadsTo("PauseComes", lambda s: s.control == "pausing", lambda s: s.control != "pausing"),
    "ResumeComes": LeadsTo("ResumeComes", lambda s: s.control == "resuming", lambda s: s.control != "resuming"),
}

_MORTAL = Config(ranks=1, tasks=0, mortal=frozenset({0}))

# A slot that stays active stops the pause; one that is inactive stops the resume, whoever has put it right.
LIVENESS_RACES: dict[str, Race] = {
    "P6.3": Race(replace(_MORTAL, answers=False), "PauseComes"),
    "P6.3.resume": Race(_MORTAL, "ResumeComes"),
}
