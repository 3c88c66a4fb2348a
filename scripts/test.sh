#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the built tests; passes its arguments to `swift test`. Lists the skipped tests with the reasons, and the failed tests, again
# before the last line of the test runner.
set -o pipefail

# Tests mostly wait, but each can start a display, a bus and daemons. So the number of parallel tests is limited.
width='--experimental-maximum-parallelization-width 8'

# Prints the output of the test runner, and both lists. If $1 is given, writes the last line to this file instead.
summarize() {
    awk -v closing="${1:-}" '
    function list() {
        if (skipped) print "\nSkipped tests:\n" skipped
        if (failures) print "\nFailed tests:\n" failures
        isListed = 1
    }
    / Test ".*" skipped/ { skipped = skipped substr($0, 1, 500) "\n" }
    / recorded an issue / { failures = failures substr($0, 1, 500) "\n"; says = 1 }
    says && /^ *↳ / { failures = failures "  " substr($0, 1, 500) "\n" }
    !/ recorded an issue / && !/^ *↳ / { says = 0 }
    /Test run with .* (passed|failed)/ {
        list()
        if (closing) { print >closing; next }
    }
    { print; fflush() }
    END { if (!isListed) list() }'
}

# shellcheck disable=SC2086 # The width is two words.
if [ $# -gt 0 ]; then
    swift test --skip-build --disable-xctest $width "$@" 2>&1 | summarize
    exit
fi

# The tests of failures run one after the other, and mostly wait. In one process with the others, each would wait for its turn
# behind thousands of tests. So they run in a process of their own, at the same time as the others.
program=$(swift build --show-bin-path)/posthornPackageTests.xctest
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
"$program" --testing-library swift-testing --filter '^FaultTests\.' >"$files/faults" 2>&1 &
faults=$!
swift test --skip-build --disable-xctest $width --skip '^FaultTests\.' 2>&1 | summarize "$files/closing"
others=$?
wait "$faults"
failed=$?
# The last line of the output belongs to a failed run, if there is one.
if [ "$failed" -eq 0 ]; then
    summarize <"$files/faults"
    cat "$files/closing"
else
    cat "$files/closing"
    summarize <"$files/faults"
fi
exit $((others > failed ? others : failed))
