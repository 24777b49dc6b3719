# `make demo` and `make test` set up `.venv` from the lock files by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One more than there are processors: tests wait a good deal.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# What is imported is compiled once, not by each of the processes that the tests are made of.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-ci test-all check tests tests-ci tests-all tests-bare clean-root external-agents real-servers pytest-versions adversarial coverage bench bench-startup bench-repair bench-real-bugs docs release lock clean

help:
	@echo "make demo    solve the bundled challenges with no key and show the table"
	@echo "make test    every gate, and the tests that are not slow (some minutes)"
	@echo "make test-ci     every gate and what CI runs: all but two of three of the longest tests"
	@echo "make test-all    every gate and every test (half an hour)"
	@echo "make check   format, lint, types and import contracts only"
	@echo "make tests   the quick tests only; make tests-all: all of them"
	@echo "make tests-bare  what depends on the sandbox, as on a machine without bubblewrap"
	@echo "make clean-root  the demo and these tests in a clean root without bubblewrap, as two users (needs root)"
	@echo "make external-agents  delegate to a real Codex CLI, from npm, against a server on this machine"
	@echo "make real-servers  speak to LiteLLM's proxy and llama.cpp's server, from PyPI, on this machine (BUILD=1: llama-cpp-python too)"
	@echo "make pytest-versions  what a repair takes from pytest's inside, with older versions of it"
	@echo "make adversarial    attack the sandbox and the rest, as two users, and print the table (an hour or two)"
	@echo "make coverage       the tests, with the lines they miss"
	@echo "make bench          starts, one job beside other agents (installed for it), what is Codur's own of a run, memory"
	@echo "make bench-startup  how long a start takes"
	@echo "make bench-repair BENCH=DIR   how many buggy programs of a data set the offline repair mends"
	@echo "make bench-real-bugs PAIRS=DIR   how many real bugs of real projects it mends"
	@echo "make docs    build the documentation as pages, in .venv/site"
	@echo "make release     build wheel and sdist in dist/, with what belongs to them, and install both with each Python at hand"
	@echo "make lock    renew the lock files (needs uv)"

$(VENV)/.runtime: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 …" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $@

# Not compiled: of most of it the tests import little, and what they do is compiled as it is imported.
$(VENV)/.dev: $(VENV)/.runtime requirements-dev.lock
	$(BIN)/python -m pip install --quiet --no-compile --require-hashes -r requirements-dev.lock
	@touch $@

# Exit 1 means that some challenges need a model; the table says which. The search time is cut so that it does not take long.
demo: $(VENV)/.runtime
	CODUR_REPAIR__OFFLINE_BUDGET_S=25 $(BIN)/codur solve challenges --offline || [ $$? -eq 1 ]

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache

