"""How long a reader goes on looking before it sleeps."""

from __future__ import annotations

from typing import Final

from fdcomm.deadline import seconds_from_environment
from fdcomm.errors import ConfigError

__all__ = ("default_spin_s", "spin_seconds")

_LONGEST_S: Final = 1.0


def default_spin_s() -> float:
    """Return how long a reader goes on looking before it sleeps: ``FDCOMM_SPIN_S`` from the environment, else 0.

    Raises:
        ConfigError: It is not a number of seconds from 0 to 1.
    """
    return seconds_from_environment("FDCOMM_SPIN_S", 0.0, _LONGEST_S)


def spin_seconds(spin_s: float) -> float:
    """Return it, after checking that it is a number of seconds from 0 to 1."""
    if isinstance(spin_s, bool) or not isinstance(spin_s, (int, float)) or not 0 <= spin_s <= _LONGEST_S:
        raise ConfigError(f"spin_s={spin_s!r} must be a number of seconds from 0 to {_LONGEST_S:g}")
    return float(spin_s)
