# `make help` lists the targets. tools/make.py makes them: where there is no `make`, as on Windows,
# say `python tools/make.py TARGET`.
PYTHON ?= python3
GOALS := $(or $(MAKECMDGOALS),help)

.PHONY: $(GOALS)
.NOTPARALLEL:
$(GOALS):
	@$(PYTHON) tools/make.py $@
