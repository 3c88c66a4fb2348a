#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Takes pictures of the panel's screens, light and dark side by side, as .pictures/panel-*.png. Check them by eye and copy them to
# docs/images. The arguments select screens; without arguments, the script takes all. SIZES, for example "360x640 1920x1080", takes
# each screen on screens of these sizes instead, light, dark, and with text at twice its size. The script uses a temporary
# directory, and stops its programs at the end. POSTHORN_PROGRAMS is the directory of the programs.
set -eu
cd "$(dirname "$0")/.."
script=panel-pictures
. scripts/stage.sh

make_key() {
    posthorn key create --output "$files/key.p8" --json >"$files/key.json"
}

# Starts a virtual desktop of the given size in pixels.
start_desktop() {
    folder="$files/desktop"
    rm -rf "$folder"
    mkdir -p "$folder/services" "$folder/data/applications"
    mkdir -m 700 "$folder/run"
    export HOME="$folder" XDG_RUNTIME_DIR="$folder/run" XDG_CONFIG_HOME="$folder/config" XDG_STATE_HOME="$folder/state" \
        XDG_CACHE_HOME="$folder/cache" XDG_DATA_HOME="$folder/data" XDG_DATA_DIRS="$folder/data:/usr/share" \
        GSETTINGS_BACKEND=memory GSK_RENDERER=cairo GTK_A11Y=atspi LANG=C.UTF-8 \
        POSTHORN_LOCALE_DIR="$files/locale" DBUS_SESSION_BUS_ADDRESS="unix:path=$folder/bus"
    unset WAYLAND_DISPLAY
    Xvfb -displayfd 3 -screen 0 "$1x24" -nolisten tcp -noreset 3>"$folder/display" >"$files/Xvfb.log" 2>&1 &
    processes="$! $processes"
    wait_for "a display" test -s "$folder/display"
    DISPLAY=:$(cat "$folder/display")
    export DISPLAY
    start_bus
    start openbox
    # Without a notification server, alerts would wait for one.
    start /usr/bin/python3 Tests/EndToEndTests/Providers/notification_daemon.py "$folder/notified.json"
    convert -size "$1" gradient:'#4b6190'-'#93acc9' "$files/background.png"
}

start_bus() {
    cat >"$folder/bus.conf" <<TEXT
<busconfig><type>session</type><listen>unix:path=$folder/bus</listen><auth>EXTERNAL</auth>
<servicedir>$folder/services</servicedir>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>
TEXT
    printf '[D-BUS Service]\nName=org.a11y.Bus\nExec=/usr/libexec/at-spi-bus-launcher\n' >"$folder/services/a.service"
    printf '[D-BUS Service]\nName=org.posthorn.Panel\nExec=%s/posthorn-panel --service\n' "$programs" \
        >"$folder/services/panel.service"
    start dbus-daemon --config-file="$folder/bus.conf" --nofork --nopidfile
    wait_for "the bus" test -S "$folder/bus"
}

start_agent() {
    mkdir -p "$folder/data/sounds" "$folder/data/icons/hicolor/scalable"
    ln -s "$root/deploy/sounds/posthorn" "$folder/data/sounds/posthorn"
    cp -r "$root/deploy/icons/hicolor/." "$folder/data/icons/hicolor/" 2>/dev/null || true
    examples/mail/install.sh >/dev/null
    start posthorn-agent
    wait_for "the agent" posthorn agent status
    posthorn enrol --json >"$files/enrolment.json"
    posthorn agent enrol "$(fact enrolment.json server_url)" "$(fact enrolment.json code)" >/dev/null
    add_app org.example.Mail
}

