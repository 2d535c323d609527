# What a developer runs. It needs python3 (3.11 to 3.13), make and git; the rest is installed in .venv.

PYTHON ?= python3
# Processes that run tests.
JOBS ?= 2

VENV := .venv
BIN := $(VENV)/bin
DEVELOP := $(VENV)/.installed-develop
REPRODUCE := $(VENV)/.installed-reproduce
FIGURE := results/figure-1.png

# pyright would ask the network for a newer version of itself.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
# Pictures are drawn into files, also where there is a screen.
export MPLBACKEND := Agg

.PHONY: help test check format lint types imports pytest docs reproduce bench clean

help:
	@echo 'make test       everything that must pass: check, tests, documentation'
	@echo 'make check      formatting, lint, types and import rules only'
	@echo 'make format     format the code and mend what can be mended'
	@echo 'make docs       build the documentation with its executed examples'
	@echo 'make reproduce  make the picture of figure 1 of the paper'
	@echo 'make bench      run the benchmarks'
	@echo 'make clean      remove everything that was made, the environment too'

test: check pytest docs

check: lint types imports

lint: $(DEVELOP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(DEVELOP)
	$(BIN)/pyright

imports: $(DEVELOP)
	$(BIN)/lint-imports --no-cache

pytest: $(DEVELOP)
	$(BIN)/python -m pytest -n $(JOBS)

docs: $(DEVELOP)
	$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build/html
	@echo 'The documentation is in docs/_build/html/index.html'

format: $(DEVELOP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

reproduce: $(REPRODUCE)
	@mkdir -p $(dir $(FIGURE))
	$(BIN)/python examples/plot_figure_1.py --out $(FIGURE)
	@echo 'The picture is in $(abspath $(FIGURE))'

bench: $(DEVELOP)
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) build dist docs/_build docs/auto_examples docs/generated
	rm -rf .hypothesis .import_linter_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || { \
	  echo "$(PYTHON) is $$($(PYTHON) --version); dard needs Python 3.11 to 3.13:" \
	    "say which with 'make PYTHON=python3.12'"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(DEVELOP): pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[all,dev]' -c constraints.txt
	@touch $@

$(REPRODUCE): pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[plot]' -c constraints.txt
	@touch $@
