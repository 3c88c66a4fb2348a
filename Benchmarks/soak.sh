#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs posthornd under everything that providers and devices do, for hours: memory must stay flat, nothing may be lost.
#
#   Benchmarks/soak.sh
#
#   SOAK_SECONDS=7200   how long
#   SOAK_RATE=2000      notifications a second; there is a device for every two of them
#   SOAK_BASE=100000    the number of notifications after which RSS is what it may be at the end, but for a tenth
#   POSTHORN_PROGRAMS   where posthornd and posthorn are; .build/release
set -eu
cd "$(dirname "$0")"
# The generator alone: no peer is measured here.
swift build -c release -Xswiftc -enforce-exclusivity=unchecked --product posthorn-bench >&2
ulimit -n "$(ulimit -Hn)"
exec python3 -m bench.soak