# Registers an app. For an app other than the example, creates a .desktop file with a name and an icon of the theme first.
add_app() {
    if [ $# -gt 1 ]; then
        printf '[Desktop Entry]\nType=Application\nName=%s\nIcon=%s\nExec=true\n' "$2" "$3" \
            >"$folder/data/applications/$1.desktop"
    fi
    posthorn app add "$1" >/dev/null 2>&1 || true
    posthorn register "$1" >"$folder/$1.token"
}

add_apps() {
    add_app org.example.Calendar Calendar x-office-calendar
    add_app org.example.Chat Chat user-available
    add_app org.example.Backups Backups drive-harddisk
    add_app org.example.Doors Doors camera-video
    add_app org.example.Builds Builds applications-engineering
    add_app org.example.Contacts Contacts x-office-address-book
    add_app org.example.Printers Printers printer
    posthorn settings set org.example.Backups sound off >/dev/null
    posthorn settings set org.example.Chat alert alert >/dev/null
    posthorn settings set org.example.Printers alert none >/dev/null
}

# Sends a payload to an app, and waits until it is in the inbox.
push() {
    count=$(entry_count)
    printf '%s' "$2" | posthorn send --key "$files/key.p8" --key-id "$(fact key.json key_id)" --topic "$1" \
        --token "$(cat "$folder/$1.token")" --payload - >/dev/null
    wait_for "a notification" has_more_than "$count"
}

entry_count() { posthorn inbox list --json | grep -o '"entry"' | wc -l; }
has_more_than() { [ "$(entry_count)" -gt "$1" ]; }

alert() { printf '{"aps": {"alert": {"title": "%s", "body": "%s"}, "badge": %s}}' "$1" "$2" "$3"; }

fill_inbox() {
    push org.example.Printers "$(alert "Paper" "The printer on the second floor has no paper." 1)"
    push org.example.Backups "$(alert "Backup Complete" "All 14 computers are backed up." 0)"
    push org.example.Calendar "$(alert "Team Meeting" "Begins at 14:00 in the blue room." 2)"
    push org.example.Mail "$(alert "Anna" "Lunch at noon? The new place has opened." 1)"
    push org.example.Mail "$(alert "Ben" "The report is ready." 2)"
    push org.example.Doors "$(alert "Front Door" "A parcel was left at the door." 1)"
    push org.example.Mail "$(alert "Clara" "Pictures of Saturday." 1284)"
    push org.example.Builds "$(alert "Release 4.2" "The build failed in 3 of 40 tests." 3)"
    posthorn inbox read 3 >/dev/null 2>&1 || true
}

hands() { scripts/panel-hands.py "$@" || { posthorn inbox list --limit 3 >&2; fail "$*"; }; }

open_panel() {
    close_panel
    mkdir -p "$XDG_STATE_HOME/posthorn"
    rm -f "$XDG_STATE_HOME/posthorn/panel.ini"
    if fills_screen; then printf '[panel]\nmaximized=true\n' >"$XDG_STATE_HOME/posthorn/panel.ini"; fi
    start posthorn-panel "$@"
    hands wait tab ""
    sleep 1 # The layout changes once more when the agent's data arrives.
}

fills_screen() {
    case $mode in
    small | *x*) true ;;
    *) false ;;
    esac
}

# Stops the panel, whether this script or the bus started it.
close_panel() {
    panel=$(panel_process)
    [ -n "$panel" ] || return 0
    kill "$panel"
    wait_for "the end of the panel" has_no_panel
}

panel_process() {
    gdbus call --session -d org.freedesktop.DBus -o /org/freedesktop/DBus \
        -m org.freedesktop.DBus.GetConnectionUnixProcessID org.posthorn.Panel 2>/dev/null | grep -o '[0-9][0-9]*,' |
        tr -d ','
}

has_no_panel() { [ -z "$(panel_process)" ]; }

# Saves the panel's windows after animations have ended. Without a compositor GTK draws no round corners and no shadows, so the script
# adds them in the usual style of desktops.
picture() {
    xdotool mousemove 2 2
    sleep 1
    import -window root "$files/screen.png"
    if fills_screen && [ "$1" != alert ]; then
        cp "$files/screen.png" "$files/$1-$mode.png"
        return
    fi
    cp "$files/background.png" "$files/picture.png"
    for frame in $(scripts/panel-hands.py windows); do add_window "$frame"; done
    if fills_screen; then
        cp "$files/picture.png" "$files/$1-$mode.png"
    else
        convert "$files/picture.png" -crop "$(bounds)" +repage "$files/$1-$mode.png"
    fi
}

