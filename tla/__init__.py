"""The specs in TLA+ and the one runner for TLC. ``python -m tla --help`` is the command; ``manifest.toml`` the list."""
