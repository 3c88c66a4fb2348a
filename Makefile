# SPDX-License-Identifier: Apache-2.0
# The one entry to this repository. `make` alone lists what there is.

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.PHONY: help setup build install uninstall demo test attack check lint format sanitize bench gate soak fuzz docs pages translations clean

# For `make install`.
export DESTDIR PREFIX SYSCONFDIR PARTS BUILD

PROGRAMS := posthornd posthorn-agent posthorn posthorn-panel

# Nothing is imported that Package.swift does not declare.
STRICT := --explicit-target-dependency-import-check error

# The Swift library goes into the program, so that a target machine needs no Swift. Exclusivity is checked in every
# test build; the release build spends nothing on it. `now` resolves symbols at start, which makes RELRO whole.
RELEASE := -c release --static-swift-stdlib -Xswiftc -enforce-exclusivity=unchecked -Xlinker -z -Xlinker now $(STRICT)

# The tests that POSTHORN_TEST_CASES makes longer; of 10,000 cases, 300 are kills under load.
SOAKED := Faults|CrashTests|PropertyTests|ModelTests|ExactlyOnceTests|AgentKillTests|PanelKillTests|RegistrarLivesTests|PanelLivesTests|BusValueTests|AttackTests|MonkeyTests

help: ## List the targets (this text)
	@printf 'Posthorn: push notifications for Linux.\n\n'
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' Makefile
	@printf '\nA first look: make demo. Before you commit: make check.\n'

setup: ## Install what building and testing need (Debian 12; quick when it is there)
	@scripts/setup.sh

build: ## Build release programs into .build/release
	@for program in $(PROGRAMS); do swift build $(RELEASE) --product "$$program" || exit 1; done

install: ## Install what was built (DESTDIR, PREFIX=/usr, SYSCONFDIR=/etc, PARTS)
	@scripts/install.sh install

uninstall: ## Remove what was installed, but no configuration and no data
	@scripts/install.sh uninstall

demo: setup ## Send a notification to a desktop and show what a person sees
	@examples/demo.sh

test: setup ## Build and run every test, the end-to-end ones too
	@swift build --build-tests $(STRICT)
	@files=$$(mktemp -d /tmp/pXXXX) && trap 'rm -rf "$$files"' EXIT && TMPDIR="$$files" scripts/test.sh

attack: setup build ## Attack the release build and print one line for each attack (ATTACKS names some)
	@POSTHORN_SERVER=.build/release/posthornd PYTHONDONTWRITEBYTECODE=1 .venv/bin/python \
	    Tests/AttackTests/python/run.py --long $(ATTACKS)

check: setup lint test sanitize ## What a change must pass: format, tests, sanitizers

lint: ## Check the format of every Swift file
	swift format lint --strict --recursive Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources

format: ## Format every Swift file in place
	swift format format --in-place --recursive Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources

sanitize: ## Run the tests under the address and the thread sanitizer
	@scripts/sanitize.sh address
	@scripts/sanitize.sh thread

bench: build ## Measure the server beside its peers (BENCH_REPEATS, default 3; BENCH_FULL=1 takes longer)
	@Benchmarks/run.sh

gate: build ## Count instructions and allocations for each request and compare them with Benchmarks/gate.json
	@.venv/bin/python Benchmarks/gate.py

soak: setup build ## Run the server under mixed load (SOAK_SECONDS, default 7200), then long crash and property tests
	@Benchmarks/soak.sh
	@swift build --build-tests $(STRICT)
	@POSTHORN_TEST_CASES="$${POSTHORN_TEST_CASES:-10000}" scripts/test.sh --filter '$(SOAKED)'

fuzz: ## Fuzz each reader of untrusted bytes (FUZZ_SECONDS for each, default 600)
	@for target in $(notdir $(basename $(wildcard FuzzTesting/Targets/*.swift))); do \
	    FuzzTesting/run.sh "$$target" "$${FUZZ_SECONDS:-600}" || exit 1; done

docs: pages ## Rewrite the generated pages and build the API archive into .build/docs
	@scripts/docs.sh

pages: ## Rewrite the pages of docs/reference that are made from the code
	@POSTHORN_UPDATE_PAGES=1 swift test --disable-xctest --filter GeneratedPages

translations: ## Take the panel's texts into po/, where people translate them
	@scripts/translations.sh

clean: ## Remove what was built
	rm -rf .build .demo
