# `make help` lists the targets, which are the functions of tools/make.py. Where there is no `make`,
# as on Windows, run `python tools/make.py TARGET`.
PYTHON ?= python3
GOALS := $(or $(MAKECMDGOALS),help)

.PHONY: $(GOALS)
.NOTPARALLEL:
$(GOALS):
	@$(PYTHON) tools/make.py $@
