# Every target does its own set-up: Python 3.10 or newer and make are enough. The rest comes from the package index.
#
#   make verify [PROTOCOL=dispatch] [LEVEL=V1] [SIZE=large]    every check of every protocol, ending in one table
#   make test [TESTS=tests/unit] [ARGS="-k clear"]             the test suite
#   make demo                                                  an engine, four workers, and TLC as the judge of the run

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
# Checks at a time of a verification; empty: one more than there are processors.
CHECKS ?=
SIZE ?= small
TESTS ?= tests
ARGS ?=

# A test starts hundreds of interpreters, and one that may not keep its bytecode compiles the package anew each time.
unexport PYTHONDONTWRITEBYTECODE

BIN = $(VENV)/bin
READY = $(VENV)/.ready
BENCH_READY = $(VENV)/.bench-ready
VERIFY = $(BIN)/python -m tests.verify $(if $(CHECKS),--jobs $(CHECKS)) --size $(SIZE) \
	$(if $(PROTOCOL),--protocol $(PROTOCOL)) $(if $(LEVEL),--level $(LEVEL))

.PHONY: help setup verify verify-status test test-all-pythons demo bench bench-page nightly lint format clean

help:
	@sed -n 's/^#   //p' Makefile

setup: $(READY)

# A failed set-up leaves no stamp, so the next run repeats it.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
		|| { echo "$(PYTHON) is older than 3.10: choose another with make PYTHON=..."; exit 1; }
	@echo "setting up $(VENV)"
	@$(PYTHON) -m venv $(VENV) \
		|| { echo "python's venv module does not work here (on Debian: apt install python3-venv)"; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

verify: $(READY)
	@$(VERIFY)

# A full run that also writes docs/status.md.
verify-status: $(READY)
	@$(VERIFY) --write-status

test: $(READY)
	@$(BIN)/python -m pytest -n $(JOBS) $(TESTS) $(ARGS)

# The tests that need neither Java nor minutes, on every Python between 3.10 and 3.13 that is installed.
test-all-pythons:
	@.ci/all-pythons $(ARGS)

demo: $(READY)
	@$(BIN)/python -m tests.demo $(ARGS)

# The data path beside every peer, then what else a queue costs: about half an hour; ARGS=--quick: two minutes.
bench: $(BENCH_READY)
	@$(BIN)/python -m tests.bench.path $(ARGS)
	@$(BIN)/python -m tests.bench $(filter --quick,$(ARGS))

# A full run of the data path that also writes docs/performance.md. Nothing else should run on the machine.
bench-page: $(BENCH_READY)
	@mkdir -p results
	@$(BIN)/python -m tests.bench.path --json results/bench.json $(ARGS)
	@$(BIN)/python -m tests.bench.report results/bench.json

# Peers that the benchmark runs beside, and what draws. Without them it runs too, and says what it leaves out.
$(BENCH_READY): $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]' \
		|| echo "not all of the extra bench can be installed here"
	@touch $@

# Hours, not minutes: large configurations and long random runs with new seeds.
nightly: $(READY)
	@$(BIN)/python -m tests.verify $(if $(CHECKS),--jobs $(CHECKS)) --size large
	@$(BIN)/python -m tests.litmus
	@FDCOMM_PROFILE=deep $(BIN)/python -m pytest --timeout 7200 -n $(JOBS) $(TESTS) $(ARGS)

lint: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(READY)
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .venvs build dist results .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
