#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the figures of docs/explanation/performance.md from the newest whole run in Benchmarks/Results.
#
#   Benchmarks/page.sh            writes the page and the text of each kept run
#   Benchmarks/page.sh --check    fails if they differ from the kept results
set -eu
cd "$(dirname "$0")"
export PYTHONDONTWRITEBYTECODE=1
exec python3 -m bench.page "$@"
