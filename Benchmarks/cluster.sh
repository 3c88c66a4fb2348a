#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures three nodes that share PostgreSQL with two standbys, and compares them with one server with SQLite.
#
#   Benchmarks/cluster.sh          everything
#   Benchmarks/cluster.sh C8 C9    some scenarios, which Benchmarks/README.md describes
#
#   BENCH_REPEATS=3     the rounds of C8 and C9
#   POSTGRES_PROGRAMS   the folder of initdb and postgres, version 15 or newer; default: /usr/lib/postgresql/15/bin
#   POSTHORN_PROGRAMS   the folder of posthornd and posthorn; default: .build/release
set -eu
cd "$(dirname "$0")"
# Only the generator is built, since no peer is measured here.
swift build -c release -Xswiftc -enforce-exclusivity=unchecked --product posthorn-bench >&2
ulimit -n "$(ulimit -Hn)"
exec python3 -m bench.cluster "$@"
