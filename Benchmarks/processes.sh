# SPDX-License-Identifier: Apache-2.0
# Functions of the scripts that start programs in the background: a new folder for their files, and their end with the script.

files=$(mktemp -d)
processes=
trap 'kill $processes 2>/dev/null || true; wait $processes 2>/dev/null || true; rm -rf "$files"' EXIT
trap 'exit 130' INT TERM

# start LOG COMMAND...: starts a program whose output goes to a file of the folder.
start() {
    log=$1
    shift
    "$@" >"$files/$log" 2>&1 &
    processes="$! $processes"
}

# wait_for LOG PATTERN: waits up to 30 seconds until a line of the output matches.
wait_for() {
    for _ in $(seq 300); do
        grep -q "$2" "$files/$1" 2>/dev/null && return
        sleep 0.1
    done
    cat "$files/$1" >&2
    exit 1
}
