#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Demonstrates the path of a notification from an unmodified APNs client to a desktop: see `make demo`.
# The script uses a temporary directory and stops all programs at the end; the pictures stay in .demo/.
# POSTHORN_PROGRAMS is a directory of programs to use instead of building them.
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
    [ $status -eq 0 ] || { printf '\nThe demo failed. Logs:\n'; tail -n 5 "$files"/*.log; } >&2
    rm -rf "$files"
    exit $status
}
trap finish EXIT
trap 'exit 130' INT TERM

if [ -t 1 ]; then bold='\033[1m' plain='\033[0m'; else bold='' plain=''; fi
step() { printf "\n$bold%s$plain\n" "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }

# Prints a word for use in a shell, with quotes if necessary.
quoted() {
    case $1 in
    '' | *[!A-Za-z0-9_./:@%+=,-]*) printf "'%s'" "$(printf '%s\n' "$1" | sed "s/'/'\\\\''/g")" ;;
    *) printf '%s' "$1" ;;
    esac
}

# Prints a command in a form that the reader can copy, and runs it.
show() {
    printf '  $'
    for word in "$@"; do printf ' %s' "$(quoted "$word")"; done
    printf '\n'
    "$@" | sed 's/^/    /'
}

# Starts a program that runs until the end of the demo; its log has the program's name.
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
    fail "Timeout while waiting for $what"
}

json() { .venv/bin/python -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

build() {
    step "1. Build"
    if [ -n "${POSTHORN_PROGRAMS:-}" ]; then
        programs=$(cd "$POSTHORN_PROGRAMS" && pwd)
        PATH=$programs:$PATH
        echo "  Using posthornd, posthorn-agent, posthorn-panel and posthorn in $POSTHORN_PROGRAMS."
        return
    fi
    echo "  Building. The first time, this takes several minutes."
    for program in posthornd posthorn-agent posthorn posthorn-panel; do
        swift build --quiet --product "$program" || swift build --product "$program"
    done
    programs=$(swift build --show-bin-path)
    PATH=$programs:$PATH
    echo "  Built posthornd, posthorn-agent, posthorn-panel and posthorn."
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
    echo "  The server listens on $url with a certificate from its own authority."
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
    step "3. Choose a desktop"
    export XDG_CONFIG_HOME="$files/config" XDG_STATE_HOME="$files/state" XDG_DATA_HOME="$files/data"
    mkdir -p "$XDG_CONFIG_HOME" "$XDG_STATE_HOME" "$XDG_DATA_HOME"
    if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && has_notification_service && ! has_agent; then
        desktop=yours
        echo "  Using your desktop: the alerts appear like your other notifications."
    else
        desktop=virtual
        start_virtual_desktop
        echo "  No desktop is available. Using a virtual one and saving pictures of it."
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
    # This command paints the background and then fails.
    display -window root "$files/background.png" 2>/dev/null || true
    start_sound_server
    install_example_app
    start /usr/lib/*/xfce4/notifyd/xfce4-notifyd
    wait_for "a notification daemon" has_notification_service
    start_dock
}

# Installs the service file by which the bus starts the panel.
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

# Starts a sound server with a null sink, and logs each sound that plays.
start_sound_server() {
    export PULSE_SERVER="unix:$files/pulse" CANBERRA_DRIVER=pulse
    start pulseaudio -n --daemonize=no --exit-idle-time=-1 --use-pid-file=no --disable-shm=yes \
        --load="module-null-sink sink_name=silent" \
        --load="module-native-protocol-unix auth-anonymous=1 socket=$files/pulse"
    wait_for "a sound server" pactl info
    start pactl subscribe
}

# Starts a dock with a launcher for the app, which shows the badge.
start_dock() {
    mkdir -p "$XDG_CONFIG_HOME/plank/dock1/launchers"
    printf '[PlankDockItemPreferences]\nLauncher=file://%s\n' "$XDG_DATA_HOME/applications/org.example.Mail.desktop" \
        >"$XDG_CONFIG_HOME/plank/dock1/launchers/org.example.Mail.dockitem"
    start plank
}

install_example_app() { examples/mail/install.sh >/dev/null; }

enrol_device() {
    step "4. Start the agent, enrol this device, and register an app"
    [ "$desktop" = virtual ] || install_example_app
    start posthorn-agent
    wait_for "the agent" posthorn agent status
    code=$(json code <"$files/enrolment.json")
    show posthorn agent enrol "$url" "$code"
    token=$(posthorn register org.example.Mail)
    echo "  Example Mail is registered. The device token for its back-end: $token"
}

# Sends with the APNs client, and waits until the alert is shown.
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

# Saves a picture of the virtual screen.
picture() {
    [ "$desktop" = virtual ] || return 0
    mkdir -p "$root/.demo"
    sleep 1.5 # Windows fade in.
    import -window root "$root/.demo/$1"
    echo "    Picture of the screen: .demo/$1. Sounds played so far: $(sounds_played)"
}

build
start_server
choose_desktop
enrol_device

step "5. Send a badge, a sound and an alert"
send '{"aps": {"alert": {"title": "Anna", "body": "Lunch at noon?"}, "badge": 3, "sound": "default"}}' \
    "Lunch at noon?"
picture alert.png

step "6. Turn off the sounds of Example Mail: the next notification is silent"
show posthorn settings set org.example.Mail sound off
send '{"aps": {"alert": {"title": "Ben", "body": "The report is ready."}, "badge": 4, "sound": "default"}}' \
    "The report is ready."
picture alert-without-sound.png

# On your own desktop, the installed panel would show the alert, not the one that was built.
if [ "$desktop" = virtual ]; then
    step "7. Let the alerts of Example Mail stay until they are answered: the panel shows the next one"
    show posthorn settings set org.example.Mail alert alert
    send '{"aps": {"alert": {"title": "Clara", "body": "The train leaves at 18:04."}, "badge": 5}}' \
        "The train leaves"
    wait_for "the panel's alert" xdotool search --onlyvisible --name '^Example Mail$'
    picture panel-alert.png
    xdotool key Escape
    wait_for "the alert to close" newest_is_closed
    echo "  Escape closes the alert. The panel also has the settings:"
    GSK_RENDERER=cairo start posthorn-panel --settings
    wait_for "the panel" xdotool search --onlyvisible --name '^Posthorn$'
    picture panel-settings.png
fi

step "8. Show the inbox and the settings"
show posthorn inbox list
show posthorn settings list

step "The demo is complete. Next steps:"
printf '  export PATH=%s:"$PATH"\n' "$(quoted "$programs")"
cat <<'TEXT'
  posthornd --ephemeral --topic org.example.Mail    a temporary server for tests of your back-end
  docs/tutorial/first-notification.md               the same steps by hand
  posthorn --help                                   all commands
TEXT
