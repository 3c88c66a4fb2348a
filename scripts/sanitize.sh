#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the tests and the programs that they start under a sanitizer: scripts/sanitize.sh address|thread
set -eu
cd "$(dirname "$0")/.."
sanitizer=${1:?specify address or thread}

# Leak detection is off. Swift stores flags in the spare bits of pointers (enum cases, static values). The leak sanitizer does not
# follow such pointers, and reports hundreds of values that are in use.
export ASAN_OPTIONS="detect_leaks=0:suppressions=$PWD/scripts/address-sanitizer.supp"
export TSAN_OPTIONS="halt_on_error=1"
# Tests of memory use skip their measurement if this variable is set.
export POSTHORN_TEST_SANITIZER="$sanitizer"
export POSTHORN_TEST_PATIENCE="${POSTHORN_TEST_PATIENCE:-4}"

swift build --build-tests --sanitize "$sanitizer" --scratch-path ".build/$sanitizer"
exec scripts/test.sh --sanitize "$sanitizer" --scratch-path ".build/$sanitizer"
