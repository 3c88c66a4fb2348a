#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs posthornd under a mix of all provider and device actions for hours: memory must stay flat, latency low, and
# nothing may be lost.
#
#   Benchmarks/soak.sh
#
#   SOAK_SECONDS=7200   the duration
#   SOAK_RATE=2000      notifications a second; half as many devices are simulated
#   SOAK_BASE=1000000   the number of notifications after which the base RSS is taken; the final RSS may be 10 % higher
#   SOAK_P99_MS_MAX=25  the maximum of the accept and the deliver p99 of each minute, in milliseconds; it applies if the
#                       disk's own p99 of fdatasync is below 2 ms before and after the load
#   POSTHORN_PROGRAMS   the folder of posthornd and posthorn; default: .build/release
set -eu
cd "$(dirname "$0")"
# Only the generator is built, since no peer is measured here.
swift build -c release -Xswiftc -enforce-exclusivity=unchecked --product posthorn-bench >&2
ulimit -n "$(ulimit -Hn)"
exec python3 -m bench.soak
