#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the built programs and their files, or removes them: install.sh install|uninstall
#
# The installation first writes all files to a temporary directory. If a program or a tool is missing, nothing is installed.
#
#   DESTDIR     a directory that is prepended to each path, for packagers; the running system is then not notified
#   PREFIX      the prefix of programs and data, also in units and D-Bus files; default /usr
#   SYSCONFDIR  the directory of the configuration, which is never overwritten or removed; default /etc
#   PARTS       one or more of server, device, and machine (one agent for a whole machine); default "server device"
#   BUILD       the directory of the built programs; default .build/release
set -eu
cd "$(dirname "$0")/.."

task=${1:?specify install or uninstall}
DESTDIR=${DESTDIR:-}
PREFIX=${PREFIX:-/usr}
SYSCONFDIR=${SYSCONFDIR:-/etc}
PARTS=${PARTS:-server device}
BUILD=${BUILD:-.build/release}

fail() { printf 'install: %s\n' "$*" >&2; exit 1; }

has() { case " $PARTS " in *" $1 "*) true ;; *) false ;; esac; }

# Prepares or removes one file. Arguments: the destination, the mode, and the command that prints the content.
file() {
    destination=$1
    mode=$2
    shift 2
    if [ "$task" = uninstall ]; then
        rm -f "$DESTDIR$destination"
        return
    fi
    mkdir -p "$files$(dirname "$destination")"
    "$@" >"$files$destination" || fail "cannot make $destination; nothing was installed"
    chmod "$mode" "$files$destination"
}

# Moves the prepared files to their destinations. Each file is replaced at once.
move_files() {
    (cd "$files" && find . -type f) | sort | while read -r path; do
        target=$DESTDIR/${path#./}
        mkdir -p "$(dirname "$target")"
        cp -p "$files/$path" "$target.new"
        mv -f "$target.new" "$target"
    done
}

# Returns whether all programs exist and start, and msgfmt is there, before the first file is prepared.
check() {
    for program in "$@"; do
        [ -x "$BUILD/$program" ] || fail "$BUILD/$program does not exist; run 'make build' first"
        "$BUILD/$program" --version >/dev/null ||
            fail "$BUILD/$program does not start; install the libraries that docs/how-to/install.md names"
    done
    ! has device || command -v msgfmt >/dev/null || fail "msgfmt not found; install the package gettext"
}

with_prefix() { sed "s|/usr/bin/posthorn|$PREFIX/bin/posthorn|" "$1"; }

catalogue() { msgfmt --check --output-file=- "$1"; }

# Installs a program with its completions and the named pages of the manual, which the program generates.
program() {
    name=$1
    shift
    file "$PREFIX/bin/$name" 755 cat "$BUILD/$name"
    file "$PREFIX/share/bash-completion/completions/$name" 644 "$BUILD/$name" --generate bash
    file "$PREFIX/share/zsh/vendor-completions/_$name" 644 "$BUILD/$name" --generate zsh
    file "$PREFIX/share/fish/vendor_completions.d/$name.fish" 644 "$BUILD/$name" --generate fish
    for page in "$@"; do
        file "$PREFIX/share/man/man${page##*.}/$page" 644 "$BUILD/$name" --generate "$page"
    done
}

data() { file "$PREFIX/$2/${1##*/}" 644 cat "$1"; }

unit() { file "$PREFIX/lib/systemd/$2/$1" 644 with_prefix "deploy/systemd/$1"; }

command_line() { program posthorn posthorn.1; }

server() {
    program posthornd posthornd.8 posthornd.ini.5
    unit posthornd.service system
    unit posthornd.socket system
    for path in deploy/monitoring/*; do data "$path" share/posthorn/monitoring; done
    [ "$task" = uninstall ] || [ -e "$DESTDIR$SYSCONFDIR/posthorn/posthornd.ini" ] ||
        file "$SYSCONFDIR/posthorn/posthornd.ini" 644 cat deploy/posthornd.ini
}

device() {
    program posthorn-agent posthorn-agent.1 posthorn-agent.ini.5
    program posthorn-panel posthorn-panel.1
    unit posthorn-agent.service user
    file "$SYSCONFDIR/xdg/autostart/org.posthorn.Agent.desktop" 644 cat deploy/autostart/org.posthorn.Agent.desktop
    for name in org.posthorn.Agent1 org.posthorn.Panel; do
        file "$PREFIX/share/dbus-1/services/$name.service" 644 with_prefix "deploy/dbus/$name.service"
    done
    for path in deploy/dbus/*.xml; do data "$path" share/dbus-1/interfaces; done
    data deploy/applications/org.posthorn.Panel.desktop share/applications
    data deploy/metainfo/org.posthorn.Panel.metainfo.xml share/metainfo
    for path in deploy/icons/hicolor/*/apps/*.svg; do
        folder=${path#deploy/}
        data "$path" "share/${folder%/*}"
    done
    data deploy/sounds/posthorn/index.theme share/sounds/posthorn
    for path in deploy/sounds/posthorn/stereo/*; do data "$path" share/sounds/posthorn/stereo; done
    for path in po/*.po; do
        language=$(basename "$path" .po)
        file "$PREFIX/share/locale/$language/LC_MESSAGES/posthorn-panel.mo" 644 catalogue "$path"
    done
}

machine() {
    unit posthorn-agent-system.service system
    data deploy/sysusers/posthorn-agent.conf lib/sysusers.d
    data deploy/dbus/org.posthorn.Agent1.conf share/dbus-1/system.d
}

# Removes the directories of our own if they are empty.
remove_folders() {
    for folder in share/sounds/posthorn/stereo share/sounds/posthorn share/posthorn/monitoring share/posthorn; do
        rmdir "$DESTDIR$PREFIX/$folder" 2>/dev/null || true
    done
}

tell_desktop() {
    [ -z "$DESTDIR" ] || return 0
    if command -v gtk-update-icon-cache >/dev/null; then
        gtk-update-icon-cache --quiet --ignore-theme-index "$PREFIX/share/icons/hicolor" || true
    fi
    if command -v update-desktop-database >/dev/null; then
        update-desktop-database --quiet "$PREFIX/share/applications" || true
    fi
}

# Prepares or removes the files of all parts.
parts() {
    if has server; then server; fi
    if has device; then device; fi
    if has machine; then machine; fi
}

case $task in install | uninstall) ;; *) fail "unknown task '$task'; specify install or uninstall" ;; esac
for part in $PARTS; do
    case $part in server | device | machine) ;; *) fail "unknown part '$part' in PARTS; choose from server, device and machine" ;; esac
done
if [ "$task" = install ]; then
    # shellcheck disable=SC2046  # Word splitting is intended.
    check posthorn $(if has server; then echo posthornd; fi; if has device; then echo posthorn-agent posthorn-panel; fi)
    files=$(mktemp -d)
    trap 'rm -rf "$files"' EXIT
    command_line
    parts
    move_files
else
    parts
    # The command line stays while another part that needs it is installed.
    [ -e "$DESTDIR$PREFIX/bin/posthornd" ] || [ -e "$DESTDIR$PREFIX/bin/posthorn-agent" ] || command_line
    remove_folders
fi
if has device; then tell_desktop; fi