# Copies a window, given as WIDTHxHEIGHT+X+Y, from the screen to the picture.
add_window() {
    size=${1%%+*}
    convert "$files/screen.png" -crop "$1" +repage \
        \( -size "$size" xc:black -fill white \
        -draw "roundrectangle 0,0,$((${size%x*} - 1)),$((${size#*x} - 1)),12,12" \) \
        -alpha off -compose CopyOpacity -composite "$files/window.png"
    convert "$files/window.png" -background black -shadow 55x9+0+5 "$files/shadow.png"
    place=${1#*+}
    convert "$files/picture.png" "$files/shadow.png" -geometry "+$((${place%+*} - 18))+$((${place#*+} - 13))" \
        -composite "$files/window.png" -geometry "+$place" -composite "$files/picture.png"
}

# Prints the area of all windows, with a margin.
bounds() {
    scripts/panel-hands.py windows | awk -F '[x+]' '
        NR == 1 { left = $3; top = $4; right = $3 + $1; bottom = $4 + $2 }
        { if ($3 < left) left = $3; if ($4 < top) top = $4
          if ($3 + $1 > right) right = $3 + $1; if ($4 + $2 > bottom) bottom = $4 + $2 }
        END { printf "%dx%d+%d+%d", right - left + 60, bottom - top + 60, left - 30, top - 30 }'
}

# The screens. The panel is closed before and after each of them.

screen_alert() {
    posthorn settings set org.example.Mail alert alert >/dev/null
    push org.example.Mail "$(alert "Anna" "Dinner at seven? I found us a table." 2)"
    hands wait button View
    picture alert
    hands click button Close
    posthorn settings set org.example.Mail alert banner >/dev/null
}

# An alert with the app's own actions, one of which accepts a text.
screen_reply() {
    posthorn settings set org.example.Mail alert alert >/dev/null
    push org.example.Mail '{"aps": {"category": "MAIL", "badge": 3,
        "alert": {"title": "Ben", "body": "Is the report ready? The board meets at four."}}}'
    hands wait button Reply
    picture reply-before
    hands click button Reply
    hands wait "text box" Reply
    xdotool type "I sent it at noon."
    picture reply-typed
    convert "$files/reply-before-$mode.png" "$files/reply-typed-$mode.png" -background none -gravity center -append \
        "$files/reply-$mode.png"
    hands click button Close
    posthorn settings set org.example.Mail alert banner >/dev/null
}

screen_notifications() { open_panel; picture notifications; close_panel; }
screen_entry() { open_panel; hands click button Details; picture entry; close_panel; }
screen_apps() { open_panel; hands click tab Apps; picture apps; close_panel; }
screen_settings() { open_panel --settings; picture settings; close_panel; }

screen_app() {
    open_panel --settings
    hands click "list item" "Example Mail"
    hands wait switch Badges
    picture app
    close_panel
}

screen_sound() {
    open_panel --settings
    hands click "list item" "Example Mail"
    hands click "list item" Sound
    hands wait "list item" "No Sound"
    picture sound
    close_panel
}

screen_quiet() {
    posthorn settings set do-not-disturb on >/dev/null
    posthorn settings set schedule "mon tue wed thu fri 22:00-07:00, sat sun 23:00-09:00" >/dev/null
    open_panel --settings
    hands click "list item" "Do Not Disturb"
    hands wait switch "Do Not Disturb"
    picture quiet
    close_panel
    posthorn settings set do-not-disturb off >/dev/null
    posthorn settings set schedule none >/dev/null
}

screen_sheet() {
    open_panel
    hands click button Menu
    hands wait "menu item" "Clear All"
    xdotool key Down Return
    hands wait button Cancel
    picture sheet
    close_panel
}

screen_empty() { posthorn inbox clear --yes >/dev/null; open_panel; picture empty; close_panel; }

screen_pairing() {
    posthorn agent unenrol --local >/dev/null
    open_panel --settings
    hands click button Pair
    hands wait button Cancel
    xdotool type "https://push.example.org"
    picture pairing
    close_panel
}

screen_chinese() { take_language zh_TW chinese; }

screen_german() { take_language de german; }

take_language() {
    export LANGUAGE="$1"
    open_panel
    picture "$2"
    close_panel
    unset LANGUAGE
}

# The states in which no notification can arrive. They end the server, so they are the last screens of a desktop.

screen_disconnected() {
    stop_server
    wait_for "the end of the connection" has_problem unreachable
    open_panel
    picture disconnected
    close_panel
}

# Another server answers at the address of the enrolment.
screen_other_server() {
    stop_server
    mv "$files/server" "$files/server-of-the-enrolment"
    start posthornd --data-directory "$files/server" --listen "127.0.0.1:$(server_port)" \
        --admin-socket "$POSTHORN_ADMIN_SOCKET"
    other=${processes%% *}
    wait_for "another server" posthorn status
    wait_for "its certificate" has_problem wrong-server
    open_panel
    picture other-server-list
    hands click button "This is not the server"
    picture other-server-settings
    close_panel
    convert "$files/other-server-list-$mode.png" "$files/other-server-settings-$mode.png" -background none -append \
        "$files/other_server-$mode.png"
    kill "$other"
    wait_for "the end of the other server" has_no_server
    rm -r "$files/server"
    mv "$files/server-of-the-enrolment" "$files/server"
}

