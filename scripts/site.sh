#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation as a static site in .build/site, which works offline.
set -eu
cd "$(dirname "$0")/.."
environment=.build/site-environment
[ -x "$environment/bin/mkdocs" ] || {
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check mkdocs-material==9.7.0
}
"$environment/bin/python" scripts/site.py .build/site-source
cp scripts/iframe-worker.js .build/site-source
"$environment/bin/mkdocs" build --quiet --clean
printf 'created %s\n' "$PWD/.build/site/index.html"
