#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Takes a picture of the agent's item in the tray of Xfce, with its menu, on a light and a dark panel, as .pictures/tray.png. Check it by
# eye and copy it to docs/images. Needs the package xfce4-panel, which no test needs. The script uses a temporary directory, and stops
# its programs at the end. POSTHORN_PROGRAMS is the directory of the programs.
set -eu
cd "$(dirname "$0")/.."
script=tray-picture
. scripts/stage.sh
command -v xfce4-panel >/dev/null || fail "xfce4-panel is missing: apt-get install xfce4-panel"

start_desktop() {
    folder="$files/desktop-$1"
    mkdir -p "$folder/services" "$folder/data/applications" "$folder/data/icons"
    mkdir -m 700 "$folder/run"
    export HOME="$folder" XDG_RUNTIME_DIR="$folder/run" XDG_CONFIG_HOME="$folder/config" XDG_STATE_HOME="$folder/state" \
        XDG_CACHE_HOME="$folder/cache" XDG_DATA_HOME="$folder/data" XDG_DATA_DIRS="$folder/data:/usr/share" \
        GSETTINGS_BACKEND=memory NO_AT_BRIDGE=1 LANG=C.UTF-8 DBUS_SESSION_BUS_ADDRESS="unix:path=$folder/bus"
    unset WAYLAND_DISPLAY
    cp -r deploy/icons/hicolor "$folder/data/icons/"
    Xvfb -displayfd 3 -screen 0 520x250x24 -nolisten tcp -noreset 3>"$folder/display" >"$files/Xvfb.log" 2>&1 &
    processes="$! $processes"
    wait_for "a display" test -s "$folder/display"
    DISPLAY=:$(cat "$folder/display")
    export DISPLAY
    cat >"$folder/bus.conf" <<TEXT
<busconfig><type>session</type><listen>unix:path=$folder/bus</listen><auth>EXTERNAL</auth>
<servicedir>$folder/services</servicedir>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>
TEXT
    printf '[D-BUS Service]\nName=org.xfce.Xfconf\nExec=/usr/lib/x86_64-linux-gnu/xfce4/xfconf/xfconfd\n' \
        >"$folder/services/xfconf.service"
    start dbus-daemon --config-file="$folder/bus.conf" --nofork --nopidfile
    wait_for "the bus" test -S "$folder/bus"
    xsetroot -solid "#5b7296"
    start openbox
    start /usr/bin/python3 Tests/EndToEndTests/Providers/notification_daemon.py "$folder/notified.json"
}

start_tray() {
    settings="$XDG_CONFIG_HOME/xfce4/xfconf/xfce-perchannel-xml"
    mkdir -p "$settings"
    cat >"$settings/xfce4-panel.xml" <<TEXT
<channel name="xfce4-panel" version="1.0">
  <property name="panels" type="array">
    <value type="int" value="1"/>
    <property name="dark-mode" type="bool" value="$1"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=6;x=0;y=0"/>
      <property name="length" type="uint" value="100"/>
      <property name="position-locked" type="bool" value="true"/>
      <property name="size" type="uint" value="30"/>
      <property name="plugin-ids" type="array">
        <value type="int" value="1"/><value type="int" value="2"/><value type="int" value="3"/>
      </property>
    </property>
  </property>
  <property name="plugins" type="empty">
    <property name="plugin-1" type="string" value="separator">
      <property name="expand" type="bool" value="true"/><property name="style" type="uint" value="0"/>
    </property>
    <property name="plugin-2" type="string" value="systray"/>
    <property name="plugin-3" type="string" value="clock">
      <property name="digital-time-format" type="string" value="09:41"/>
      <property name="digital-layout" type="uint" value="3"/>
    </property>
  </property>
</channel>
TEXT
    start xfce4-panel --disable-wm-check
    wait_for "the item in the tray" has_item
}

has_item() {
    gdbus call --session -d org.kde.StatusNotifierWatcher -o /StatusNotifierWatcher \
        -m org.freedesktop.DBus.Properties.Get org.kde.StatusNotifierWatcher RegisteredStatusNotifierItems |
        grep -q StatusNotifierItem
}

# Registers an app with a name.
add_app() {
    printf '[Desktop Entry]\nType=Application\nName=%s\nExec=true\n' "$2" >"$XDG_DATA_HOME/applications/$1.desktop"
    posthorn app add "$1" >/dev/null 2>&1 || true
    posthorn register "$1" >"$folder/$1.token"
}

push() {
    posthorn send --key "$files/key.p8" --key-id "$(fact key.json key_id)" --topic "$1" \
        --token "$(cat "$folder/$1.token")" --title "$2" --body "$3" >/dev/null
    wait_for "$2" shows "$2"
}

shows() { posthorn inbox list --json | grep -q "$1"; }

take() {
    processes=
    (
        trap 'status=$?; stop "$processes"; exit $status' EXIT
        start_desktop "$1"
        start posthorn-agent
        wait_for "the agent" posthorn agent status
        posthorn enrol --json >"$files/enrolment.json"
        posthorn agent enrol "$(fact enrolment.json server_url)" "$(fact enrolment.json code)" >/dev/null
        add_app org.example.Mail "Example Mail"
        add_app org.example.Calendar Calendar
        add_app org.example.Backups Backups
        start_tray "$2"
        push org.example.Backups "Backup Complete" "All 14 computers are backed up."
        push org.example.Calendar "Team Meeting" "Begins at 14:00 in the blue room."
        push org.example.Mail "Anna" "Lunch at noon?"
        push org.example.Mail "Ben" "The report is ready."
        push org.example.Mail "Clara" "Pictures of Saturday."
        posthorn settings set do-not-disturb on >/dev/null
        sleep 1 # The item follows within half a second.
        open_menu
        import -window root "$files/tray-$1.png"
    )
}

# Opens the menu of the item, which is beside the clock. The menu's window has no name by which it can be found.
open_menu() {
    xdotool mousemove 474 15 click 3
    sleep 2
}

mkdir -p .pictures
start_posthornd
posthorn key create --output "$files/key.p8" --json >"$files/key.json"
take light false
take dark true
convert "$files/tray-light.png" "$files/tray-dark.png" +append -strip -depth 8 +dither -colors 250 .pictures/tray.png
echo .pictures/tray.png
