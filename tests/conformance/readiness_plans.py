"""The configurations of the readiness model whose graphs are driven."""

from __future__ import annotations

from models.readiness import Config

__all__ = ("CORE", "CORE_LARGE", "SERVICE", "SERVICE_LARGE", "bounds")

R = frozenset[int]
_ONE = R({0})
# It has every action.
_WHOLE = Config(
    max_inc=2,
    mortal=_ONE,
    cuts=_ONE,
    hangs=_ONE,
    failing=_ONE,
    reloading=_ONE,
    leavers=_ONE,
)
_PATIENT = Config(max_inc=2, patience=R({0, 1}), mortal=_ONE, failing=_ONE, hangs=_ONE)
_ORDER = Config(components=2, needs=R({2}), max_waits=2, askers=R({0, 2}), masks=R({1, 3}), failing=_ONE)
_PARTS = Config(parts=2, max_inc=2, mortal=_ONE, hangs=R({1}), failing=R({1}), patience=R({0, 1}))
_BEREFT = Config(components=2, needs=R({2}), askers=R({2}), masks=R({1}), mortal=R({1}), leavers=R({1}))

CORE: dict[str, Config] = {"1 part, 2 processes": _WHOLE}
CORE_LARGE: dict[str, Config] = {
    "1 part, patient waits": _PATIENT,
    "a part that waits goes": _BEREFT,
    "2 components in order": _ORDER,
    "2 parts": _PARTS,
}
SERVICE: dict[str, Config] = {"1 part, 2 processes": _WHOLE, "a part that waits goes": _BEREFT}
SERVICE_LARGE: dict[str, Config] = {
    "1 part, patient waits": _PATIENT,
    "2 components in order": _ORDER,
    "2 parts": _PARTS,
}


def bounds(config: Config) -> str:
    """Return the bounds in one line."""
    return (
        f"K={config.components} N={config.parts} MaxInc={config.max_inc} MaxWaits={config.max_waits} "
        f"Askers={set(config.askers)}"
    )
