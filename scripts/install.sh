#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the built programs and their files, or removes them: install.sh install|uninstall
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

# Installs or removes one file. Arguments: the command that prints the content, its argument, the destination, the mode.
file() {
    target=$DESTDIR$3
    if [ "$task" = uninstall ]; then
        rm -f "$target"
        return
    fi
    mkdir -p "$(dirname "$target")"
    "$1" "$2" >"$target.new"
    chmod "$4" "$target.new"
    mv -f "$target.new" "$target"
}

with_prefix() { sed "s|/usr/bin/posthorn|$PREFIX/bin/posthorn|" "$1"; }

completion() { "$BUILD/posthorn" completion "$1"; }

catalogue() { msgfmt --check --output-file=- "$1"; }

program() {
    [ "$task" = uninstall ] || [ -x "$BUILD/$1" ] || fail "$BUILD/$1 does not exist; run 'make build' first"
    file cat "$BUILD/$1" "$PREFIX/bin/$1" 755
}

data() { file cat "$1" "$PREFIX/$2/${1##*/}" 644; }

unit() { file with_prefix "deploy/systemd/$1" "$PREFIX/lib/systemd/$2/$1" 644; }

shared() {
    program posthorn
    file completion bash "$PREFIX/share/bash-completion/completions/posthorn" 644
    file completion zsh "$PREFIX/share/zsh/vendor-completions/_posthorn" 644
    file completion fish "$PREFIX/share/fish/vendor_completions.d/posthorn.fish" 644
}

server() {
    program posthornd
    unit posthornd.service system
    [ "$task" = uninstall ] || [ -e "$DESTDIR$SYSCONFDIR/posthorn/posthornd.ini" ] ||
        file cat deploy/posthornd.ini "$SYSCONFDIR/posthorn/posthornd.ini" 644
}

device() {
    program posthorn-agent
    program posthorn-panel
    unit posthorn-agent.service user
    for name in org.posthorn.Agent1 org.posthorn.Panel; do
        file with_prefix "deploy/dbus/$name.service" "$PREFIX/share/dbus-1/services/$name.service" 644
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
        [ -e "$path" ] || continue
        language=$(basename "$path" .po)
        file catalogue "$path" "$PREFIX/share/locale/$language/LC_MESSAGES/posthorn-panel.mo" 644
    done
}

machine() {
    unit posthorn-agent-system.service system
    data deploy/sysusers/posthorn-agent.conf lib/sysusers.d
    data deploy/dbus/org.posthorn.Agent1.conf share/dbus-1/system.d
}

# Removes the directories of our own if they are empty.
remove_folders() {
    for folder in share/sounds/posthorn/stereo share/sounds/posthorn; do
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

case $task in install | uninstall) ;; *) fail "unknown task '$task'; specify install or uninstall" ;; esac
for part in $PARTS; do
    case $part in server | device | machine) ;; *) fail "unknown part '$part' in PARTS; choose from server, device and machine" ;; esac
done
if has server; then server; fi
if has device; then device; fi
if has machine; then machine; fi
if [ "$task" = install ]; then
    shared
else
    # The command line stays while another part that needs it is installed.
    [ -e "$DESTDIR$PREFIX/bin/posthornd" ] || [ -e "$DESTDIR$PREFIX/bin/posthorn-agent" ] || shared
    remove_folders
fi
if has device; then tell_desktop; fi
