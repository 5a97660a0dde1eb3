"""Long random runs: Hypothesis state machines whose rules are the actions."""
