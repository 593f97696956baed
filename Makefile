.DEFAULT_GOAL := help
SHELL := /bin/sh

# The tests start hundreds of processes; each would compile everything again without bytecode.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= $(shell command -v python3.11 || command -v python3)
# In a recipe $(@D) is the environment being filled.
PIP ?= $(@D)/bin/python -m pip
PYTEST_ARGS ?=
# `make firm FIRM_ARGS="--whole 1 --rounds 5"` repeats less.
FIRM_ARGS ?=
# `make screenshots SCREENSHOT_ARGS="--only metrics --language cs"` takes fewer.
SCREENSHOT_ARGS ?=
# `make lock LOCK_ARGS=--upgrade` moves every pin to its newest version.
LOCK_ARGS ?=
PIP_TOOLS := pip-tools==7.6.2

VENV := .venv
BENCH_VENV := .venv-bench
# The engine whose dependencies go with nobody else's; bench/harness.py finds it by this name.
BENCH_AGENTS_VENV := .venv-bench-openai-agents
# Model servers that tests talk to; tests/model_servers.py finds them by these names.
LLAMA_VENV := .venv-llama
LITELLM_VENV := .venv-litellm
LOCK_VENV := .venv-lock
AUDIT_VENV := .venv-audit
PIP_AUDIT := pip-audit==2.9.0
# Makes requests from the API's description; tests/integration/test_schemathesis.py finds it by this name.
FUZZ_VENV := .venv-fuzz
SCHEMATHESIS := schemathesis==4.32.5
BIN := $(VENV)/bin

.PHONY: help install demo test model-servers firm fuzz screenshots lint check-types check-style check-layers \
	test-servers learned-desks format chaos soak bench lock wheels audit clean distclean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(VENV)/.installed ## Create .venv with Deskhand and its pinned dependencies

demo: install ## Watch two desks work sample mail, and decide on a page (Ctrl-C ends it)
	$(BIN)/deskhand demo

test: install ## Run every check, then the tests
	@$(MAKE) --no-print-directory --jobs 5 $(CHECKS) test-servers learned-desks
	$(BIN)/python -m pytest --numprocesses 3 --dist worksteal --durations 25 $(PYTEST_ARGS)

model-servers: $(LLAMA_VENV)/.installed $(LITELLM_VENV)/.installed ## Install llama.cpp and LiteLLM for the tests that talk to them (850 MB)

firm: install ## Repeat whole runs and real tests beside busy loops (hours; goes on where it was)
	scripts/test-servers.sh
	$(BIN)/python scripts/repeat-tests.py $(FIRM_ARGS)

fuzz: install ## Make requests from the API's description, with schemathesis, and look for 5xx
	@$(MAKE) --no-print-directory $(FUZZ_VENV)/.installed || { \
		echo "make fuzz: schemathesis could not be installed, so nothing was tried." >&2; exit 2; }
	$(BIN)/python -m pytest tests/integration/test_schemathesis.py --timeout 0 $(PYTEST_ARGS)

screenshots: install ## Take pictures of every screen on demo data, into screenshots/
	scripts/test-servers.sh
	PYTHONPATH=. $(BIN)/python scripts/screenshots.py $(SCREENSHOT_ARGS)

lint: install ## Check style, types and layers
	@$(MAKE) --no-print-directory --jobs 3 $(CHECKS)

# They run beside one another: the types alone take one processor for a minute.
CHECKS := check-types check-style check-layers

check-types:
	$(BIN)/mypy

check-style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

check-layers:
	$(BIN)/lint-imports

test-servers:
	scripts/test-servers.sh

learned-desks:
	$(BIN)/python scripts/learn_desks.py

format: install ## Rewrite the code in house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

chaos: install ## Run the tests that kill processes, and the long variants of others (slow)
	scripts/test-servers.sh
	$(BIN)/python -m pytest -m chaos --timeout 0 -s $(PYTEST_ARGS)

soak: install ## Work a hundred thousand messages and watch the workers' memory (slow)
	scripts/test-servers.sh
	$(BIN)/python -m pytest tests/chaos -m soak --timeout 0 -s $(PYTEST_ARGS)

