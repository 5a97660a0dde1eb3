"""V7: every known race, shown on the shipped protocol and closed in ours."""
