#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests that were built, with the words given to `swift test`. What failed among thousands of lines is said
# again before the runner's closing line, which stays the last.
set -o pipefail

# Tests wait more than they compute, but each may start a display, a bus and daemons: bounded on purpose.
swift test --skip-build --disable-xctest --experimental-maximum-parallelization-width 4 "$@" 2>&1 | awk '
    / recorded an issue / { failures = failures substr($0, 1, 500) "\n"; says = 1 }
    says && /^ *↳ / { failures = failures "  " substr($0, 1, 500) "\n" }
    !/ recorded an issue / && !/^ *↳ / { says = 0 }
    /Test run with .* failed/ && failures { print "\nWhat failed:\n" failures }
    { print; fflush() }'
