# `make help` lists the targets. Everything is set up on the way: a plain venv in .venv, pinned.
.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
SETUP := .make/setup
# Stored outputs must not depend on the time a run took or on who looks.
STORED := GAPFM_TEACH_STATIC=1 TQDM_DISABLE=1
# A file's tests, and a notebook's cells, stay together on one processor.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist loadfile
NOTEBOOKS := $(sort $(wildcard notebooks/*.ipynb))
SITE_SOURCES := _quarto.yml CITATION.cff $(wildcard *.qmd *.bib) $(NOTEBOOKS) \
  $(wildcard preview/* preview/*/* images/* gapfm_teach/widgets/* gapfm_teach/widgets/*/*)

.PHONY: help setup site pdf epub test quick lowest lint lab notebooks pictures bench api films quarto clean

help: ## List the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(SETUP) ## Make .venv with pinned versions and this package in it

$(SETUP): requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	-$(BIN)/python -m gapfm_teach warm
	@mkdir -p .make && touch $@

site: _site/index.html ## Build the rendered tutorial into _site/

_site/index.html: $(SETUP) $(SITE_SOURCES)
	$(BIN)/python -m preview.site
	@touch $@

pdf: _paper/gapfm-teach.pdf ## Write the book for paper, _paper/gapfm-teach.pdf

epub: _paper/gapfm-teach.epub ## Write the book for e-readers, _paper/gapfm-teach.epub

_paper/gapfm-teach.%: $(SETUP) $(SITE_SOURCES) LICENSE LICENSE-TEXT
	$(BIN)/python -m preview.paper $*

test: $(SETUP) lint ## Pass all tests, and re-run every notebook comparing its outputs
	$(PYTEST) tests
	$(STORED) $(PYTEST) --nbval --nbval-current-env --nbval-sanitize-with tests/nbval.cfg notebooks

quick: $(SETUP) ## Pass the tests that are done in two minutes, for daily work
	$(PYTEST) tests -m "not slow and not browser and not processes"

lowest: ## Pass the tests with the lowest versions that pyproject.toml allows
	$(PYTHON) -m venv --clear .make/lowest
	$(PYTHON) tools/lowest.py > .make/lowest.txt
	.make/lowest/bin/python -m pip install --quiet --disable-pip-version-check --constraint .make/lowest.txt --editable ".[dev]"
	.make/lowest/bin/python -m pytest tests

lint: $(SETUP) ## Style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

lab: $(SETUP) ## Open JupyterLab on the notebooks
	$(BIN)/jupyter lab notebooks

notebooks: $(SETUP) ## Re-execute all notebooks in place and store their outputs
	$(STORED) $(BIN)/python tools/store_notebooks.py $(NOTEBOOKS)

pictures: $(SETUP) ## Draw the explorables of the stored notebooks, for where no script runs
	$(BIN)/python -m tools.draw_pictures

bench: $(SETUP) ## Measure, print a table, and write it to benchmarks/results.md
	$(BIN)/python benchmarks/report.py

api: $(SETUP) ## Write api.qmd, the reference, from the docstrings
	$(BIN)/python tools/api_page.py

films: $(SETUP) ## Train the factors that the home page's lists are made of
	$(BIN)/python tools/film_factors.py

quarto: $(SETUP) ## Put the Quarto program into .venv, where the network allows
	$(BIN)/python -m pip install --quiet quarto-cli

clean: ## Remove what the targets above made
	rm -rf .venv .make _site _paper
