# Needs make and a Python from 3.10 to 3.13 with venv; everything else is set up on first use, outside of the checkout
# (STEPSCOPE_CACHE, or ~/.cache/stepscope). Another Python: make PYTHON=python3.12 test

PYTHON ?= python3
BUG ?= nan
FRAMEWORK ?= mindspore
IN = $(PYTHON) scripts/environment.py

.PHONY: help demo browser page-tests test test-versions lint bench proto page types screenshots pictures clean

help:
	@echo "make demo [FRAMEWORK=mindspore|torch] [BUG=none|nan|frozen|exploding|dead-relu] [ARGS=...]"
	@echo "                       a real training with a planted fault, under the debugger"
	@echo "make test [ARGS=...]   all checks and tests"
	@echo "make test-versions     the MindSpore tests with MindSpore 2.9 and 2.7"
	@echo "make lint              ruff, mypy"
	@echo "make bench             the benchmarks"
	@echo "make proto             generate the code of the protocol"
	@echo "make page-tests        the unit tests of the web page"
	@echo "make page              build the web page into this checkout"
	@echo "make types             describe the web API for the page (web/openapi.json)"
	@echo "make screenshots       pictures of the page in every state, in build/screenshots"
	@echo "make pictures          the pictures of the guide and the README, in docs/images"
	@echo "make clean             remove what was built in this checkout"

demo:
	@$(IN) $(FRAMEWORK) -m stepscope.cli demo --framework $(FRAMEWORK) --bug $(BUG) $(ARGS)

# The page is tested in Debian's Chromium; root gets it where it is missing, for others those tests are skipped.
browser:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || test -n "$$STEPSCOPE_CHROMIUM" || \
	{ test "$$(id -u)" = 0 && apt-get update -qq && apt-get install -y -qq chromium >/dev/null; } || \
	echo "stepscope: no Chromium, so the tests of the page are skipped; install it with: apt-get install chromium"

# All run, also when one of them fails.
test: lint browser page-tests
	@$(IN) main -m pytest -m "not mindspore and not torch" $(ARGS); main=$$?; \
	$(IN) mindspore -m pytest -m mindspore $(ARGS); mindspore=$$?; \
	$(IN) torch -m pytest -m torch $(ARGS); torch=$$?; \
	exit $$((main || mindspore || torch))

# The same tests on the older releases of MindSpore that are supported: slow, and 2 GB to download.
test-versions:
	@$(IN) mindspore-2.9 -m pytest -m mindspore $(ARGS)
	@$(IN) mindspore-2.7 -m pytest -m mindspore $(ARGS)

lint:
	@$(IN) main -m ruff check
	@$(IN) main -m mypy

# What has no __main__ is something that the benchmarks use. All run, also when one misses its budget.
bench:
	@status=0; for file in $$(grep -l __main__ benchmarks/*.py); do \
	case $$file in benchmarks/torch_*) of=torch;; *) of=mindspore;; esac; \
	echo "== $$file"; $(IN) $$of $$file || status=1; done; exit $$status

proto:
	@$(IN) proto scripts/proto.py

page-tests:
	@$(IN) main scripts/page.py test

page:
	@$(IN) main scripts/page.py

types:
	@$(IN) main scripts/openapi.py

screenshots:
	@$(IN) mindspore scripts/screenshots.py build/screenshots

pictures:
	@$(IN) mindspore scripts/guide_pictures.py

clean:
	rm -rf build dist web/dist web/node_modules src/stepscope/server/static .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks scripts -name __pycache__ -type d -prune -exec rm -rf {} +
	find src -name '_kernel*.so' -delete
