"""Benchmarks: ours against the shipped protocol, in one run. ``python -m tests.bench``."""
