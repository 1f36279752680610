# Every target sets up .venv by itself; nothing else has to be installed first but Python >= 3.11.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
EXTRAS := draw,terminal,plot,llm,zstd,parquet
# The tests start thousands of interpreters: what one compiles is kept for the next, also where images switch that off.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-more test-long docs bench laws mutants same lint clean
.DELETE_ON_ERROR:

# Without its fifty dependencies bfcl-eval is BFCL's data and checks, beside which the tests run ours.
# pip comes first: old pip's launchers import re, which costs start-up time at every command.
$(VENV)/.ready: pyproject.toml Makefile planner_eval/_version.py
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "planner_eval needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable '.[$(EXTRAS)]' --group dev
	$(BIN)/python -m pip install --quiet --no-deps bfcl-eval==2026.3.23
	touch $@

# diff answers 1 where plans differ, as all of these do; anything above 1 is a failure.
demo: $(VENV)/.ready
	@mkdir -p out
	$(BIN)/planeval diff data/demo/pred.json data/demo/gold.json || test $$? -eq 1
	$(BIN)/planeval diff data/demo/pred.jsonl data/demo/gold.jsonl || test $$? -eq 1
	$(BIN)/planeval diff data/demo/pred.json data/demo/gold.json --format svg -o out/diff.svg || test $$? -eq 1
	$(BIN)/planeval render data/demo/gold.json
	$(BIN)/planeval render data/demo/gold.json --format png -o out/gold.png
	$(BIN)/planeval stats data/demo/gold.jsonl
	$(BIN)/planeval report data/demo/pred.jsonl --gold data/demo/gold.jsonl --causes -o out/report.html
	@echo "Drawings: out/diff.svg, out/gold.png; a page to open in a browser: out/report.html"

test: $(VENV)/.ready
	$(BIN)/python -m pytest -n auto

# What the site of docs/ is made with; lint and test do without.
$(VENV)/.docs: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

# What every change must pass besides, and nobody waits for: more than twice as many examples of each law, and what is marked more.
test-more: $(VENV)/.docs
	$(BIN)/python -m pytest -n auto -m "more and not long" --hypothesis-profile=more

# The site, into out/site; a page that the navigation does not name and a link that leads nowhere are errors.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict # --quiet would keep warnings from being counted
	@echo "Pages: out/site/index.html; with search: $(BIN)/python -m http.server -d out/site"

# What takes too long for every change: eighty times as many examples of each law, and what is marked long.
test-long: $(VENV)/.docs
	$(BIN)/python -m pytest -n auto -m long --hypothesis-profile=long

bench: $(VENV)/.ready
	$(BIN)/python -m tests.performance

# What the corrected figures keep on open data: $PLANEVAL_REFERENCE's, else our own samples alone.
laws: $(VENV)/.ready
	$(BIN)/python -m tests.laws

# Not a test: some faults that it plants cannot be told by any. MUTANTS takes --limit, --seed, folders and files of the package.
mutants: $(VENV)/.ready
	$(BIN)/python -m tests.mutants $(MUTANTS)

# Whether the code does what it did at the commit BASE, byte by byte: a line a difference, and 1 where there is one.
same: $(VENV)/.ready
	$(BIN)/python -m tests.same $(or $(BASE),$(error BASE=<commit> says what to compare with))

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist out
