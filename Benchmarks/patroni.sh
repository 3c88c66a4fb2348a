#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs three nodes on PostgreSQL with Patroni and etcd, and takes away the primary three times under load: no
# notification may be lost, shown twice or shown out of order.
#
#   Benchmarks/patroni.sh
#
#   PATRONI_ROWS=1000000   the number of notifications to write; the faults follow after a quarter, a half and three quarters
#   POSTGRES_PROGRAMS      the folder of initdb and postgres, version 15 or newer; default: /usr/lib/postgresql/15/bin
#   POSTHORN_PROGRAMS      the folder of posthornd and posthorn; default: .build/release
set -eu
cd "$(dirname "$0")"
# Only the generator is built, since no peer is measured here.
swift build -c release -Xswiftc -enforce-exclusivity=unchecked --product posthorn-bench >&2
ulimit -n "$(ulimit -Hn)"
exec python3 -m bench.patroni_faults
