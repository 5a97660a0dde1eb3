"""Adapters for BENCH_PEERS: the queues of other inference engines, from their own packages."""
