#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Shows the whole way of a notification, from an unmodified APNs client to a desktop: see `make demo`.
# Everything lives in a temporary directory and ends with the script; pictures are left in .demo/.
# POSTHORN_PROGRAMS names a directory of programs to use instead of building them.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
files=$(mktemp -d "${TMPDIR:-/tmp}/posthorn-demo.XXXXXX")
processes=

finish() {
    status=$?
    trap - EXIT INT TERM
    for process in $processes; do kill "$process" 2>/dev/null || true; done
    wait
    [ $status -eq 0 ] || { printf '\nThe demonstration failed. Logs:\n'; tail -n 5 "$files"/*.log; } >&2
    rm -rf "$files"
    exit $status
}
trap finish EXIT
trap 'exit 130' INT TERM

if [ -t 1 ]; then bold='\033[1m' plain='\033[0m'; else bold='' plain=''; fi
step() { printf "\n$bold%s$plain\n" "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }

# Prints a word as a shell takes it: as it is, or in quotes.
quoted() {
    case $1 in
    '' | *[!A-Za-z0-9_./:@%+=,-]*) printf "'%s'" "$(printf '%s\n' "$1" | sed "s/'/'\\\\''/g")" ;;
    *) printf '%s' "$1" ;;
    esac
}

# Runs a command for the reader to see, and to copy.
show() {
    printf '  $'
    for word in "$@"; do printf ' %s' "$(quoted "$word")"; done
    printf '\n'
    "$@" | sed 's/^/    /'
}

# Starts a program that runs until the end of the demonstration; its log is named after it.
start() {
    "$@" >"$files/$(basename "$1").log" 2>&1 &
    processes="$! $processes"
}

# Waits until a command succeeds.
wait_for() {
    what=$1
    shift
    for _ in $(seq 150); do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.1
    done
    fail "Waited in vain: $what"
}

json() { .venv/bin/python -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

build() {
    step "1. Build"
    if [ -n "${POSTHORN_PROGRAMS:-}" ]; then
        programs=$(cd "$POSTHORN_PROGRAMS" && pwd)
        PATH=$programs:$PATH
        echo "  posthornd, posthorn-agent, posthorn-panel and posthorn of $POSTHORN_PROGRAMS are used."
        return
    fi
    for program in posthornd posthorn-agent posthorn posthorn-panel; do
        swift build --quiet --product "$program" || swift build --product "$program"
    done
    programs=$(swift build --show-bin-path)
    PATH=$programs:$PATH
    echo "  posthornd, posthorn-agent, posthorn-panel and posthorn are built."
}

start_server() {
    step "2. Start a server"
    export POSTHORN_ADMIN_SOCKET="$files/admin.sock"
    start posthornd --data-directory "$files/server" --listen 127.0.0.1:0 --admin-socket "$POSTHORN_ADMIN_SOCKET"
    wait_for "the server" posthorn status
    show posthorn app add org.example.Mail --name "Example Mail"
    posthorn key create --topic org.example.Mail --output "$files/key.p8" --json >"$files/key.json"
    posthorn enrol --json >"$files/enrolment.json"
    url=$(json server_url <"$files/enrolment.json")
    echo "  It serves $url with a certificate of its own authority."
}

has_notification_service() {
    dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner \
        string:org.freedesktop.Notifications 2>/dev/null | grep -q 'boolean true'
}

has_agent() {
    dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner \
        string:org.posthorn.Agent1 2>/dev/null | grep -q 'boolean true'
}

choose_desktop() {
    step "3. Find a desktop"
    export XDG_CONFIG_HOME="$files/config" XDG_STATE_HOME="$files/state" XDG_DATA_HOME="$files/data"
    mkdir -p "$XDG_CONFIG_HOME" "$XDG_STATE_HOME" "$XDG_DATA_HOME"
    if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && has_notification_service && ! has_agent; then
        desktop=yours
        echo "  Yours: the alerts appear where your notifications do."
    else
        desktop=virtual
        start_virtual_desktop
        echo "  None is here to use, so this is a virtual one, and pictures of it are saved."
    fi
}

start_virtual_desktop() {
    unset WAYLAND_DISPLAY
    export HOME="$files" XDG_RUNTIME_DIR="$files/run" XDG_CACHE_HOME="$files/cache" NO_AT_BRIDGE=1
    export GSETTINGS_BACKEND=keyfile XDG_DATA_DIRS="$files/data:/usr/local/share:/usr/share"
    mkdir -m 700 -p "$XDG_RUNTIME_DIR"
    Xvfb -displayfd 3 -screen 0 1024x720x24 -nolisten tcp 3>"$files/display" >"$files/Xvfb.log" 2>&1 &
    processes="$! $processes"
    wait_for "a display" test -s "$files/display"
    DISPLAY=:$(cat "$files/display")
    export DISPLAY
    install_panel
    start_bus
    start openbox
    convert -size 1024x720 gradient:'#31456e'-'#86a3c3' "$files/background.png"
    # It paints the background and then fails.
    display -window root "$files/background.png" 2>/dev/null || true
    start_sound_server
    install_example_app
    start /usr/lib/*/xfce4/notifyd/xfce4-notifyd
    wait_for "a notification daemon" has_notification_service
    start_dock
}

# Where the bus finds how to start it.
install_panel() {
    mkdir -p "$XDG_DATA_HOME/dbus-1/services" "$XDG_DATA_HOME/icons"
    cp -r deploy/icons/. "$XDG_DATA_HOME/icons/"
    printf '[D-BUS Service]\nName=org.posthorn.Panel\nExec=/usr/bin/env GSK_RENDERER=cairo %s --service\n' \
        "$programs/posthorn-panel" >"$XDG_DATA_HOME/dbus-1/services/org.posthorn.Panel.service"
}

start_bus() {
    dbus-daemon --session --nofork --nopidfile --print-address=3 3>"$files/bus" >"$files/dbus-daemon.log" 2>&1 &
    processes="$! $processes"
    wait_for "a message bus" test -s "$files/bus"
    DBUS_SESSION_BUS_ADDRESS=$(head -n 1 "$files/bus")
    export DBUS_SESSION_BUS_ADDRESS
}

# Plays into nothing, and writes down that it did.
start_sound_server() {
    export PULSE_SERVER="unix:$files/pulse" CANBERRA_DRIVER=pulse
    start pulseaudio -n --daemonize=no --exit-idle-time=-1 --use-pid-file=no --disable-shm=yes \
        --load="module-null-sink sink_name=silent" \
        --load="module-native-protocol-unix auth-anonymous=1 socket=$files/pulse"
    wait_for "a sound server" pactl info
    start pactl subscribe
}

# A dock with the app on it, which shows the badge.
start_dock() {
    mkdir -p "$XDG_CONFIG_HOME/plank/dock1/launchers"
    printf '[PlankDockItemPreferences]\nLauncher=file://%s\n' "$XDG_DATA_HOME/applications/org.example.Mail.desktop" \
        >"$XDG_CONFIG_HOME/plank/dock1/launchers/org.example.Mail.dockitem"
    start plank
}

install_example_app() { examples/mail/install.sh >/dev/null; }

enrol_device() {
    step "4. Start the agent, enrol this device, register an app"
    [ "$desktop" = virtual ] || install_example_app
    start posthorn-agent
    wait_for "the agent" posthorn agent status
    code=$(json code <"$files/enrolment.json")
    show posthorn agent enrol "$url" "$code"
    token=$(posthorn register org.example.Mail)
    echo "  Example Mail is registered. Its device token, for its back-end: $token"
}

# Sends with the APNs client, and waits until the person has it.
send() {
    echo "  An APNs library sends: $1"
    .venv/bin/python examples/send_with_aioapns.py --host 127.0.0.1 --port "${url##*:}" \
        --ca-file "$files/server/authority.pem" --key "$files/key.p8" --key-id "$(json key_id <"$files/key.json")" \
        --team-id "$(json team_id <"$files/key.json")" --topic org.example.Mail --token "$token" "$1" |
        sed 's/^/    The server answers: /'
    wait_for "the alert" newest_is_shown "$2"
}

newest_is_shown() { posthorn inbox list --limit 1 | grep -q "shown.*$1"; }

newest_is_closed() { posthorn inbox list --limit 1 | grep -q closed; }

sounds_played() { grep -c "'new' on sink-input" "$files/pactl.log" || true; }

# Saves what the virtual screen shows.
picture() {
    [ "$desktop" = virtual ] || return 0
    mkdir -p "$root/.demo"
    sleep 1.5 # Windows fade in.
    import -window root "$root/.demo/$1"
    echo "    What the person sees: .demo/$1. Sounds played so far: $(sounds_played)"
}

build
start_server
choose_desktop
enrol_device

step "5. Send a badge, a sound and an alert"
send '{"aps": {"alert": {"title": "Anna", "body": "Lunch at noon?"}, "badge": 3, "sound": "default"}}' \
    "Lunch at noon?"
picture alert.png

step "6. The person switches sounds off for Example Mail; the next one is silent"
show posthorn settings set org.example.Mail sound off
send '{"aps": {"alert": {"title": "Ben", "body": "The report is ready."}, "badge": 4, "sound": "default"}}' \
    "The report is ready."
picture alert-without-sound.png

# On a desktop of yours, it is the installed panel that would show it.
if [ "$desktop" = virtual ]; then
    step "7. The person wants alerts of Example Mail to stay until they are answered: the panel shows the next one"
    show posthorn settings set org.example.Mail alert alert
    send '{"aps": {"alert": {"title": "Clara", "body": "The train leaves at 18:04."}, "badge": 5}}' \
        "The train leaves"
    wait_for "the panel's alert" xdotool search --onlyvisible --name '^Example Mail$'
    picture panel-alert.png
    xdotool key Escape
    wait_for "its end" newest_is_closed
    echo "  Escape closes it. These are the panel's settings:"
    GSK_RENDERER=cairo start posthorn-panel --settings
    wait_for "the panel" xdotool search --onlyvisible --name '^Posthorn$'
    picture panel-settings.png
fi

step "8. What is in the inbox, and what the person decided"
show posthorn inbox list
show posthorn settings list

step "That was the whole way. Try next:"
printf '  export PATH=%s:"$PATH"\n' "$(quoted "$programs")"
cat <<'TEXT'
  posthornd --ephemeral --topic org.example.Mail    a server for the tests of your back-end
  docs/tutorial/first-notification.md               the same by hand, step by step
  posthorn --help                                   all that can be done
TEXT
