# The two commands of the README are `make demo` and `make test`; `make help` lists the others.
SHELL := /bin/bash
CARGO ?= cargo
TOOLS := $(CURDIR)/target/tools
EXPERIMENTS := hitless-switch measured-loss reaction controller-restart vswitchd-restart uplink-down proxy-report

FIGURES := download-time transmitted-bytes fairness cwnd cc-lab delay-gap field-test adaptive peers

.PHONY: help setup build demo test lint deny experiments byte-exactness soak interop figures-quick figures figures-full bench-proxy bench-codec fuzz-smoke fuzz fuzz-proxy-smoke fuzz-proxy clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install what is missing (apt); touches no running Open vSwitch
	@testbed/setup.sh

build: setup ## build the release binaries
	$(CARGO) build --release --workspace --bins

demo: build ## the main job on real Open vSwitch: unicast, bicast, adaptive, side by side
	target/release/testbed demo
	target/release/testbed clean --check

test: setup lint ## everything CI runs: lints, unit tests, tests on real Open vSwitch, a minute of each fuzz target
	$(CARGO) test --workspace
	@$(MAKE) --no-print-directory fuzz-smoke
	target/debug/testbed run --quick $(filter-out reaction,$(EXPERIMENTS)) byte-exactness
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

figures-quick: LENGTH := --quick
figures-quick: ## all figures and their report at a glance (25 minutes): target/figures-quick/report.html
figures: ## the same with three repetitions (hours): target/figures/report.html
figures-full: LENGTH := --full
figures-full: ## the same with ten repetitions (a day): target/figures-full/report.html
figures-quick figures figures-full: build
	@target/release/testbed run $(LENGTH) --out target/$@ $(FIGURES); run=$$?; \
		target/release/testbed report target/$@ && exit $$run
	target/release/testbed clean --check

bench-proxy: build ## the proxies' speed and cost: over loopback, in a lab, over two lossy paths, the second later by a gap
	$(CARGO) bench -p proxy --bench loopback
	target/release/testbed run receiver-cost
	rm -rf target/bench-proxy
	target/release/testbed run --quick --out target/bench-proxy delay-gap
	target/release/testbed clean --check

byte-exactness: build ## 1 GB of random data each way through the proxies, over two lossy paths
	target/release/testbed run byte-exactness
	target/release/testbed clean --check

SOAK ?= 24h
soak: build ## proxies for a day, or SOAK=10m: files, memory and tasks stay flat
	SOAK=$(SOAK) target/release/testbed run soak
	target/release/testbed clean --check

interop: ## the proxies' QUIC with another implementation at the other end; builds for some minutes
	cd proxy/interop && $(CARGO) test --locked --target-dir ../../target/interop

OVS_CODEC := $(CURDIR)/target/ovs-codec
OS_KEN := $(CURDIR)/target/os-ken
bench-codec: ## what a message costs, beside Open vSwitch's own C and os-ken where they can be had
	@ofproto/benches/ovs/build.sh $(OVS_CODEC) || echo "without Open vSwitch's C: its sources could not be built"
	@[ -x $(OS_KEN)/bin/python ] || python3 -m venv $(OS_KEN)
	@$(OS_KEN)/bin/pip install --quiet os-ken || echo "without os-ken: it could not be installed"
	@if [ -x $(OVS_CODEC)/driver ]; then export OVS_CODEC=$(OVS_CODEC)/driver; fi; \
		if $(OS_KEN)/bin/python -c "import os_ken" 2>/dev/null; then export OS_KEN=$(OS_KEN)/bin/python; fi; \
		$(CARGO) bench -p ofproto --bench codec

# Coverage for libFuzzer, which comes with the crate libfuzzer-sys: no other tool and no other toolchain is needed.
SANCOV := -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-pc-table \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-trace-compares
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
FUZZ_TARGETS := decode round_trip frames text
fuzz-smoke: FUZZ_SECONDS := 60
fuzz-smoke: ## fuzz the codec, each target for a minute
fuzz: FUZZ_SECONDS := 3600
fuzz: ## fuzz the codec, each target for an hour
fuzz-smoke fuzz:
	cd ofproto/fuzz && RUSTFLAGS="$(SANCOV)" $(CARGO) build --release --locked --target $(HOST) --target-dir ../../target/fuzz
	cd target/fuzz && echo $(FUZZ_TARGETS) | xargs -n1 -P$$(nproc) sh -c 'mkdir -p corpus/$$0 && $(HOST)/release/$$0 \
		-max_total_time=$(FUZZ_SECONDS) -max_len=2048 -timeout=25 -rss_limit_mb=512 -verbosity=0 -print_final_stats=1 \
		corpus/$$0 ../../ofproto/fuzz/seeds ../../ofproto/tests/vectors/ovs'

FUZZ_PROXY_TARGETS := shim socks5 http_connect wire config
fuzz-proxy-smoke: FUZZ_SECONDS := 60
fuzz-proxy-smoke: ## fuzz what the proxies read, each target for a minute
fuzz-proxy: FUZZ_SECONDS := 3600
fuzz-proxy: ## fuzz what the proxies read, each target for an hour
fuzz-proxy-smoke fuzz-proxy:
	cd proxy/fuzz && RUSTFLAGS="$(SANCOV)" $(CARGO) build --release --locked --target $(HOST) --target-dir ../../target/fuzz
	cd target/fuzz && echo $(FUZZ_PROXY_TARGETS) | xargs -n1 -P$$(nproc) sh -c 'mkdir -p corpus/$$0 && $(HOST)/release/$$0 \
		-max_total_time=$(FUZZ_SECONDS) -max_len=2048 -timeout=25 -rss_limit_mb=512 -verbosity=0 -print_final_stats=1 \
		corpus/$$0 ../../proxy/fuzz/seeds/$$0'

clean: ## remove build products and whatever a lab left behind
	-[ -x target/release/testbed ] && target/release/testbed clean
	$(CARGO) clean
