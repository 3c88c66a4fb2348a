#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures posthornd beside its peers: all scenarios, or those that are named.
#
#   Benchmarks/run.sh [A] [B] … [I] [L]
#
#   BENCH_REPEATS=3     rounds of each scenario, in which every server has its turn
#   BENCH_RETRIES=1     how often a measurement is repeated while others use more than a quarter of a core
#   BENCH_FULL=1        19,000 idle devices, 15,000 that come back, a million in the store: half an hour more
#   BENCH_STREAM=events devices use server-sent events although the server has WebSockets
#   POSTHORN_PROGRAMS   where posthornd and posthorn are; .build/release
set -eu
cd "$(dirname "$0")"
./setup.sh >&2
ulimit -n "$(ulimit -Hn)"
exec python3 -m bench "$@"
