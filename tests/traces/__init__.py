"""Recorded runs: judged, compared with what the processes saw, altered and rejected."""
