# The two commands of the README are `make demo` and `make test`; `make help` lists the others.
SHELL := /bin/bash
CARGO ?= cargo
TOOLS := $(CURDIR)/target/tools
EXPERIMENTS := hitless-switch measured-loss reaction controller-restart vswitchd-restart uplink-down

.PHONY: help setup build demo test lint deny experiments clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install what is missing (apt); touches no running Open vSwitch
	@testbed/setup.sh

build: setup ## build the release binaries
	$(CARGO) build --release --workspace --bins

demo: build ## the main job on real Open vSwitch: unicast, bicast, adaptive, side by side
	target/release/testbed demo
	target/release/testbed clean --check

test: setup lint ## everything CI runs: lints, unit tests, tests on real Open vSwitch
	$(CARGO) test --workspace
	$(CARGO) build --workspace --bins
	target/debug/testbed run --quick $(filter-out reaction,$(EXPERIMENTS))
	target/debug/testbed clean --check

lint: deny ## formatting, clippy, documentation, licences
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet

DENY := PATH="$(TOOLS)/bin:$$PATH" $(CARGO) deny --workspace
deny: ## licences, sources, banned crates; advisories where their database can be reached
	@PATH="$(TOOLS)/bin:$$PATH" command -v cargo-deny >/dev/null || \
		$(CARGO) install --quiet --locked --root $(TOOLS) cargo-deny
	$(DENY) check --hide-inclusion-graph bans licenses sources
	@if $(DENY) fetch db >target/advisories.log 2>&1; then $(DENY) check --hide-inclusion-graph advisories; \
		else echo "advisories: NOT CHECKED, their database cannot be reached from here"; fi

experiments: build ## each number that docs/testing.md names, at full length (about 10 minutes)
	target/release/testbed run $(EXPERIMENTS)
	target/release/testbed clean --check

clean: ## remove build products and whatever a lab left behind
	-[ -x target/release/testbed ] && target/release/testbed clean
	$(CARGO) clean
