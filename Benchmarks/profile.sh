#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Samples the server (perf, cpu-clock) under the load of a scenario, and writes Benchmarks/Profiles/SCENARIO.txt.
#
#   Benchmarks/profile.sh A|B|C|C16|D|...|I
set -eu
cd "$(dirname "$0")"
./setup.sh >&2
command -v perf >/dev/null || { echo "profile.sh needs perf: apt-get install linux-perf" >&2; exit 1; }
exec python3 -m bench.profile "$@"
