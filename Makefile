# One verb for each arrow of the book; `make demo` and `make test` need only Python 3.11 and make.
PYTHON  ?= python3.11
CHAPTER ?= 05_decoder_block
HERO_LANG ?= zh
export HERO_LANG
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: demo test build lab bench clean
# the sample class is the project's own: it may be graded where bubblewrap is missing
demo: export HERO_SANDBOX ?= $(if $(shell command -v bwrap),bubblewrap,none)
demo: .venv/ready  ## build the chapter, grade a sample class in demo/, print scores and misconceptions
	$(BIN)/hero build $(CHAPTER)
	$(BIN)/hero new-class $(CHAPTER)
	cd demo && hero grade $(CHAPTER) --force
	cd demo && hero report $(CHAPTER)

build: .venv/ready ## every notebook, from the chapters and the package
	$(BIN)/hero build

test: .venv/ready  ## every check of the project
	$(BIN)/ruff check .
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile
	cd chapters && OMP_NUM_THREADS=1 ../$(BIN)/python -m pytest --nbval --nbval-cell-timeout=120 --numprocesses 2 --dist loadfile \
	  --override-ini addopts= --override-ini testpaths= -q -p no:cacheprovider */zh.ipynb  # en has the same code and outputs

lab: .venv/ready   ## JupyterLab on a chapter as a learner gets it, in work/; what you wrote there stays
	$(BIN)/hero work $(CHAPTER) > /dev/null 2>&1 || $(BIN)/hero build $(CHAPTER)
	notebook="$$($(BIN)/hero work $(CHAPTER))" && echo "$$notebook" && cd "$$(dirname "$$notebook")" && \
	  jupyter lab "$$(basename "$$notebook")"

bench: .venv/ready ## grading against stock nbgrader and the floor; our tokenizer against tokenizers
	$(BIN)/python benchmarks/grade_speed.py --chapter $(CHAPTER) --learners 10
	$(BIN)/python benchmarks/tokenizer_speed.py

.venv/ready: requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	touch $@

clean:             ## the demo's course and caches; gradebooks, packs, reports and work/ stay
	if [ -f demo/.sample ]; then rm -rf demo; fi
	rm -rf .pytest_cache .ruff_cache .hypothesis
