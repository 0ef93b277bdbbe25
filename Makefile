# make demo    the main job: facts from real text      make test    lint, types, import contracts, tests
# make check   lint, types, contracts alone            make verify  the long proofs
PYTHON ?= python3
BIN := .venv/bin
export OMP_NUM_THREADS ?= 2
export PYTHONUTF8 := 1

.PHONY: help demo test check verify format clean
help:
	@head -2 Makefile

# torch goes first and alone: a looser requirement would bring gigabytes
.venv/ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "factpin needs Python 3.11 or newer: make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,html,pdf]'
	touch .venv/ready

demo: .venv/ready
	@$(BIN)/python examples/demo.py

check: .venv/ready
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

test: check
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

verify: .venv/ready
	HYPOTHESIS_PROFILE=wide $(BIN)/python -m pytest -m verify tests

format: .venv/ready
	$(BIN)/ruff format --quiet .
	$(BIN)/ruff check --fix --quiet .

clean:
	rm -rf .venv .mypy_cache .ruff_cache .hypothesis
