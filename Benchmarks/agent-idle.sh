#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures the cost of a connected agent while nothing arrives, and fails if the cost exceeds the limits.
#
#   Benchmarks/agent-idle.sh
#
#   IDLE_SECONDS=180    the duration of the measurement
#   IDLE_BATTERY=yes    on battery, simulated with UPower from python3-dbusmock: the agent pings less often
#   IDLE_STRACE=FILE    also trace the agent with strace for the same time, and write the trace to this file
#   POSTHORN_PROGRAMS   the folder of posthornd and posthorn-agent; default: .build/release
#
# Uses its own server, session bus and system bus, all in a new directory, and changes nothing else on this machine.
set -eu
programs=${POSTHORN_PROGRAMS:-$(cd "$(dirname "$0")/.." && pwd)/.build/release}
seconds=${IDLE_SECONDS:-180}
# By then the startup is complete, and the memory that only it needed is released.
settling=45
# A ping every 20 seconds wakes the agent twice: to send it, and for the answer. One more ping may fall into the
# period.
wakeups_max=$((seconds / 10 + 2))
# The pages of files are shared with other programs, and the kernel takes them back when it needs memory.
own_max=6144

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

# Prints the CPU time in nanoseconds and the number of sleeps of all the agent's threads.
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
    -v wakeups_max="$wakeups_max" -v own_max="$own_max" '{
    cpu = ($3 - $1) / 1e6
    wakeups = $4 - $2
    printf "CPU       %.1f ms in %d s, %.4f %%; at most 0.1 %%\n", cpu, seconds, cpu / seconds / 10
    printf "wake-ups  %d, at most %d\n", wakeups, wakeups_max
    printf "memory    %.1f MB private, at most %.1f MB; %.1f MB resident with the pages of files\n",
        own / 1024, own_max / 1024, resident / 1024
    exit cpu / seconds / 10 > 0.1 || wakeups > wakeups_max || own > own_max
}'
