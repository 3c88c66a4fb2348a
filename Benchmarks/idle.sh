#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures the cost of a connected agent and of an open panel while nothing arrives, and fails if the cost exceeds the limits.
#
#   Benchmarks/idle.sh
#
#   IDLE_SECONDS=180    the duration of the measurement
#   IDLE_BATTERY=yes    on battery, simulated with UPower from python3-dbusmock: the agent pings less often
#   IDLE_STRACE=FILE    also trace the agent with strace for the same time, and write the trace to this file
#   IDLE_TRAY=yes       show the agent's item in a tray
#   IDLE_PANEL=no           do not measure the panel, which needs Xvfb and strace
#   POSTHORN_PROGRAMS   the folder of posthornd, posthorn-agent and posthorn-panel; default: .build/release
#
# Uses its own server, session bus, system bus and display, all in a new directory, and changes nothing else on this machine.
set -eu
repository=$(cd "$(dirname "$0")/.." && pwd)
programs=${POSTHORN_PROGRAMS:-$repository/.build/release}
seconds=${IDLE_SECONDS:-180}
# By then the startup is complete, and the memory that only it needed is released.
settling=45
# A ping every 20 seconds wakes the agent twice: to send it, and for the answer. One more ping may fall into the
# period.
wakeups_max=$((seconds / 10 + 2))
# The panel has no timer of its own while nothing changes; the toolkit and the buses may wake it now and then.
panel_wakeups_max=$seconds
# The pages of files are shared with other programs, and the kernel takes them back when it needs memory.
own_max=6144

# shellcheck source=Benchmarks/processes.sh
. "$repository/Benchmarks/processes.sh"

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
if [ "${IDLE_TRAY:-no}" = yes ]; then
    # The tray ends with its standard input.
    mkfifo "$files/tray"
    exec 9<>"$files/tray"
    start tray.log sh -c 'exec /usr/bin/python3 "$1" <"$2"' sh "$repository/Tests/EndToEndTests/Providers/tray.py" "$files/tray"
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

# Prints the CPU time in nanoseconds and the number of sleeps of all threads of a process.
counters() {
    for task in /proc/"$1"/task/*; do
        cut -d ' ' -f 1 "$task/schedstat"
        sed -n 's/^voluntary_ctxt_switches:[^0-9]*/wakeups /p' "$task/status"
    done | awk '$1 == "wakeups" { wakeups += $2; next } { cpu += $1 } END { printf "%.0f %d\n", cpu, wakeups }'
}
[ "${IDLE_TRAY:-no}" = no ] || wait_for agent.log "event=tray_item shown=true"
before=$(counters "$agent")
sleep "$seconds"
after=$(counters "$agent")
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
    printf "agent\nCPU       %.1f ms in %d s, %.4f %%; at most 0.1 %%\n", cpu, seconds, cpu / seconds / 10
    printf "wake-ups  %d, at most %d\n", wakeups, wakeups_max
    printf "memory    %.1f MB private, at most %.1f MB; %.1f MB resident with the pages of files\n",
        own / 1024, own_max / 1024, resident / 1024
    exit cpu / seconds / 10 > 0.1 || wakeups > wakeups_max || own > own_max
}'
[ "${IDLE_PANEL:-yes}" = yes ] || exit 0

Xvfb -displayfd 3 -screen 0 1280x800x24 -nolisten tcp -noreset 3>"$files/display" >"$files/Xvfb.log" 2>&1 &
processes="$! $processes"
for _ in $(seq 100); do
    [ -s "$files/display" ] && break
    sleep 0.2
done
DISPLAY=:$(cat "$files/display")
export DISPLAY GSETTINGS_BACKEND=memory GSK_RENDERER=cairo GTK_A11Y=none XDG_DATA_HOME="$files/data"
start panel.log "$programs/posthorn-panel"
panel=${processes%% *}
sleep "$settling"
[ -d "/proc/$panel" ] || { cat "$files/panel.log" >&2; exit 1; }
before=$(counters "$panel")
sleep "$seconds"
after=$(counters "$panel")
# Each frame needs at least one message to the display.
timeout "$seconds" strace -f -e trace=write,writev,sendto,sendmsg -o "$files/trace" -p "$panel" 2>/dev/null || true
messages=$(grep -c "writev\|sendmsg\|sendto" "$files/trace" || true)
resident=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$panel/status")
echo "$before $after" | awk -v seconds="$seconds" -v resident="$resident" -v messages="$messages" \
    -v wakeups_max="$panel_wakeups_max" '{
    cpu = ($3 - $1) / 1e6
    wakeups = $4 - $2
    printf "panel\nCPU       %.1f ms in %d s, %.4f %%; at most 0.1 %%\n", cpu, seconds, cpu / seconds / 10
    printf "wake-ups  %d, at most %d\n", wakeups, wakeups_max
    printf "display   %d messages, at most 0, so no frame is drawn\n", messages
    printf "memory    %.1f MB resident\n", resident / 1024
    exit cpu / seconds / 10 > 0.1 || wakeups > wakeups_max || messages > 0
}'
