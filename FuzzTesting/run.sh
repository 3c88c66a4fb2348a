#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Fuzzes one parser or session: run.sh TARGET SECONDS
# Builds the target's modules, its checks and the target with libFuzzer and the address sanitizer, then searches for an
# input that breaks the check. Such inputs are kept in FailCases/TARGET, where ordinary tests replay them.
#
# A target may list its modules, each after those that it imports, and its checks:
#   // modules: PushCore PushHTTP
#   // checks: Tests/PushHTTPTests/HTTPSessionFuzzCheck.swift
# Without these lines, it is built with PushCore, PushAPI and FuzzChecks. C modules need not be listed, except
# CPushShims.
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
source=$folder/Targets/$target.swift
[ -f "$source" ] || usage

build=$repository/.build/fuzz
corpus=$build/corpus/$target
mkdir -p "$build" "$corpus"

modules=$(sed -n 's|^// modules: *||p' "$source")
modules=${modules:-PushCore PushAPI}
checks=$(sed -n 's|^// checks: *||p' "$source")
checks=${checks:-Tests/PushAPITests/FuzzChecks*.swift}
checks=$(cd "$repository" && for file in $checks; do echo "$repository/$file"; done)

includes="-I $build"
for map in "$repository"/Sources/C*/module.modulemap; do includes="$includes -I $(dirname "$map")"; done
for flag in $(pkg-config --cflags-only-I libsystemd sndfile inih sqlite3 libpq); do includes="$includes -Xcc $flag"; done
options="-O -wmo -parse-as-library -swift-version 6 -package-name posthorn -sanitize=fuzzer,address -enable-testing $includes"
objects=
isStale=no
for module in $modules; do
    # A module is rebuilt if its sources changed, or if a module before it was rebuilt.
    [ -z "$(find "$repository/Sources/$module" -newer "$build/$module.o" 2>&1 | head -1)" ] || isStale=yes
    if [ "$module" != CPushShims ] && [ $isStale = no ]; then
        :
    elif [ "$module" = CPushShims ]; then
        clang -O1 -g -fsanitize=address -I "$repository/Sources/CPushShims/include" \
            -c "$repository/Sources/CPushShims/shims.c" -o "$build/CPushShims.o"
        # The package manager would generate this module map.
        mkdir -p "$build/CPushShims"
        echo "module CPushShims { umbrella \"$repository/Sources/CPushShims/include\" export * }" \
            > "$build/CPushShims/module.modulemap"
        options="$options -I $build/CPushShims"
    else
        find "$repository/Sources/$module" -name '*.swift' > "$build/$module.sources"
        swiftc $options -module-name "$module" -c "@$build/$module.sources" -o "$build/$module.o" \
            -emit-module -emit-module-path "$build/$module.swiftmodule"
    fi
    objects="$objects $build/$module.o"
done
swiftc $options -module-name "Fuzz$(echo "$target" | tr -d -)" -o "$build/$target" $objects $checks "$source"

# Swift's backtracer can hang in a fuzzer's crash, and libFuzzer reports the input itself.
SWIFT_BACKTRACE=enable=no "$build/$target" -max_total_time="$seconds" -max_len=8192 -timeout=5 -rss_limit_mb=1024 \
    -print_final_stats=1 -artifact_prefix="$folder/FailCases/$target/" "$corpus" "$folder/FailCases/$target"
