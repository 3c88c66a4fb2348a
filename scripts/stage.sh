# SPDX-License-Identifier: Apache-2.0
# Common functions of the scripts that take pictures: they start a server and other programs that stop with the script, wait for
# conditions, and read JSON. A script sets $script to its name and sources this file in the root of the repository. $files is its
# temporary directory. POSTHORN_PROGRAMS is the directory of the programs.
root=$PWD
programs=${POSTHORN_PROGRAMS:-$root/.build/debug}
PATH=$programs:$PATH
files=$(mktemp -d "${TMPDIR:-/tmp}/posthorn-$script.XXXXXX")
home_processes=
processes=

stop() {
    for process in $1; do kill "$process" 2>/dev/null || true; done
    for process in $1; do wait "$process" 2>/dev/null || true; done
}

finish() {
    status=$?
    trap - EXIT INT TERM
    stop "$processes $home_processes"
    [ $status -eq 0 ] || tail -n 5 "$files"/*.log >&2
    rm -rf "$files"
    exit $status
}
trap finish EXIT
trap 'exit 130' INT TERM

fail() { printf '%s: %s\n' "$script" "$*" >&2; exit 1; }

# Starts a program that runs until `stop`; its log has the program's name.
start() {
    "$@" >"$files/$(basename "$1").log" 2>&1 &
    processes="$! $processes"
}

wait_for() {
    what=$1
    shift
    for _ in $(seq 300); do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.1
    done
    fail "timeout while waiting for $what"
}

fact() { /usr/bin/python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$files/$1" "$2"; }

start_posthornd() {
    export POSTHORN_ADMIN_SOCKET="$files/admin.sock"
    posthornd --data-directory "$files/server" --listen 127.0.0.1:0 --admin-socket "$POSTHORN_ADMIN_SOCKET" \
        >"$files/posthornd.log" 2>&1 &
    home_processes=$!
    wait_for "posthornd" posthorn status
}
