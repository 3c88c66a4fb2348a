#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Replaces posthornd while providers send, and checks that no notification is lost and no connection is refused. Prints the latencies
# before, during and after the replacement.
#
#   Benchmarks/upgrade.sh
#
#   UPGRADE_RATE=2000      notifications a second, to 1000 devices
#   UPGRADE_SECONDS=10     the seconds of load before and after the replacement
#   UPGRADE_COMMAND        a command that upgrades a running server; default: start posthornd, and send it SIGUSR2
#   UPGRADE_ENTER          a prefix that runs a command on that server's machine, for example in a container
#   UPGRADE_PORT=2197      that server's port on the loopback interface; it needs open enrolment
#   POSTHORN_PROGRAMS      the folder of posthornd and posthorn; default: .build/release
set -eu
cd "$(dirname "$0")"
swift build -c release -Xswiftc -enforce-exclusivity=unchecked --product posthorn-bench >&2
ulimit -n "$(ulimit -Hn)"
exec python3 -m bench.upgrade
