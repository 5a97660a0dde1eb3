"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from dataclasses import replace

from models.blocks_state import Config
from models.guards import Bug, bug

__all__ = ("BUGS",)

_ONE = Config()
_NO_RESET = Config(max_gen=0)

BUGS: dict[str, Bug[Config]] = dict(
    (
        bug("AwaitsHandled", "Conservation", _ONE),
        bug("AwaitsResults", "Conservation", _ONE),
        bug("CountsIssuing", "Conservation", _ONE),
        bug("LeasesEnd", "Conservation", Config(host=0, max_tasks=0)),
        bug("KeepsUntilResult", "Conservation", replace(_ONE, cancels=True)),
        bug("TellsWaiters", "NobodyIsLeft", _ONE),
        bug("Withdraws", "ResetEnds", _ONE, liveness=True),
        bug("SurvivesBad", "NobodyWaitsForEver", replace(_NO_RESET, bad=frozenset({1})), liveness=True),
        bug("KeepsUnknown", "NobodyWaitsForEver", _NO_RESET, liveness=True),
        bug("EndTells", "NobodyIsLeft", replace(_NO_RESET, mortal=True)),
        bug("HoldsLate", "WritersOwn", replace(_NO_RESET, overruns=True)),
        bug("AwaitsLate", "Conservation", replace(_ONE, overruns=True)),
        bug("SettlesOnce", "Conservation", replace(_NO_RESET, overruns=True)),
    )
)
