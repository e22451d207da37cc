# Every target sets up what it needs in .venv; a fresh machine needs only Python 3.11 or newer and make.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test check bench mutants clean
.DEFAULT_GOAL := demo

demo: .venv/installed   ## simulate a tumbling box, print what was conserved, save a picture
	$(BIN)/polhode run dzhanibekov

test: .venv/for-tests   ## the whole test suite, documentation included
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

check: .venv/for-tests  ## linters, layers and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy

bench: .venv/for-bench  ## how fast, beside NumPy and MuJoCo; how exact for how much time, beside five others
	@mkdir -p benchmarks/results
	$(BIN)/polhode bench throughput --json benchmarks/results/throughput.json
	$(BIN)/polhode bench mass --json benchmarks/results/mass.json
	$(BIN)/polhode bench precision --json benchmarks/results/precision.json --figure benchmarks/results/precision.png

mutants: .venv/for-tests  ## plant errors in the laws; each must turn a test red
	$(BIN)/python tests/mutants.py

clean:                  ## forget the environment and what was compiled
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache
	find src tests -name __pycache__ -type d -exec rm -rf {} +

.venv/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Polhode needs Python 3.11 or newer; say which with: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(PIP) install --upgrade 'pip>=25.1'
	@touch $@

.venv/installed: .venv/created pyproject.toml
	$(PIP) install --editable .
	@touch $@

.venv/for-tests: .venv/installed
	$(PIP) install --group test --group check
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
