#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Takes pictures of alerts on each installed notification server, in .pictures/. Check them by eye and copy SERVER.png to docs/images/.
# The arguments select servers; without arguments, the script uses all that are installed. The argument `readme` takes alert.png, the
# picture in README.md. mako and swaync run on sway, which does not start as root. In addition to
# scripts/packages-test.txt, install gnome-shell gjs plasma-workspace sway-notification-center. The script uses a temporary directory,
# and stops its programs at the end.
set -eu
cd "$(dirname "$0")/.."
script=pictures
. scripts/stage.sh
background='#5a7299'

make_key() {
    posthorn app add org.example.Mail --name "Example Mail" >/dev/null
    posthorn key create --topic org.example.Mail --output "$files/key.p8" --json >"$files/key.json"
}

# Starts a message bus, `session` or `system`. The bus starts no services.
bus() {
    cat >"$folder/$1.conf" <<TEXT
<busconfig><type>$1</type><listen>unix:path=$folder/$1.bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>
TEXT
    start dbus-daemon --config-file="$folder/$1.conf" --nofork --nopidfile
    wait_for "the $1 bus" test -S "$folder/$1.bus"
}

call() { gdbus call "$@" >/dev/null; }

# Starts a mock logind, whose session reports whether the screen is locked.
start_logind() {
    start /usr/bin/python3 -m dbusmock --template logind
    wait_for "logind" gdbus introspect --system -d org.freedesktop.login1 -o /org/freedesktop/login1
    call --system -d org.freedesktop.login1 -o /org/freedesktop/login1 \
        -m org.freedesktop.DBus.Mock.AddObject /org/freedesktop/login1/session/auto \
        org.freedesktop.login1.Session "{'LockedHint': <false>}" "@a(ssss) []"
}

set_locked() {
    call --system -d org.freedesktop.login1 -o /org/freedesktop/login1/session/auto \
        -m org.freedesktop.DBus.Mock.UpdateProperties org.freedesktop.login1.Session "{'LockedHint': <$1>}"
}

start_x() {
    size=${1:-800x600}
    Xvfb -displayfd 3 -screen 0 "${size}x24" -nolisten tcp -noreset 3>"$folder/display" >"$files/Xvfb.log" 2>&1 &
    processes="$! $processes"
    wait_for "a display" test -s "$folder/display"
    DISPLAY=:$(cat "$folder/display")
    export DISPLAY
    convert -size "$size" "xc:$background" "$folder/background.png"
    # This command paints the background and then fails.
    display -window root "$folder/background.png" 2>/dev/null || true
}

start_wayland() {
    printf 'output * resolution 800x600 bg %s solid_color\n' "$background" >"$folder/sway.conf"
    WLR_BACKENDS=headless WLR_RENDERER=pixman WLR_LIBINPUT_NO_DEVICES=1 start sway --config "$folder/sway.conf"
    wait_for "sway" test -S "$XDG_RUNTIME_DIR/wayland-1"
    export WAYLAND_DISPLAY=wayland-1
}

# Starts GNOME Shell in a window on X. Its notification service is a separate program.
start_gnome() {
    start_x
    MUTTER_DEBUG_DUMMY_MODE_SPECS=800x600 LIBGL_ALWAYS_SOFTWARE=1 start gnome-shell --nested --wayland
    wait_for "GNOME Shell" gdbus introspect --session -d org.gnome.Shell -o /org/gnome/Shell
    start gjs /usr/share/gnome-shell/org.gnome.Shell.Notifications
    sleep 3
    # Escape leaves the overview. As root, a warning appears first.
    xdotool mousemove 400 300 key Escape
    sleep 6
}

start_screen() {
    case $server in
    gnome-shell) start_gnome ;;
    mako | swaync) start_wayland ;;
    readme) start_x 380x224 ;;
    *) start_x ;;
    esac
}

