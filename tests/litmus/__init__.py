"""What the processor does with the loads and stores that a ring relies on, seen by two real processes."""
