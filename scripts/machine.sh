#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Boots a clean Debian 12 with systemd and Xfce on a virtual screen, and follows the README: it installs the packages, adds an app,
# enrols a device and sends a notification. Text recognition must find the notification on the screen. Then the script follows the rest
# of docs/tutorial/packages.md, and upgrades the packages under load. Needs root, and the packages of scripts/packages.sh. The last
# picture of the screen is .build/machine.png.
#
#   UPGRADE_RATE    notifications a second during the upgrade; default 2000
#
# The script calls itself: `prepare DIRECTORY` installs the desktop, `systemd DIRECTORY` becomes the machine's first process.
set -eu
cd "$(dirname "$0")/.."
script=scripts/machine.sh
# shellcheck source=scripts/debian-root.sh
. scripts/debian-root.sh

# Writes the code blocks of a page to files such as $files/page/04-root. The text before a block says "as root" or "as the user".
# Skips blocks before the first of these words, and blocks before a heading that starts with $2.
split_page() {
    rm -rf "$files/page"
    mkdir "$files/page"
    awk -v directory="$files/page" -v heading="## $2" '
        index($0, heading) == 1 { wanted = 1 }
        /[Aa]s root/ { role = "root" }
        /[Aa]s the user/ { role = "ann" }
        /^```/ { path = "" }
        path != "" { print >path }
        wanted && role != "" && /^```sh/ { path = sprintf("%s/%02d-%s", directory, ++count, role) }
    ' "$1"
}

