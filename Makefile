# make demo    the main job: facts from real text      make test    lint, types, import contracts, tests
# make check   lint, types, contracts alone            make verify  the long proofs
# make docs    the documentation as a site             make wheel   a wheel, tried in an empty environment
# make doors   the page in chromium
PYTHON ?= python3
BIN := .venv/bin
export OMP_NUM_THREADS ?= 2
export PYTHONUTF8 := 1

.PHONY: help demo test check verify doors docs wheel format clean
help:
	@head -4 Makefile

CONSTRAINTS ?= constraints.txt
PIP := $(BIN)/python tools/install.py $(BIN)/python -m pip install --disable-pip-version-check $(addprefix --constraint ,$(CONSTRAINTS))

# what a user needs: no torch
.venv/user: pyproject.toml $(CONSTRAINTS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "factpin needs Python 3.11 or newer: make PYTHON=python3.12")'
	@echo "Installing factpin into .venv: about 250 MB, a minute or two"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(PIP) --editable .
	@touch .venv/user

# what a developer needs; torch goes first and alone: a looser requirement would bring gigabytes
.venv/ready: .venv/user
	@echo "Installing torch and the developers' tools: about 1.5 GB, a few minutes"
	@$(PIP) torch==2.13.0
	@$(PIP) --editable '.[train,dev,docx,html,pdf,serve]'
	@touch .venv/ready

demo: .venv/user
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

# needs chromium; with npm, accessibility is checked too
doors: .venv/ready
	@test ! -e "$$(command -v npm)" || test -d node_modules/axe-core || npm install --silent --no-save --no-package-lock axe-core
	$(BIN)/python -m pytest -m browser tests/page

docs: .venv/ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet --site-dir site
	@echo "Written to site. To read it: $(BIN)/python -m http.server --directory site"

wheel: .venv/ready
	rm -rf dist && $(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .
	$(BIN)/python tools/try_wheel.py dist/*.whl

format: .venv/ready
	$(BIN)/ruff format --quiet .
	$(BIN)/ruff check --fix --quiet .

clean:
	rm -rf .venv .mypy_cache .ruff_cache .hypothesis
