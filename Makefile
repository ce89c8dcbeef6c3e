# `make` alone lists the targets. All set-up is in packaging/setup.sh, which does nothing when nothing is to be done.

BIN := .venv/bin
MODEL ?=
RUN := $(BIN)/grus app $(if $(MODEL),--model $(MODEL))

PYTEST := $(BIN)/python -m pytest -n 2
# The paths of the pass on MLX; `quick`, or `all`. A tree without one of them stops the pass.
mlx_pass = $$($(BIN)/python -m tests.mlx_pass $(1) || echo tests/mlx_pass.py::incomplete)

.DEFAULT_GOAL := help
.PHONY: help setup setup-test setup-packaging site run chat test test-all test-oldest test-newest test-clients constraints starters starters-guide starters-reader bench audit-syncs screenshots translations lint types style contracts format clean

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-22s %s\n", $$1, $$2}'

setup: ## make .venv ready to run Grus, and nothing else
	@packaging/setup.sh run

setup-test: ## make .venv ready to run the checks, and nothing else
	@packaging/setup.sh test

setup-packaging: ## make .venv-packaging, for the scripts in packaging/ that make wheels, bundles and the site
	@[ -e .venv-packaging/bin/python ] || python3 -m venv .venv-packaging
	@.venv-packaging/bin/python -m pip install -q --disable-pip-version-check -r packaging/requirements.txt numpy

site: setup-packaging ## build the documentation as a site, in build/site
	.venv-packaging/bin/mkdocs build --strict -f packaging/mkdocs.yml

run: setup ## set up, then open the window (MODEL=folder or repository id); without a screen, serve
	@$(RUN)

chat: setup ## set up, then talk in the terminal (MODEL=folder or repository id; else the Guide)
	@$(BIN)/grus chat $(MODEL)

test: lint ## set up, then every check but the slow tests; the product's own paths on MLX too
	$(PYTEST)
	GRUS_BACKEND=mlx $(PYTEST) $(call mlx_pass,quick)

test-all: lint ## as test, with the slow tests, and all of the product's paths on MLX
	$(PYTEST) -m ""
	GRUS_BACKEND=mlx $(PYTEST) -m "" $(call mlx_pass,all)

test-oldest: ## the tests with the lowest versions that pyproject.toml allows, in .venv-oldest
	@packaging/setup.sh oldest
	.venv-oldest/bin/python -m pytest -n 2

test-newest: ## the tests with the highest, tested before or not, in .venv-newest
	@packaging/setup.sh newest
	.venv-newest/bin/python -m pytest -n 2

test-clients: setup-test ## set up, then real clients from the registries, and llama.cpp's tests of its server, against ours: docs/clients.md
	$(BIN)/python packaging/clients.py
	$(PYTEST) tests/clients

constraints: setup ## write packaging/constraints.txt anew: the newest versions that go together, for every system
	$(BIN)/python packaging/versions.py constraints

bench: setup-test ## set up, then measure speed and memory
	$(BIN)/python -m tests.bench $(ARGS)

audit-syncs: setup-test ## list where a decode step waits for the GPU; without one, a CPU stands for it
	$(BIN)/python -m tests.bench.syncs

translations: setup ## bring new sentences into resources/translations, and compile what is translated: docs/translating.md
	$(BIN)/python packaging/translations.py

screenshots: setup-test ## make the pictures in docs/images
	$(BIN)/python packaging/screenshots.py

starters: starters-guide starters-reader ## train both models that come with Grus from nothing, in pieces that go on (REHEARSE=1: in miniature)

starters-guide: setup-test ## the Guide alone: minutes
	$(BIN)/python packaging/starters/make_starters.py guide $(if $(REHEARSE),--rehearse)

starters-reader: setup-test ## the Reader alone: about 15 minutes of drawing and 85 of training on 2 CPU cores
	$(BIN)/python packaging/starters/make_starters.py reader $(if $(REHEARSE),--rehearse)

lint: setup-test ## set up, then style, types and import rules
	@$(MAKE) --no-print-directory -j 2 --output-sync=target types style contracts

types:
	$(BIN)/mypy

style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

contracts:
	$(BIN)/lint-imports

format: setup-test ## rewrite the sources in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove .venv and everything else that was made here
	rm -rf .venv .venv-oldest .venv-newest .venv-packaging .venv-bundle .venv-clients* .clients-node .clients-llama build dist *.egg-info .mypy_cache .ruff_cache .import_linter_cache .hypothesis .pytest_cache .grus-bench
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