# Starts a dock with a launcher for the example app.
start_plank() {
    mkdir -p "$XDG_CONFIG_HOME/plank/dock1/launchers"
    printf '[PlankDockItemPreferences]\nLauncher=file://%s\n' "$XDG_DATA_HOME/applications/org.example.Mail.desktop" \
        >"$XDG_CONFIG_HOME/plank/dock1/launchers/mail.dockitem"
    start /usr/libexec/bamf/bamfdaemon
    wait_for "bamf" gdbus introspect --session -d org.ayatana.bamf -o /org/ayatana/bamf/matcher
    start plank
    wait_for "plank" gdbus introspect --session -d com.canonical.Unity -o /
}

start_server() {
    case $server in
    xfce4-notifyd | readme) start /usr/lib/x86_64-linux-gnu/xfce4/notifyd/xfce4-notifyd ;;
    notification-daemon) start /usr/lib/notification-daemon/notification-daemon ;;
    gnome-shell) ;;
    # The notification service of Plasma is a widget, which can run without a panel.
    plasma) QT_QPA_PLATFORM=xcb QT_QUICK_BACKEND=software start plasmawindowed org.kde.plasma.notifications ;;
    *) start "$server" ;;
    esac
    server_process=$!
    wait_for "$server" gdbus introspect --session -d org.freedesktop.Notifications -o /org/freedesktop/Notifications
}

has_server() {
    case $1 in
    xfce4-notifyd) [ -x /usr/lib/x86_64-linux-gnu/xfce4/notifyd/xfce4-notifyd ] ;;
    notification-daemon) [ -x /usr/lib/notification-daemon/notification-daemon ] ;;
    mako | swaync) [ "$(id -u)" -ne 0 ] && command -v "$1" && command -v sway && command -v grim ;;
    readme) has_server xfce4-notifyd && has_server plank ;;
    gnome-shell) command -v gnome-shell && command -v gjs ;;
    plasma) command -v plasmawindowed ;;
    *) command -v "$1" ;;
    esac >/dev/null
}

start_agent() {
    start posthorn-agent
    wait_for "the agent" posthorn agent status
    posthorn enrol --json >"$files/enrolment.json"
    posthorn agent enrol "$(fact enrolment.json server_url)" "$(fact enrolment.json code)" >/dev/null
    token=$(posthorn register org.example.Mail)
}

push() {
    printf '%s' "$1" | posthorn send --key "$files/key.p8" --key-id "$(fact key.json key_id)" --topic org.example.Mail \
        --token "$token" --payload - >/dev/null
}

# Sends a payload, and waits until its alert was shown.
send() {
    count=$(posthorn inbox list --json | grep -o '"entry"' | wc -l)
    push "$1"
    wait_for "an alert" is_shown $((count + 1))
}

is_shown() {
    [ "$(posthorn inbox list --json | grep -o '"entry"' | wc -l)" -ge "$1" ] &&
        posthorn inbox list --limit 1 | grep -q shown
}

# Moves Plasma's popup onto the screen. Plasma places it next to the widget, partly off this screen, and soon moves it back.
move_popup() {
    for window in $(xdotool search --onlyvisible --class plasmawindowed); do
        eval "$(xdotool getwindowgeometry --shell "$window")"
        if [ "$WIDTH" -gt 300 ]; then xdotool windowmove "$window" 450 10 && sleep 0.5 && return; fi
        xdotool windowmove "$window" 0 599
    done
    false
}

picture() {
    left=300
    if [ "$server" = gnome-shell ]; then
        left=150
        xdotool mousemove 400 80 # An alert under the pointer expands.
    fi
    sleep 1.5 # Windows fade in.
    if [ "$server" = plasma ]; then wait_for "a popup" move_popup; fi
    if [ -n "${WAYLAND_DISPLAY:-}" ]; then grim "$folder/screen.png"; else import -window root "$folder/screen.png"; fi
    convert "$folder/screen.png" -crop "500x460+$left+0" +repage "$root/.pictures/$server-$1.png"
    echo ".pictures/$server-$1.png"
    posthorn inbox clear >/dev/null
    if [ "$server" = gnome-shell ]; then xdotool mousemove 400 500; fi
    # notification-daemon closes an alert, but its window stays.
    if [ "$server" = notification-daemon ]; then
        stop "$server_process"
        start_server
    fi
    sleep 1
}