# Real projects that the tests run Codur on. No isolation: what describes a package comes from the lock file too.
$(VENV)/projects/.unpacked: $(VENV)/.dev tests/projects/requirements.txt
	rm -rf $(VENV)/projects
	$(BIN)/python -m pip download --quiet --require-hashes --no-deps --no-build-isolation --no-binary :all: \
	  --dest $(VENV)/projects --requirement tests/projects/requirements.txt
	for sdist in $(VENV)/projects/*.tar.gz; do tar -xzf $$sdist -C $(VENV)/projects || exit 1; done
	@touch $@

# PYTEST_ARGS: further options of pytest.
PYTEST_ARGS ?=
PYTEST = $(BIN)/pytest -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)

tests: $(VENV)/.dev $(VENV)/projects/.unpacked
	$(PYTEST) -m "not slow"

tests-ci: $(VENV)/.dev $(VENV)/projects/.unpacked
	$(PYTEST) -m "not long"

tests-all: $(VENV)/.dev $(VENV)/projects/.unpacked
	$(PYTEST)

test: check tests

test-ci: check tests-ci

test-all: check tests-all

# Where bubblewrap is installed it is covered, in a mount namespace that ends with the tests.
BARE_TESTS ?= tests/cli/test_back_ends.py tests/cli/test_reach.py tests/sandbox tests/mcp tests/batch/test_new_challenge.py tests/challenges
tests-bare: $(VENV)/.dev
	@set -- $(PYTEST) -m "not long" $(BARE_TESTS); \
	if bwrap=$$(command -v bwrap); then \
	  set -- unshare --mount $$([ $$(id -u) -eq 0 ] || echo --map-root-user) \
	    sh -c 'mount --bind /dev/null "$$0" && exec "$$@"' "$$bwrap" "$$@"; \
	fi; \
	"$$@"

# 65534 is nobody, who owns nothing else.
clean-root:
	for user in 0 65534; do tests/clean_root.sh $$user sh -c 'make demo tests-bare' || exit 1; done

# Downloads @openai/codex from npm into a temporary directory (about 400 MB); no account or key is used.
external-agents: $(VENV)/.dev
	CODUR_TEST_EXTERNAL=1 $(BIN)/pytest -q -rs tests/agents/external/test_real_codex.py

# About 1 GB from PyPI; no account or key is used. BUILD=1 compiles llama-cpp-python as well, for some ten minutes.
SERVERS ?= $(CURDIR)/$(VENV)/servers
BUILD ?=
$(SERVERS)/.installed: tests/real_servers/requirements.txt
	$(PYTHON) -m venv --clear $(SERVERS)
	$(SERVERS)/bin/python -m pip install --quiet --requirement tests/real_servers/requirements.txt
	@touch $@

real-servers: $(VENV)/.dev $(SERVERS)/.installed
	@test -z "$(BUILD)" || CMAKE_BUILD_PARALLEL_LEVEL=1 nice -n 19 \
	  $(SERVERS)/bin/python -m pip install --quiet --requirement tests/real_servers/requirements-built.txt
	CODUR_TEST_SERVERS=$(SERVERS) $(BIN)/pytest -q -rs tests/real_servers

# What a repair takes from pytest's inside, with the versions that a user's Python may have.
PYTEST_VERSIONS ?= 7.4.4 8.3.5 9.0.3
pytest-versions: $(VENV)/.dev
	for version in $(PYTEST_VERSIONS); do \
	  place=$(CURDIR)/$(VENV)/pytest-$$version; \
	  $(PYTHON) -m venv --clear $$place && \
	  $$place/bin/python -m pip install --quiet --require-hashes -r requirements.lock && \
	  $$place/bin/python -m pip install --quiet --no-deps --editable . && \
	  $$place/bin/python -m pip install --quiet pytest==$$version hypothesis && \
	  PATH=$$place/bin:$$PATH $$place/bin/python -m pytest -q -o addopts= -p no:cacheprovider \
	    tests/repair/worker || exit 1; \
	done

# Exit 1 means that a figure was not reached; the table says which. PARTS: of containment, outsiders, listed, rest; USERS: of user, root.
PARTS ?= containment outsiders listed rest
BACK_ENDS ?= namespaces bubblewrap landlock
USERS ?= user root
adversarial: $(VENV)/.dev
	$(BIN)/python -m tests.adversarial $(PARTS:%=--part %) $(BACK_ENDS:%=--backend %) $(USERS:%=--user %)

coverage: $(VENV)/.dev $(VENV)/projects/.unpacked
	$(BIN)/coverage run -m pytest -q
	$(BIN)/coverage combine -q
	$(BIN)/coverage report

# An installed wheel in a directory of its own: an editable install would be compiled anew where bytecode is not written.
# Each in a place of its own; what cannot be installed is told and left out.
$(VENV)/peers: $(VENV)/.runtime
	mkdir -p $@
	-$(PYTHON) -m venv $@/aider && $@/aider/bin/pip install --quiet aider-chat
	-$(PYTHON) -m venv $@/mini && $@/mini/bin/pip install --quiet mini-swe-agent mcp
	-npm install --prefix $@/codex --no-fund --no-audit --ignore-scripts @openai/codex

bench: $(VENV)/.dev $(VENV)/peers bench-startup
	$(BIN)/python benchmarks/job.py --peers $(VENV)/peers --codur $(VENV)/bench/bin/codur
	$(BIN)/python benchmarks/overhead.py
	$(BIN)/python benchmarks/jobs.py --check
	$(BIN)/python benchmarks/batch.py --only memory

bench-startup: $(VENV)/.runtime
	rm -rf $(VENV)/bench && $(PYTHON) -m venv $(VENV)/bench
	$(VENV)/bench/bin/python -m pip install --quiet --require-hashes -r requirements.lock
	$(VENV)/bench/bin/python -m pip install --quiet --no-deps .
	$(VENV)/bench/bin/python benchmarks/startup.py

# The data set lies outside of the project; benchmarks/repair.py says how it is laid out. BENCH_ARGS: further options.
bench-repair: $(VENV)/.dev
	@test -n "$(BENCH)" || { echo "Name the data set: make bench-repair BENCH=DIR" >&2; exit 2; }
	$(BIN)/python benchmarks/repair.py $(BENCH) $(BENCH_ARGS)

# Rows and what they need are made by benchmarks/real_bug_cases.py. BENCH_ARGS: further options.
bench-real-bugs: $(VENV)/.dev
	@test -n "$(PAIRS)" || { echo "Name the directory of pairs.py: make bench-real-bugs PAIRS=DIR" >&2; exit 2; }
	$(BIN)/python benchmarks/real_bugs.py $(PAIRS) $(BENCH_ARGS)

# The pages, in .venv/site; the reference is made from the code. Not --quiet: warnings that are not shown are not counted.
docs: $(VENV)/.dev requirements-docs.lock
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-docs.lock
	NO_MKDOCS_2_WARNING=1 PYTHONPATH=$(CURDIR) $(BIN)/mkdocs build --strict --site-dir $(VENV)/site

# In dist/: wheel and sdist, the same bytes from the same commit; a software bill of materials; the licences of what it needs; checksums.
# Both are installed with each Python at hand, of those that are supported, and have to mend a program.
PYTHONS ?= python3.11 python3.12 python3.13 python3.14
RELEASE = $(CURDIR)/$(VENV)/release
release: export SOURCE_DATE_EPOCH = $(shell git log -1 --format=%ct)
release:
	rm -rf dist $(RELEASE) && $(PYTHON) -m venv $(RELEASE)/tools && $(PYTHON) -m venv $(RELEASE)/needs
	$(RELEASE)/tools/bin/python -m pip install --quiet --require-hashes -r requirements-release.lock
	$(RELEASE)/tools/bin/hatchling build --directory dist
	$(RELEASE)/tools/bin/hatchling build --directory $(RELEASE)/again >/dev/null
	for file in dist/*; do cmp $$file $(RELEASE)/again/$$(basename $$file) || exit 1; done
	$(RELEASE)/needs/bin/python -m pip install --quiet --require-hashes -r requirements.lock
	$(RELEASE)/needs/bin/python -m pip uninstall --quiet --yes pip setuptools
	$(RELEASE)/tools/bin/cyclonedx-py environment $(RELEASE)/needs/bin/python --pyproject pyproject.toml --mc-type application \
	  --output-reproducible --of JSON -o dist/codur.cdx.json
	$(RELEASE)/tools/bin/pip-licenses --python $(RELEASE)/needs/bin/python --from mixed --with-system --with-license-file --no-license-path \
	  --format plain-vertical --output-file dist/LICENSES-of-dependencies.txt
	for python in $(PYTHONS); do \
	  $$python -c "" 2>/dev/null || { echo "$$python is not here: not tried"; continue; }; \
	  for file in dist/*.whl dist/*.tar.gz; do tests/packaging/installs.sh $$python $$file $(RELEASE) || exit 1; done; \
	done
	cd dist && sha256sum * >SHA256SUMS

lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate pyproject.toml -o requirements.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --group dev --all-extras -c requirements.lock pyproject.toml -o requirements-dev.lock
	for group in docs release; do \
	  uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --group $$group -c requirements-dev.lock -o requirements-$$group.lock || exit 1; \
	done

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
