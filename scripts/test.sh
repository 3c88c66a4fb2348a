#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the built tests; passes its arguments to `swift test`. Lists the skipped tests with the reasons, and the failed tests, again
# before the last line of the test runner.
set -o pipefail

# Tests mostly wait, but each can start a display, a bus and daemons. So the number of parallel tests is limited.
swift test --skip-build --disable-xctest --experimental-maximum-parallelization-width 8 "$@" 2>&1 | awk '
    function list() {
        if (skipped) print "\nSkipped tests:\n" skipped
        if (failures) print "\nFailed tests:\n" failures
        isListed = 1
    }
    / Test ".*" skipped/ { skipped = skipped substr($0, 1, 500) "\n" }
    / recorded an issue / { failures = failures substr($0, 1, 500) "\n"; says = 1 }
    says && /^ *↳ / { failures = failures "  " substr($0, 1, 500) "\n" }
    !/ recorded an issue / && !/^ *↳ / { says = 0 }
    /Test run with .* (passed|failed)/ { list() }
    { print; fflush() }
    END { if (!isListed) list() }'