# Runs the blocks of the page, but takes the command `posthorn agent enrol` from the output of `posthorn enrol`.
follow_page() {
    for block in "$files"/page/*; do
        sed -i "s#^posthorn agent enrol.*#${enrol:-unknown}#" "$block"
        follow "${block##*-}" "$(cat "$block")"
        found=$(sed -n 's/^ *\(posthorn agent enrol .*\)/\1/p' "$files/output.txt")
        enrol=${found:-${enrol:-}}
    done
}

# Prints a block, and runs it in a shell as root or as the user of the desktop.
follow() {
    printf '%s\n' "$2" | sed "s/^/$1: /"
    case $1 in
        root) on_machine sh -euc "cd /srv/packages; $2" ;;
        ann) as_ann sh -euc "$2" ;;
    esac >"$files/output.txt" 2>&1 || { cat "$files/output.txt"; fail "a command of the page failed"; }
    grep -v '^Setting up\|^Unpacking\|^Preparing\|^Selecting' "$files/output.txt" || true
}

as_ann() {
    on_machine setpriv --reuid=ann --regid=ann --init-groups env HOME=/srv/ann USER=ann DISPLAY=:7 XDG_RUNTIME_DIR=/run/user/1000 \
        DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus "$@"
}

start_desktop() {
    on_machine systemd-run --quiet --unit=desktop --uid=ann --property=PAMName=login --property=WorkingDirectory=/srv/ann \
        --setenv=HOME=/srv/ann --setenv=USER=ann --setenv=LOGNAME=ann --setenv=XDG_SESSION_TYPE=x11 --setenv=DISPLAY=:7 \
        sh -c 'Xvfb :7 -screen 0 1280x800x24 -nolisten tcp & sleep 2; exec startxfce4'
    wait_for "the desktop" as_ann sh -c 'xdotool search --class xfce4-panel && pgrep xfce4-notifyd'
}

# Takes pictures of the screen for some seconds, because an alert disappears after ten, and then reads them until one has the text.
# The text is in the upper right corner. Tesseract is fastest with one thread. Sets $seen to the time of the picture.
expect_on_screen() {
    for _ in 1 2 3 4 5; do
        for number in $(seq -w 30); do
            as_ann import -window root png:- >"$files/screen-$number.png"
            sleep 0.3
        done
        for number in $(seq -w 30); do
            if on_machine sh -c 'convert - -crop 420x400+860+0 -scale 200% png:- | OMP_THREAD_LIMIT=1 tesseract - - 2>/dev/null' \
                <"$files/screen-$number.png" | grep -qi "$1"; then
                cp "$files/screen-$number.png" .build/machine.png
                seen=$(stat -c %Y "$files/screen-$number.png")
                return
            fi
        done
    done
    cp "$files/screen-30.png" .build/machine.png
    fail "'$1' did not appear on the screen; see .build/machine.png"
}

follow_readme() {
    start=$(date +%s)
    split_page README.md Install
    follow_page
    expect_on_screen "The backup is done"
    say "the notification was on the screen $((seen - start)) seconds after the first command"
}

# Starts at step 4 of the tutorial, because its first three steps are those of the README.
follow_tutorial() {
    split_page docs/tutorial/packages.md 4
    follow_page
    expect_on_screen "The backup of tonight is done"
}

upgrade_under_load() {
    cat >"$files/debian/etc/posthorn/posthornd.ini" <<INI
[devices]
open_enrolment = yes
[quotas]
stranger_enrolments = 0
team_bad_tokens = 0
device_streams = 0
INI
    on_machine systemctl restart posthornd
    mkdir "$files/debian/srv/upgrade"
    cp .build/deb-upgrade/*.deb "$files/debian/srv/upgrade"
    enter="nsenter --target $machine --all"
    UPGRADE_ENTER="$enter" nsenter --target "$machine" --net \
        env UPGRADE_COMMAND="$enter sh -c 'cd /srv/upgrade && apt-get -q -o Dpkg::Options::=--force-confold install ./*.deb'" \
        Benchmarks/upgrade.sh
    on_machine dpkg-query -W posthorn-server | grep upgrade
}

# The server closes the former port, also in the service manager, before it opens another address at the same port.
change_port() {
    printf '[server]\nlisten = *:2198\n' >"$files/debian/etc/posthorn/posthornd.ini"
    on_machine systemctl restart posthornd
    status=0
    on_machine curl -sk -o /dev/null --max-time 10 https://localhost:2197/ || status=$?
    [ $status -eq 7 ] || fail "connections to the former port are not refused"
    printf '[server]\nlisten = 127.0.0.1:2198\n' >"$files/debian/etc/posthorn/posthornd.ini"
    on_machine systemctl restart posthornd
    on_machine curl -sk -o /dev/null --max-time 10 https://127.0.0.1:2198/
}

has_no_session() { ! on_machine pgrep --euid ann && ! on_machine systemctl is-active user@1000.service; }

# Starts a new session of the user, which starts the agent, and sends a notification with the upgraded server.
start_next_session() {
    on_machine systemctl stop desktop
    on_machine loginctl terminate-user ann || true
    on_machine pkill -KILL --euid ann || true
    wait_for "the end of the session" has_no_session
    start_desktop
    wait_for "the agent" as_ann systemctl --user is-active posthorn-agent
    on_machine posthorn send org.example.Backup "The upgrade is done."
    expect_on_screen "The upgrade is done."
}

case ${1:-} in
    '')
        for directory in .build/deb .build/deb-upgrade; do
            [ -d "$directory" ] || fail "$directory is missing; run 'make packages'"
        done
        files=$(mktemp -d)
        trap 'as_root rm -rf --one-file-system "$files"' EXIT
        trap 'exit 130' INT TERM
        as_root unshare --mount --pid --fork --kill-child --mount-proc "$PWD/$script" prepare "$files"
        say "passed"
        ;;
    prepare)
        files=$2
        root=$files/debian
        make_debian
        printf 'APT::Install-Recommends "false";\nAPT::Get::Assume-Yes "true";\nDpkg::Use-Pty "false";\n' >"$root/etc/apt/apt.conf.d/91test"
        say "install a desktop"
        inside apt-get -q update >"$files/desktop.log"
        inside apt-get -q install systemd-sysv libpam-systemd dbus-user-session xfce4-session xfwm4 xfce4-panel \
            xfce4-notifyd xvfb imagemagick tesseract-ocr xdotool procps >>"$files/desktop.log" 2>&1
        inside useradd --create-home --home-dir /srv/ann --shell /bin/bash ann
        mkdir "$root/srv/packages"
        cp .build/deb/*.deb "$root/srv/packages"
        # The machine has no network, so the dependencies are in the cache of apt.
        inside sh -euc "cd /srv/packages; $(sed -n 's/^apt-get install/& --download-only/p' README.md); apt-get -q --download-only \
            install curl" >>"$files/desktop.log" 2>&1
        umount "$root/proc" "$root/sys"
        trap 'status=$?; [ $status -eq 0 ] || on_machine journalctl --no-pager --lines=40; halt_debian; exit $status' EXIT
        boot_debian
        start_desktop
        follow_readme
        follow_tutorial
        upgrade_under_load
        start_next_session
        change_port
        ;;
    systemd)
        files=$2
        root=$files/debian
        exec_systemd machine
        ;;
    *) fail "unknown argument '$1'" ;;
esac
