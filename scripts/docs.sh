#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the API documentation as the archive .build/docs/Posthorn.doccarchive.
set -eu
cd "$(dirname "$0")/.."
graphs=$PWD/.build/docs/graphs
archive=$PWD/.build/docs/Posthorn.doccarchive
rm -rf .build/docs
mkdir -p "$graphs"

for module in PushCore PushAPI PushStore PushServing PushServer LinuxDesktop AgentStore AgentBus DeviceAgent; do
    swift build --scratch-path .build/symbols --target "$module" -Xswiftc -emit-symbol-graph \
        -Xswiftc -emit-symbol-graph-dir -Xswiftc "$graphs" -Xswiftc -symbol-graph-minimum-access-level \
        -Xswiftc package
done
docc=$(dirname "$(swift -print-target-info | sed -n 's/.*"runtimeResourcePath" *: *"\(.*\)".*/\1/p')")/../bin/docc
[ -x "$docc" ] || docc=$(command -v docc)
"$docc" convert --additional-symbol-graph-dir "$graphs" --fallback-display-name Posthorn \
    --fallback-bundle-identifier org.posthorn --output-path "$archive"
printf 'created %s\n' "$archive"
