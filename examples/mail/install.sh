#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs or removes Example Mail for this user.

set -eu

usage() {
    cat <<'TEXT'
Usage: install.sh [--prefix DIR] [--uninstall]

Installs Example Mail in $XDG_DATA_HOME (default: ~/.local/share), where
desktops look for the apps of a user.

  --prefix DIR  Install in DIR/share instead; DIR is for example /usr/local.
  --uninstall   Remove Example Mail.
  -h, --help    Show this help and exit.
TEXT
}

fail() {
    printf 'install.sh: %s\n  %s\n' "$1" "$2" >&2
    exit "${3:-1}"
}

# Replaces @PROGRAM@ in a template with the program's path.
fill_in() {
    # In a replacement, sed interprets & and \, and | ends it.
    replacement=$(printf '%s\n' "$program" | sed 's/[&|\\]/\\&/g')
    sed "s|@PROGRAM@|$replacement|" "$1" >"$2.new"
    chmod 644 "$2.new"
    mv "$2.new" "$2"
}

# Notifies the desktop and the bus, so that they find the app immediately.
announce() {
    if command -v update-desktop-database >/dev/null; then
        update-desktop-database -q "$data/applications" || true
    fi
    if [ -n "${DBUS_SESSION_BUS_ADDRESS:-}" ] && command -v dbus-send >/dev/null; then
        dbus-send --session --type=method_call --dest=org.freedesktop.DBus / org.freedesktop.DBus.ReloadConfig || true
    fi
}

data=
uninstall=no
while [ $# -gt 0 ]; do
    case $1 in
    --prefix)
        [ $# -ge 2 ] || fail '--prefix requires a directory' "Run 'install.sh --help' for usage." 2
        data=$2/share
        shift
        ;;
    --prefix=*) data=${1#--prefix=}/share ;;
    --uninstall) uninstall=yes ;;
    -h | --help)
        usage
        exit 0
        ;;
    *) fail "unknown option $1" "Run 'install.sh --help' for usage." 2 ;;
    esac
    shift
done

if [ -z "$data" ]; then
    data=${XDG_DATA_HOME:-${HOME:?neither XDG_DATA_HOME nor HOME is set}/.local/share}
fi
case $data in
/*) ;;
*) data=$(pwd)/$data ;;
esac
# shellcheck disable=SC1003 # The backslash is one of the characters.
case $data in
*['"$`\']*) fail "$data contains a character that is not allowed in desktop files" 'Choose another directory.' ;;
esac

source=$(cd -- "$(dirname -- "$0")" && pwd)
program=$data/example-mail/example-mail
desktop=$data/applications/org.example.Mail.desktop
service=$data/dbus-1/services/org.example.Mail.service
icon=$data/icons/hicolor/scalable/apps/org.example.Mail.svg
# The agent looks for these files: see docs/reference/app-manifest.md.
manifest=$data/posthorn/apps/org.example.Mail.json
sounds=$data/posthorn/sounds/org.example.Mail
texts=$data/posthorn/texts/org.example.Mail

if [ "$uninstall" = yes ]; then
    rm -f -- "$program" "$desktop" "$service" "$icon" "$manifest" "$sounds/new-mail.wav" "$texts/en.json" \
        "$texts/de.json"
    rmdir -- "$data/example-mail" "$sounds" "$texts" 2>/dev/null || true
    announce
    echo "Removed Example Mail from $data."
    exit 0
fi

mkdir -p -- "$data/example-mail" "$data/applications" "$data/dbus-1/services" "$data/icons/hicolor/scalable/apps" \
    "$data/posthorn/apps" "$sounds" "$texts"
cp -- "$source/example-mail" "$program.new"
chmod 755 "$program.new"
mv -- "$program.new" "$program"
cp -- "$source/org.example.Mail.svg" "$icon"
cp -- "$source/org.example.Mail.json" "$manifest"
cp -- "$source/texts/en.json" "$source/texts/de.json" "$texts/"
"$source/make-sound" "$sounds/new-mail.wav"
fill_in "$source/org.example.Mail.desktop.in" "$desktop"
fill_in "$source/org.example.Mail.service.in" "$service"
announce
echo "Installed Example Mail in $data."