bench: $(BENCH_VENV)/.installed $(BENCH_AGENTS_VENV)/.installed ## Measure Deskhand against other engines (separate environments)
	$(BENCH_VENV)/bin/python -m bench

lock: $(LOCK_VENV)/.installed ## Write requirements/*.txt anew from pyproject.toml
	$(COMPILE) --extra dev --extra scale --extra mcp --extra redis --output-file requirements/lock.txt pyproject.toml
	$(COMPILE) --extra scale --output-file requirements/bench.txt pyproject.toml requirements/bench.in
	$(COMPILE) --output-file requirements/bench-openai-agents.txt requirements/bench-openai-agents.in
	$(COMPILE) --output-file requirements/llama.txt requirements/llama.in
	$(COMPILE) --output-file requirements/litellm.txt requirements/litellm.in
	@if grep -nE '://|^-|@ file' requirements/*.txt; then \
		echo "A lock file names an index, a link or a path (above)." >&2; exit 1; fi

wheels: install ## Check that all pinned packages have wheels for Python 3.11 to 3.13 (needs the network)
	PYTHON=$(BIN)/python scripts/wheels.sh requirements/lock.txt

audit: ## Look for known vulnerabilities in the pinned dependencies (needs the network)
	@$(MAKE) --no-print-directory $(AUDIT_VENV)/.installed || { \
		echo "make audit: pip-audit could not be installed, so nothing was checked." >&2; exit 2; }
	scripts/audit.sh $(AUDIT_VENV)/bin/pip-audit requirements/lock.txt

clean: ## Remove caches and build products
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests $(wildcard bench) -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## Remove the virtual environments as well
	rm -rf $(VENV) $(BENCH_VENV) $(BENCH_AGENTS_VENV) $(LLAMA_VENV) $(LITELLM_VENV) $(LOCK_VENV) $(AUDIT_VENV) $(FUZZ_VENV)

COMPILE = CUSTOM_COMPILE_COMMAND="make lock" $(LOCK_VENV)/bin/pip-compile --quiet --generate-hashes --strip-extras \
	--allow-unsafe --no-emit-index-url --no-emit-find-links --no-emit-trusted-host $(LOCK_ARGS)

define create_environment
	@if [ -z "$(PYTHON)" ] || ! "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then \
		echo "Deskhand needs Python 3.11 or newer. Name one with: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; fi
	@[ -x $(@D)/bin/python ] && [ -x $(@D)/bin/pip ] || "$(PYTHON)" -m venv --clear $(@D) || { \
		echo "Could not create $(@D). On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
endef

# A lock file names every package, so nothing is resolved: a release of tomorrow cannot break an install of today.
# `pip check` says when the file is not whole.
define install_packages
	$(create_environment)
	$(PIP) install --quiet --require-hashes --no-deps -r $(1)
	@$(PIP) check --quiet || { echo "$(1) is not whole: run make lock." >&2; exit 1; }
endef

define install_locked
	$(call install_packages,$(1))
	$(PIP) install --quiet --no-deps --no-build-isolation -e .
	@touch $@
endef

$(VENV)/.installed: requirements/lock.txt pyproject.toml
	$(call install_locked,requirements/lock.txt)

$(BENCH_VENV)/.installed: requirements/bench.txt pyproject.toml
	$(call install_locked,requirements/bench.txt)

$(BENCH_AGENTS_VENV)/.installed: requirements/bench-openai-agents.txt
	$(call install_packages,requirements/bench-openai-agents.txt)
	@touch $@

$(LLAMA_VENV)/.installed: requirements/llama.txt
	$(call install_packages,requirements/llama.txt)
	@touch $@

$(LITELLM_VENV)/.installed: requirements/litellm.txt
	$(call install_packages,requirements/litellm.txt)
	@touch $@

$(LOCK_VENV)/.installed: Makefile
	$(create_environment)
	$(PIP) install --quiet '$(PIP_TOOLS)'
	@touch $@

$(FUZZ_VENV)/.installed: Makefile
	$(create_environment)
	$(PIP) install --quiet '$(SCHEMATHESIS)'
	@touch $@

$(AUDIT_VENV)/.installed: Makefile
	$(create_environment)
	$(PIP) install --quiet '$(PIP_AUDIT)'
	@touch $@
