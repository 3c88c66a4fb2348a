#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests that were built, with the words given to `swift test`. The tests that were skipped, with the reasons, and
# those that failed are listed again before the runner's closing line, which stays the last.
set -o pipefail

# Tests wait more than they compute, but each may start a display, a bus and daemons: bounded on purpose.
swift test --skip-build --disable-xctest --experimental-maximum-parallelization-width 4 "$@" 2>&1 | awk '
    function list() {
        if (skipped) print "\nWhat did not run:\n" skipped
        if (failures) print "\nWhat failed:\n" failures
        isListed = 1
    }
    / Test ".*" skipped/ { skipped = skipped substr($0, 1, 500) "\n" }
    / recorded an issue / { failures = failures substr($0, 1, 500) "\n"; says = 1 }
    says && /^ *↳ / { failures = failures "  " substr($0, 1, 500) "\n" }
    !/ recorded an issue / && !/^ *↳ / { says = 0 }
    /Test run with .* (passed|failed)/ { list() }
    { print; fflush() }
    END { if (!isListed) list() }'
