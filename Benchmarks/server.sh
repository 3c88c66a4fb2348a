#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures posthornd beside nghttpd, in turn and in the same run: notifications a second, and the processor's time for
# each. nghttpd only answers, with an empty file; posthornd checks, and stores durably for devices that are off. It is
# measured twice, with the payload checks of a new app (`warn`) and without them (`off`).
#
#   Benchmarks/server.sh [REQUESTS] [CONNECTIONS] [STREAMS] [ROUNDS]
set -eu
cd "$(dirname "$0")/.."
requests=${1:-100000}
connections=${2:-4}
streams=${3:-100}
rounds=${4:-3}
programs=${POSTHORN_PROGRAMS:-.build/release}
files=$(mktemp -d "${TMPDIR:-/tmp}/posthorn-bench.XXXXXX")
processes=

finish() {
    status=$?
    trap - EXIT INT TERM
    for process in $processes; do kill "$process" 2>/dev/null || true; done
    wait
    rm -rf "$files"
    exit $status
}
trap finish EXIT
trap 'exit 130' INT TERM

"$programs/posthornd" --ephemeral --log-level warning --open-enrolment yes --topic org.example.Bench \
    >"$files/line.json" 2>"$files/posthornd.log" &
server=$!
processes="$server $processes"
for _ in $(seq 300); do
    [ -s "$files/line.json" ] && break
    sleep 0.1
done

# Devices that are off, so many that none reaches its bound of 100 pending notifications; fresh ones for each round.
PYTHONPATH=Tests/EndToEndTests/Providers .venv/bin/python Benchmarks/enrol_devices.py "$files" \
    $((requests / 90 + 1)) $((2 * rounds))
printf '%s' '{"aps":{"alert":{"title":"Lunch Together","body":"At noon, the usual place. Bring the report, please."},"badge":3,' \
    '"sound":"default"},"order":{"id":420133,"table":4,"items":["coffee","coffee","cake"],"paid":false},' \
    '"trace":"4bf92f3577b34da6a3ce929d0e0e4736"}' >"$files/payload"

mkdir -p "$files/www/3/device"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
    -out "$files/cert.pem" -keyout "$files/key.pem" 2>/dev/null
cat "$files"/tokens.* | while read -r token; do : >"$files/www/3/device/$token"; done
nghttpd_port=$(($(cat "$files/port") + 1))
nghttpd --no-content-length -n "$(nproc)" -d "$files/www" "$nghttpd_port" "$files/key.pem" "$files/cert.pem" \
    >"$files/nghttpd.log" 2>&1 &
measure=$!
processes="$measure $processes"

ticks() { awk '{print $14 + $15}' "/proc/$1/stat"; }

# Prints: requests a second, microseconds of processor for each request, answers that were not 2xx.
run() {
    process=$1 port=$2 tokens=$3
    sed "s|^|https://127.0.0.1:$port/3/device/|" "$tokens" >"$files/addresses"
    before=$(ticks "$process")
    h2load -n "$requests" -c "$connections" -m "$streams" -t 1 -d "$files/payload" \
        -H "authorization: bearer $(cat "$files/token")" -H 'apns-topic: org.example.Bench' \
        -H 'apns-push-type: alert' -i "$files/addresses" >"$files/h2load.log" 2>&1
    after=$(ticks "$process")
    awk -v ticks=$((after - before)) -v hertz="$(getconf CLK_TCK)" -v requests="$requests" '
        /^finished in/ { rate = $4 }
        /^status codes:/ { good = $3 }
        END { printf "%.0f %.2f %d\n", rate, ticks / hertz / requests * 1e6, requests - good }' "$files/h2load.log"
}

# Prints a name and what run prints, for the app with these checks.
run_checked() {
    "$programs/posthorn" app set org.example.Bench --checks "$1" >/dev/null
    echo "$1 $(run "$server" "$(cat "$files/port")" "$2")"
}
POSTHORN_ADMIN_SOCKET=$(sed -n 's/.*"admin_socket":"\([^"]*\)".*/\1/p' "$files/line.json")
export POSTHORN_ADMIN_SOCKET

printf '%s requests, %s connections, %s streams each, payload of %s bytes, %s processors\n\n' "$requests" \
    "$connections" "$streams" "$(wc -c <"$files/payload")" "$(nproc)"
printf '%-6s %-10s %14s %20s %8s\n' round server requests/s 'CPU us/request' refused
for round in $(seq "$rounds"); do
    run_checked warn "$files/tokens.$((2 * round - 1))" >>"$files/results"
    run_checked off "$files/tokens.$((2 * round))" >>"$files/results"
    echo "nghttpd $(run "$measure" "$nghttpd_port" "$files/tokens.$round")" >>"$files/results"
    tail -n 3 "$files/results" | while read -r name rate cpu refused; do
        printf '%-6s %-10s %14s %20s %8s\n' "$round" "$name" "$rate" "$cpu" "$refused"
    done
done
awk '{ rate[$1] += $2; cpu[$1] += $3 }
     END { printf "\nposthornd (warn) / nghttpd: %.2f of the requests a second, %.2f times the CPU for each\n",
               rate["warn"] / rate["nghttpd"], cpu["warn"] / cpu["nghttpd"]
           printf "posthornd, warn / off: %.2f of the requests a second, %.2f times the CPU for each\n",
               rate["warn"] / rate["off"], cpu["warn"] / cpu["off"] }' "$files/results"
