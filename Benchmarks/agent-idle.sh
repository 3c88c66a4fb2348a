#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Says what a connected agent costs while nothing comes, and fails when that is more than it may be.
#
#   Benchmarks/agent-idle.sh
#
#   IDLE_SECONDS=180    how long to look
#   IDLE_BATTERY=yes    on battery, as a UPower of python3-dbusmock says: the heartbeat grows rarer
#   IDLE_STRACE=FILE    also looks as long again with strace, and writes there what the agent did
#   POSTHORN_PROGRAMS   where posthornd and posthorn-agent are; .build/release
#
# A server, a session bus and a system bus of its own, all in a new directory; nothing of this machine's is touched.
set -eu
programs=${POSTHORN_PROGRAMS:-$(cd "$(dirname "$0")/.." && pwd)/.build/release}
seconds=${IDLE_SECONDS:-180}
# The start is over then, and what only it needed is given back.
settling=45
# A question every 20 seconds wakes the agent twice: to ask, and for the answer. One more is a chance meeting.
wakeups_max=$((seconds / 10 + 2))
resident_max=20480

files=$(mktemp -d)
processes=
trap 'kill $processes 2>/dev/null || true; rm -rf "$files"' EXIT
start() {
    log=$1
    shift
    "$@" >"$files/$log" 2>&1 &
    processes="$! $processes"
}
wait_for() {
    for _ in $(seq 100); do
        grep -q "$2" "$files/$1" 2>/dev/null && return
        sleep 0.2
    done
    cat "$files/$1" >&2
    exit 1
}

export HOME="$files" XDG_RUNTIME_DIR="$files" XDG_CONFIG_HOME="$files/config" XDG_STATE_HOME="$files/state"
export DBUS_SESSION_BUS_ADDRESS="unix:path=$files/session" DBUS_SYSTEM_BUS_ADDRESS="unix:path=$files/system"
unset DISPLAY WAYLAND_DISPLAY PULSE_SERVER || true
for bus in session system; do
    start "$bus.log" dbus-daemon --session --nofork --print-address --address="unix:path=$files/$bus"
    wait_for "$bus.log" unix:
done
if [ "${IDLE_BATTERY:-no}" = yes ]; then
    start upower.log /usr/bin/python3 -m dbusmock --system --template upower --parameters '{"OnBattery": true}'
    sleep 2
fi
start server.log "$programs/posthornd" --data-directory "$files/server" --listen 127.0.0.1:0 --names 127.0.0.1 \
    --open-enrolment yes
wait_for server.log event=listening
POSTHORN_AGENT_URL=$(sed -n 's/.*event=listening url=\([^ ]*\).*/\1/p' "$files/server.log")
export POSTHORN_AGENT_URL POSTHORN_AGENT_CA_FILE="$files/server/authority.pem"
start agent.log "$programs/posthorn-agent"
agent=${processes%% *}
wait_for agent.log event=connected
sleep "$settling"

# Nanoseconds on a processor, and how often the agent slept, of all its threads.
counters() {
    for task in /proc/"$agent"/task/*; do
        cut -d ' ' -f 1 "$task/schedstat"
        sed -n 's/^voluntary_ctxt_switches:[^0-9]*/wakeups /p' "$task/status"
    done | awk '$1 == "wakeups" { wakeups += $2; next } { cpu += $1 } END { printf "%.0f %d\n", cpu, wakeups }'
}
before=$(counters)
sleep "$seconds"
after=$(counters)
resident=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$agent/status")
own=$(sed -n 's/^RssAnon:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$agent/status")
if [ -n "${IDLE_STRACE:-}" ]; then
    timeout "$seconds" strace -f -r -o "$IDLE_STRACE" -p "$agent" 2>/dev/null || true
fi
grep -q event=disconnected "$files/agent.log" && { cat "$files/agent.log" >&2; exit 1; }
echo "$before $after" | awk -v seconds="$seconds" -v resident="$resident" -v own="$own" \
    -v wakeups_max="$wakeups_max" -v resident_max="$resident_max" '{
    cpu = ($3 - $1) / 1e6
    wakeups = $4 - $2
    printf "CPU       %.1f ms in %d s, %.4f %%; at most 0.1 %%\n", cpu, seconds, cpu / seconds / 10
    printf "wake-ups  %d, at most %d\n", wakeups, wakeups_max
    printf "resident  %.1f MB, %.1f MB of them not pages of files; at most %.1f MB\n",
        resident / 1024, own / 1024, resident_max / 1024
    exit cpu / seconds / 10 > 0.1 || wakeups > wakeups_max || resident > resident_max
}'
