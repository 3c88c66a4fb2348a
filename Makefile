# SPDX-License-Identifier: Apache-2.0
# The entry point of this repository. `make` without a target lists all targets.

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.PHONY: help setup build install uninstall deb repository packages demo tests test test-cluster attack check lint format sanitize bench gate soak fuzz docs pages translations clean

# For `make install` and `make repository`.
export DESTDIR PREFIX SYSCONFDIR PARTS BUILD REPOSITORY REPOSITORY_KEY

PROGRAMS := posthornd posthorn-agent posthorn posthorn-panel

# Rejects imports of modules that Package.swift does not declare.
STRICT := --explicit-target-dependency-import-check error

# The programs are linked with the static Swift library, so that a target machine needs no Swift. Test builds check exclusivity; the
# release build omits the checks for speed. `-z now` resolves symbols at startup, which enables full RELRO.
RELEASE := -c release --static-swift-stdlib -Xswiftc -enforce-exclusivity=unchecked -Xlinker -z -Xlinker now $(STRICT)

# The folder of the release build; another one than .build can be built at the same time.
RELEASE_BUILD := .build

# More options for the build of the tests.
TEST_BUILD ?=

# The tests whose length depends on POSTHORN_TEST_CASES. Of 10,000 cases, 300 kill a program under load.
SOAKED := AuthorityTests|SimulationTests|Faults|CrashTests|PropertyTests|ModelTests|ExactlyOnceTests|AgentKillTests|PanelKillTests|RegistrarRandomTests|PanelRandomKillTests|BusValueTests|AttackTests|MonkeyTests

help: ## List the targets
	@printf 'Posthorn: push notifications for Linux.\n\n'
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' Makefile
	@printf '\nStart with make demo. Run make check before you commit.\n'

setup: ## Install what the build and the tests need (Debian 12)
	@scripts/setup.sh

build: ## Build release programs into .build/release
	@for program in $(PROGRAMS); do swift build $(RELEASE) --scratch-path $(RELEASE_BUILD) --product "$$program" || exit 1; done

install: ## Install the built programs (DESTDIR, PREFIX=/usr, SYSCONFDIR=/etc, PARTS)
	@scripts/install.sh install

uninstall: ## Remove the installed files, except configuration and data
	@scripts/install.sh uninstall

deb: ## Build Debian packages in .build/deb (RELEASE_BUILD names an existing build)
	@scripts/setup.sh packaging
	@$(MAKE) build
	@BUILD=$(RELEASE_BUILD)/release scripts/deb.sh

repository: ## Add the packages to a signed apt repository in .build/repository (REPOSITORY_KEY)
	@scripts/setup.sh packaging
	@scripts/repository.sh

packages: deb ## Test the packages and the container image in clean systems; needs root
	@BUILD=$(RELEASE_BUILD)/release scripts/packages.sh
	@scripts/machine.sh
	@scripts/container.sh

demo: setup ## Build Posthorn and send notifications to a desktop
	@examples/demo.sh

tests: setup ## Build all tests
	@swift build --build-tests $(STRICT) $(TEST_BUILD)

test: tests ## Build and run all tests, including the end-to-end tests
	@files=$$(mktemp -d /tmp/pXXXX) && trap 'rm -rf "$$files"' EXIT && TMPDIR="$$files" scripts/test.sh

test-cluster: tests ## Break a cluster for POSTHORN_TEST_SECONDS (default 600), and print the figures of each failure
	@POSTHORN_TEST_SECONDS="$${POSTHORN_TEST_SECONDS:-600}" scripts/test.sh --filter ClusterFaults

attack: setup build ## Attack the release build and print one line for each attack (ATTACKS selects some)
	@POSTHORN_SERVER=.build/release/posthornd PYTHONDONTWRITEBYTECODE=1 .venv/bin/python \
	    Tests/AttackTests/python/run.py --long $(ATTACKS)

check: setup lint test sanitize packages ## Check a change: format, tests, tests under sanitizers, and packages

lint: ## Check the format of every Swift file, and the figures of the performance page
	swift format lint --strict --recursive Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources
	@Benchmarks/page.sh --check

format: ## Format every Swift file in place
	swift format format --in-place --recursive Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources

sanitize: ## Run the tests under the address and the thread sanitizer
	@scripts/sanitize.sh address
	@scripts/sanitize.sh thread

bench: build ## Compare the server with other servers (BENCH_REPEATS, default 7; BENCH_FULL=1 takes longer)
	@Benchmarks/run.sh

gate: setup ## Count instructions and allocations for each request and compare them with Benchmarks/gate.json
	@swift build $(RELEASE) --scratch-path $(RELEASE_BUILD) --product posthornd
	@.venv/bin/python Benchmarks/gate.py $(RELEASE_BUILD)/release/posthornd

soak: setup build ## Run mixed load (SOAK_SECONDS), fail-overs, faults of a cluster (POSTHORN_TEST_SECONDS), long random tests
	@Benchmarks/soak.sh
	@Benchmarks/setup.sh soak
	@Benchmarks/patroni.sh
	@swift build --build-tests $(STRICT)
	@POSTHORN_TEST_SECONDS="$${POSTHORN_TEST_SECONDS:-7200}" scripts/test.sh --filter ClusterFaults
	@POSTHORN_TEST_CASES="$${POSTHORN_TEST_CASES:-10000}" scripts/test.sh --filter '$(SOAKED)' --skip ClusterFaults

fuzz: ## Fuzz each parser of untrusted bytes (FUZZ_SECONDS for each, default 600)
	@for target in $(notdir $(basename $(wildcard FuzzTesting/Targets/*.swift))); do \
	    FuzzTesting/run.sh "$$target" "$${FUZZ_SECONDS:-600}" || exit 1; done

docs: setup ## Build the documentation as a static site in .build/site
	@scripts/site.sh

api: ## Build the documentation of the modules in .build/docs
	@scripts/docs.sh

pages: ## Generate the pages of docs/reference that come from the code
	@POSTHORN_UPDATE_PAGES=1 swift test --disable-xctest --filter GeneratedPages

translations: ## Extract the texts of the panel and the agent into po/ for translators
	@scripts/translations.sh

clean: ## Remove build products
	rm -rf .build .demo
