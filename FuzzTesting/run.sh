#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Fuzzes one parser: run.sh TARGET SECONDS
# Builds PushCore, the checks and the target with libFuzzer and the address sanitizer, then looks for an input that
# breaks the check. What it finds is kept in FailCases/TARGET, where ordinary tests replay it.
set -eu

usage() {
    echo "usage: run.sh TARGET SECONDS" >&2
    echo "targets:" $(cd "$folder/Targets" && ls | sed 's/\.swift$//') >&2
    exit 2
}

folder=$(cd "$(dirname "$0")" && pwd)
repository=$(dirname "$folder")
[ $# -eq 2 ] || usage
target=$1
seconds=$2
[ -f "$folder/Targets/$target.swift" ] || usage

build=$repository/.build/fuzz
corpus=$build/corpus/$target
mkdir -p "$build" "$corpus"

options="-O -wmo -parse-as-library -swift-version 6 -package-name posthorn -sanitize=fuzzer,address"
find "$repository/Sources/PushCore" -name '*.swift' > "$build/PushCore.sources"
swiftc $options -module-name PushCore -c "@$build/PushCore.sources" -o "$build/PushCore.o" \
    -emit-module -emit-module-path "$build/PushCore.swiftmodule"
objects=$build/PushCore.o
checks=$(echo "$repository"/Tests/PushCoreTests/FuzzChecks*.swift)
if [ "$target" = websocket ]; then
    swiftc $options -module-name PushWebSocket -I "$repository/Sources/CWslay" -c "$repository"/Sources/PushWebSocket/*.swift \
        -o "$build/PushWebSocket.o" -emit-module -emit-module-path "$build/PushWebSocket.swiftmodule"
    objects=$build/PushWebSocket.o
    checks=$repository/Tests/PushWebSocketTests/WebSocketFuzzCheck.swift
fi
swiftc $options -module-name "Fuzz$(echo "$target" | tr -d -)" -I "$build" -I "$repository/Sources/CWslay" -o "$build/$target" "$objects" $checks \
    "$folder/Targets/$target.swift"

# The backtracer of Swift can hang in a fuzzer's crash; libFuzzer reports the input by itself.
SWIFT_BACKTRACE=enable=no "$build/$target" -max_total_time="$seconds" -max_len=8192 -timeout=5 -rss_limit_mb=1024 \
    -print_final_stats=1 -artifact_prefix="$folder/FailCases/$target/" "$corpus" "$folder/FailCases/$target"