scenes() {
    posthorn settings set org.example.Mail alert alert >/dev/null
    send '{"aps": {"alert": {"title": "Anna", "subtitle": "Team", "body": "Lunch at noon?"}}}'
    picture alert
    posthorn settings set org.example.Mail alert banner >/dev/null
    send '{"aps": {"alert": {"title": "Ben", "body": "The report is ready."}}}'
    picture banner
    send "$(/usr/bin/python3 scripts/hostile-payload.py)"
    picture hostile
    for text in "First" "Second" "Third"; do
        send '{"aps": {"alert": {"title": "Anna", "body": "'"$text"'"}, "thread-id": "lunch"}}'
    done
    picture thread
    set_locked true
    send '{"aps": {"alert": {"title": "Bank", "body": "Your code is 123456."}}}'
    picture locked
    set_locked false
}

# Joins three pictures, and reduces the colors to keep the file small.
join() {
    first=alert
    [ "$server" != plasma ] || first=banner # A persistent popup returns to its place too soon.
    montage ".pictures/$server-$first.png" ".pictures/$server-thread.png" ".pictures/$server-hostile.png" -tile 3x1 \
        -geometry +0+0 "$files/joined.png"
    convert "$files/joined.png" -strip -trim +repage -bordercolor "$background" -border 10 +dither -colors 250 \
        ".pictures/$server.png"
}

scene_of_badge() {
    start_plank
    push '{"aps": {"badge": 7}}'
    sleep 3
    import -window root "$folder/screen.png"
    convert "$folder/screen.png" -gravity south -crop 200x100+0+0 +repage "$root/.pictures/plank.png"
    echo ".pictures/plank.png"
}

# An alert and a badge on a small screen.
scene_of_readme() {
    start_plank
    send '{"aps": {"alert": {"title": "Anna", "body": "Lunch at noon?"}, "badge": 3}}'
    sleep 3
    import -window root "$files/screen.png"
    convert "$files/screen.png" -strip +dither -colors 250 "$root/.pictures/alert.png"
    echo ".pictures/alert.png"
}

take() {
    server=$1
    folder="$files/$server"
    processes=
    (
        export HOME="$folder/home" XDG_RUNTIME_DIR="$folder/run" XDG_CONFIG_HOME="$folder/home/.config" \
            XDG_STATE_HOME="$folder/home/state" XDG_CACHE_HOME="$folder/home/cache" \
            XDG_DATA_HOME="$folder/home/.local/share" NO_AT_BRIDGE=1 GSETTINGS_BACKEND=memory
        unset WAYLAND_DISPLAY DISPLAY
        mkdir -p "$HOME" "$XDG_DATA_HOME"
        mkdir -m 700 "$XDG_RUNTIME_DIR"
        export DBUS_SYSTEM_BUS_ADDRESS="unix:path=$folder/system.bus" \
            DBUS_SESSION_BUS_ADDRESS="unix:path=$folder/session.bus"
        trap 'status=$?; stop "$processes"; exit $status' EXIT
        bus system
        bus session
        start_logind
        examples/mail/install.sh >/dev/null
        start_screen
        if [ "$server" = plank ]; then
            start_agent
            scene_of_badge
            exit
        fi
        start_server
        start_agent
        if [ "$server" = readme ]; then scene_of_readme; else scenes; fi
    )
    case $server in plank | readme) ;; *) join ;; esac
}

[ -x "$programs/posthorn-agent" ] || fail "$programs contains no programs; run 'swift build' first"
mkdir -p .pictures
start_posthornd
make_key
for name in ${*:-dunst xfce4-notifyd notification-daemon mako swaync gnome-shell plasma plank readme}; do
    if has_server "$name"; then take "$name"; else echo "$name: skipped, because it is not installed or cannot run here"; fi
done
