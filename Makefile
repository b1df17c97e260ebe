# Everything a developer runs. A fresh machine needs Python 3.11 or newer and make, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := store tui tests screenshots
ARGS ?=

# Without cached bytecode each worker, and each program that a test starts, compiles everything anew.
export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.PHONY: help run test slow check format lint types bench proof screenshots dist words audit lock clean

help: ## Show what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "hermes-browse needs Python 3.11 or newer; name one: make PYTHON=python3.12 …"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The stamps make a second run install nothing.
$(VENV)/.run-ready: requirements.lock pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $@

$(VENV)/.dev-ready: requirements-dev.lock $(VENV)/.run-ready
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.lock
	@touch $@

run: $(VENV)/.run-ready ## Open the browser: your store, else the demo store (ARGS="…" for options)
	@$(BIN)/hermes-browse $(if $(ARGS),$(ARGS),--or-demo)

test: $(VENV)/.dev-ready ## Run the tests, in three minutes (ARGS="…" for pytest)
	$(BIN)/python -m pytest -n 3 --dist worksteal $(ARGS)

check: test format-check lint types audit slow ## Everything that must hold before a commit lands: the tests, then all the rest

slow: $(VENV)/.dev-ready ## Run what `make test` leaves out: tests marked slow, and all examples of the property tests
	HERMES_BROWSE_TESTS=full $(BIN)/python -m pytest -n 3 --dist worksteal -m '(slow or hypothesis) and not long' $(ARGS)

format: $(VENV)/.dev-ready ## Format the code
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

.PHONY: format-check
format-check: $(VENV)/.dev-ready
	$(BIN)/ruff format --check $(SOURCES)

lint: $(VENV)/.dev-ready ## Look for mistakes
	$(BIN)/ruff check $(SOURCES)

types: $(VENV)/.dev-ready ## Check the types, strictly
	$(BIN)/mypy
	$(BIN)/mypy $$(git ls-files 'tests/*.py' 'screenshots/*.py' | grep -v '/test_\|conftest')
	@for each in $$(git ls-files 'tests/*conftest.py'); do $(BIN)/mypy $$each || exit 1; done

bench: $(VENV)/.dev-ready ## Measure, and print a table of ratios (ARGS="…")
	$(BIN)/python tests/bench/run.py $(ARGS)

proof: $(VENV)/.dev-ready ## Prove what docs/safety.md says, and count (ARGS="--minutes 5 --opens 400 --only damage")
	$(BIN)/python tests/proof/prove.py $(ARGS)

screenshots: $(VENV)/.dev-ready ## Draw the pictures of the README anew
	$(BIN)/python screenshots/make.py

dist: $(VENV)/.dev-ready ## Build wheel and source archive, the same to the byte each time
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python tests/helpers/archive.py dist

words: $(VENV)/.dev-ready ## Bring the catalogs in store/locale up to date with the texts in the sources
	$(BIN)/python tests/helpers/words.py

# Exit code 1 of pip-audit is both "found something" and "nobody to ask"; only the first has an answer on its output.
audit: ## Ask for known holes in what is pinned (needs pip-audit and a network, else says so)
	@if ! command -v pip-audit >/dev/null; then echo "audit skipped: pip-audit is not installed"; \
	elif found=$$(pip-audit --disable-pip -r requirements.lock -f json 2>/dev/null); then echo "audit: no known hole"; \
	elif [ -n "$$found" ]; then echo "$$found"; exit 1; \
	else echo "audit skipped: nobody to ask for known holes can be reached"; fi

lock: ## Pin the newest allowed versions (needs uv)
	uv pip compile pyproject.toml --generate-hashes --universal --no-header --quiet -o requirements.lock
	uv pip compile pyproject.toml --group dev --generate-hashes --universal --no-header --quiet -o requirements-dev.lock

clean: ## Remove what was built
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis snapshot_report.html
