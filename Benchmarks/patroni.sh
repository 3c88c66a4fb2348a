#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lets three nodes use PostgreSQL with Patroni and etcd, and loses the primary three times under load: nothing may be
# lost, shown twice or out of order.
#
#   Benchmarks/patroni.sh
#
#   PATRONI_ROWS=1000000   the number of notifications that are written; the primary is lost after a quarter, a half and three quarters
#   POSTGRES_PROGRAMS      the folder of initdb and postgres, version 15 or newer; default: /usr/lib/postgresql/15/bin
#   POSTHORN_PROGRAMS      the folder of posthornd and posthorn; default: .build/release
set -eu
cd "$(dirname "$0")"
# Only the generator is built, since no peer is measured here.
swift build -c release -Xswiftc -enforce-exclusivity=unchecked --product posthorn-bench >&2
ulimit -n "$(ulimit -Hn)"
exec python3 -m bench.patroni_faults