stop_server() {
    has_no_server && return
    kill "$home_processes"
    wait_for "the end of the server" has_no_server
}

has_no_server() { ! posthorn status >/dev/null 2>&1; }
has_problem() { posthorn agent status --json | grep -q "\"problem\": *\"$1\""; }
server_port() { fact enrolment.json server_url | sed 's/.*://; s/[^0-9].*//'; }

take() {
    mode=$1
    size=$2
    shift 2
    processes=
    if has_no_server; then start_posthornd; fi
    (
        case $mode in
        *dark) export ADW_DEBUG_COLOR_SCHEME=prefer-dark ;;
        esac
        trap 'status=$?; stop "$processes"; exit $status' EXIT
        start_desktop "$size"
        case $mode in
        *large) xprop -root -f RESOURCE_MANAGER 8s -set RESOURCE_MANAGER "Xft.dpi:	192" ;;
        esac
        start_agent
        add_apps
        fill_inbox
        for screen in "$@"; do "screen_$screen"; done
    )
}

# Joins the light and the dark picture, and reduces the colors to keep the file small.
join() {
    for screen in "$@"; do
        picture=.pictures/panel-$(echo "$screen" | tr _ -).png
        convert "$files/$screen-light.png" "$files/$screen-dark.png" +append -strip -depth 8 +dither -colors 250 \
            "$picture"
        echo "$picture"
    done
}

# Takes pictures of the usual size, light and dark side by side, on one desktop for each.
take_usual() {
    for mode in light dark; do take "$mode" 500x720 "$@"; done
    join "$@"
}

# Takes pictures on small screens, in portrait and landscape.
take_small() {
    for size in 320x480 480x320; do
        take small "$size" notifications app alert
        convert "$files/notifications-small.png" "$files/app-small.png" "$files/alert-small.png" -bordercolor white \
            -border 5 +append -strip -depth 8 +dither \
            -colors 250 ".pictures/panel-$size.png"
        echo ".pictures/panel-$size.png"
    done
}

# Takes pictures of a wide window, light above dark.
take_wide() {
    size=1920x1080
    for mode in light dark; do take "$size-$mode" "$size" notifications; done
    convert "$files/notifications-$size-light.png" "$files/notifications-$size-dark.png" -append -strip -depth 8 +dither \
        -colors 250 ".pictures/panel-$size.png"
    echo ".pictures/panel-$size.png"
}

# Takes pictures with text at twice its size on a small screen.
take_large() {
    take 360x640-large 360x640 notifications settings alert
    convert "$files/notifications-360x640-large.png" "$files/settings-360x640-large.png" "$files/alert-360x640-large.png" \
        -bordercolor white -border 5 +append -strip -depth 8 +dither -colors 250 .pictures/panel-large-text.png
    echo .pictures/panel-large-text.png
}

# Takes pictures on screens of the given sizes, which the window fills.
take_sizes() {
    for size in $SIZES; do
        for mode in light dark large; do take "$size-$mode" "$size" "$@"; done
        for screen in "$@"; do
            for mode in light dark large; do
                convert "$files/$screen-$size-$mode.png" -strip -depth 8 +dither -colors 250 \
                    ".pictures/panel-$screen-$size-$mode.png"
            done
            echo ".pictures/panel-$screen-$size-*.png"
        done
    done
}

[ -x "$programs/posthorn-panel" ] || fail "$programs contains no programs; run 'swift build' first"
mkdir -p .pictures
for language in de zh_TW; do
    mkdir -p "$files/locale/$language/LC_MESSAGES"
    msgfmt "po/$language.po" -o "$files/locale/$language/LC_MESSAGES/posthorn-panel.mo"
done
start_posthornd
make_key
if [ -n "${SIZES-}" ]; then
    [ $# -gt 0 ] || set -- notifications apps settings app entry alert
    take_sizes "$@"
    exit
fi
if [ $# -gt 0 ]; then
    take_usual "$@"
    exit
fi
take_small
take_wide
take_large
take_usual notifications entry apps settings app sound quiet sheet chinese german alert reply disconnected other_server
take_usual empty pairing
