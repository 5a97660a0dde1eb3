"""The data path, measured: from a put until every rank has the batch. ``python -m tests.bench.path``."""
