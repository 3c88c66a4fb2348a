#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures the CPU of each thread of the server for one item of the load, with one loop and with two, all on one core.
#
#   Benchmarks/threads.sh A B C C16   or other loads of profile.sh
#
#   BENCH_REPEATS=3     the rounds, of which the median counts
set -eu
cd "$(dirname "$0")"
./setup.sh >&2
exec python3 -m bench.threads "$@"
