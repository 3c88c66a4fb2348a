#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures the time from the panel's start to its first frame on the screen, compared with a bare libadwaita window. The
# two are opened in turn, so that both run under the same conditions.
#
#   Benchmarks/panel-opening.sh
#
#   OPENING_RUNS=15      the number of times that each is opened
#   OPENING_ENTRIES=1000 the number of notifications in the inbox
#   OPENING_APPS=200     the number of apps that they belong to
#   POSTHORN_PROGRAMS    the folder of the programs; default: .build/release
#
# Uses its own screen, bus, server and agent, all in a new directory, and changes nothing else on this machine.
# Requires Xvfb, dbus-daemon, a C compiler and the headers of libadwaita.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
programs=${POSTHORN_PROGRAMS:-$root/.build/release}
runs=${OPENING_RUNS:-15}
entries=${OPENING_ENTRIES:-1000}
apps=${OPENING_APPS:-200}

# shellcheck source=Benchmarks/processes.sh
. "$root/Benchmarks/processes.sh"

# shellcheck disable=SC2046
cc -O2 -Wall -Wextra -Werror -o "$files/opening" "$root/Benchmarks/Baselines/opening.c" \
    $(pkg-config --cflags --libs libadwaita-1 x11 xdamage)

mkdir -m 700 "$files/run"
export HOME="$files" XDG_RUNTIME_DIR="$files/run" XDG_CONFIG_HOME="$files/config" XDG_STATE_HOME="$files/state" \
    XDG_DATA_HOME="$files/data" XDG_CACHE_HOME="$files/cache" DBUS_SESSION_BUS_ADDRESS="unix:path=$files/bus" \
    GSETTINGS_BACKEND=memory GSK_RENDERER=cairo GTK_A11Y=none LANG=C.UTF-8
unset WAYLAND_DISPLAY PULSE_SERVER || true
start Xvfb.log Xvfb -displayfd 1 -screen 0 1024x768x24 -nolisten tcp -noreset
wait_for Xvfb.log '^[0-9]'
DISPLAY=:$(grep -m 1 '^[0-9]' "$files/Xvfb.log")
export DISPLAY
start bus.log dbus-daemon --session --nofork --print-address --address="unix:path=$files/bus"
wait_for bus.log unix:

export POSTHORN_ADMIN_SOCKET="$files/admin.sock"
start server.log "$programs/posthornd" --data-directory "$files/server" --listen 127.0.0.1:0 --names 127.0.0.1 \
    --open-enrolment yes --admin-socket "$POSTHORN_ADMIN_SOCKET"
wait_for server.log event=listening
POSTHORN_AGENT_URL=$(sed -n 's/.*event=listening url=\([^ ]*\).*/\1/p' "$files/server.log")
export POSTHORN_AGENT_URL POSTHORN_AGENT_CA_FILE="$files/server/authority.pem"
start agent.log "$programs/posthorn-agent"
wait_for agent.log event=connected

posthorn() { "$programs/posthorn" "$@"; }
posthorn key create --output "$files/key.p8" --json >"$files/key.json"
key=$(sed -n 's/.*"key_id": *"\([^"]*\)".*/\1/p' "$files/key.json")
posthorn settings set inbox-count "$((entries + 1))" >/dev/null
echo "making $apps apps and $entries notifications" >&2
for app in $(seq "$apps"); do
    posthorn app add "org.example.app$app" >/dev/null
    posthorn register "org.example.app$app" --name "App $app" >"$files/$app.token"
done
for number in $(seq "$entries"); do
    app=$((number % apps + 1))
    posthorn send --key "$files/key.p8" --key-id "$key" --topic "org.example.app$app" --token "$(cat "$files/$app.token")" \
        --title "Notification $number" --body "What number $number has to say, in some words more." >/dev/null
done
posthorn inbox list --limit "$entries" --json | grep -o '"entry":' | wc -l >"$files/count"
[ "$(cat "$files/count")" -eq "$entries" ] || { echo "the inbox has $(cat "$files/count") entries" >&2; exit 1; }

# The first run of each is not counted, since it reads programs and libraries from the disk.
for run in $(seq 0 "$runs"); do
    window=$("$files/opening" measure "$files/opening" window)
    panel=$("$files/opening" measure "$programs/posthorn-panel")
    [ "$run" -eq 0 ] || echo "$window $panel" >>"$files/times"
done
median() { cut -d ' ' -f "$1" "$files/times" | sort -n | awk '{ time[NR] = $1 } END { print time[int((NR + 1) / 2)] }'; }
echo "$(median 1) $(median 4) $(median 5) $(median 6)" | awk -v runs="$runs" -v entries="$entries" -v apps="$apps" '{
    printf "%d runs, %d entries, %d apps; medians in ms\n", runs, entries, apps
    printf "                           ms   ratio\n"
    printf "bare window          %8.0f\n", $1
    printf "panel, first frame   %8.0f %7.2f\n", $2, $2 / $1
    printf "panel, with its list %8.0f %7.2f\n", $3, $3 / $1
    printf "panel, last frame    %8.0f %7.2f\n", $4, $4 / $1
}'
