#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures posthornd and its peers: all scenarios, or those on the command line.
#
#   Benchmarks/run.sh [A] [B] … [I] [L]
#
#   BENCH_REPEATS=7     the number of rounds of each scenario; each round measures every server; the default is 7, or 3
#                       if scenarios are named
#   BENCH_RETRIES=1     the number of repetitions of a measurement while others use more than a quarter of a core
#   BENCH_FULL=1        19,000 idle devices, 15,000 that reconnect, a million in the store: half an hour more
#   BENCH_STREAM=events devices use server-sent events although the server supports WebSockets
#   POSTHORN_PROGRAMS   the folder of posthornd and posthorn; default: .build/release
set -eu
cd "$(dirname "$0")"
./setup.sh >&2
ulimit -n "$(ulimit -Hn)"
exec python3 -m bench "$@"
