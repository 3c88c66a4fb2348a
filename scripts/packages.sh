#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the packages in .build/deb: lintian, then a clean Debian 12 that installs, upgrades, removes and purges them from a signed
# repository. A notification travels from the server to the agent of a machine. Needs root.
#
#   BUILD    the directory of the built programs, from which a newer package is built; default .build/release
#
# The script calls itself: `prepare DIRECTORY` makes the system in mount and process namespaces of its own, so that no mount and
# no process outlives the test; `test DIRECTORY` tests without a network.
set -eu
cd "$(dirname "$0")/.."
script=scripts/packages.sh
old=$(dpkg-parsechangelog --show-field Version)
new=$old+upgrade1
packages='posthorn-server posthorn-agent posthorn-panel posthorn posthorn-doc'
# shellcheck source=scripts/debian-root.sh
. scripts/debian-root.sh

# Selects a repository, without the archives of Debian if there is no network.
use_repository() {
    umount "$root/srv/posthorn" 2>/dev/null || true
    mount --bind "$files/repository-$1" "$root/srv/posthorn"
    cp "$root/srv/posthorn/posthorn-archive-keyring.gpg" "$root/usr/share/keyrings"
    echo 'deb [signed-by=/usr/share/keyrings/posthorn-archive-keyring.gpg] file:/srv/posthorn bookworm main' \
        >"$root/etc/apt/sources.list.d/posthorn.list"
    inside apt-get -q update -o Dir::Etc::sourcelist=/etc/apt/sources.list.d/posthorn.list -o Dir::Etc::sourceparts=- \
        -o APT::Get::List-Cleanup=0
}

# Lists all files of the system, except those of dpkg and apt, caches, logs, and kernel file systems.
list_files() {
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./run -o -path ./tmp -o -path ./srv \
        -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/cache -o -path ./var/log \) -prune -o ! -type d -print \
        -o -path '*posthorn*' -print | sort)
}

# Checks that a package has a version and a state of dpkg, such as "install ok installed".
expect_package() {
    found=$(inside dpkg-query -W -f='${Version} ${Status}' "$1" 2>/dev/null || true)
    [ "$found" = "$2" ] || fail "$1 is '$found', not '$2'"
}

expect_all() { for package in $packages; do expect_package "$package" "$1"; done; }

expect_file() { [ -e "$root$1" ] || [ -h "$root$1" ] || fail "$1 is missing"; }

expect_no_file() { if [ -e "$root$1" ] || [ -h "$root$1" ]; then fail "$1 exists"; fi; }

# Starts the server as a user without rights, in the directories that its unit would make.
start_server() {
    install -d -m 700 -o 61234 -g 61234 "$root/var/lib/posthorn"
    install -d -m 755 -o 61234 -g 61234 "$root/run/posthorn"
    exec_inside STATE_DIRECTORY=/var/lib/posthorn RUNTIME_DIRECTORY=/run/posthorn POSTHORN_NAMES=localhost \
        setpriv --reuid=61234 --regid=61234 --clear-groups posthornd >"$files/posthornd.log" 2>&1 &
    server=$!
    wait_for "the server" inside posthorn status
}

# Starts the agent of the machine like its unit, on a system bus that reads the installed policy.
start_agent() {
    mkdir -p "$root/run/dbus"
    exec_inside dbus-daemon --system --nofork --nopidfile >"$files/dbus.log" 2>&1 &
    bus=$!
    wait_for "the system bus" test -S "$root/run/dbus/system_bus_socket"
    inside install -d -m 700 -o posthorn-agent -g posthorn-agent /var/lib/posthorn-agent
    exec_inside POSTHORN_AGENT_BUS=system XDG_CONFIG_HOME=/etc XDG_STATE_HOME=/var/lib/posthorn-agent \
        setpriv --reuid=posthorn-agent --regid=posthorn-agent --clear-groups posthorn-agent >"$files/agent.log" 2>&1 &
    agent=$!
    wait_for "the agent" on_device posthorn agent status
}

on_device() { inside POSTHORN_AGENT_BUS=system "$@"; }

is_connected() { on_device posthorn agent status --json | grep -q '"connected": *true'; }

stop() {
    for process in "$@"; do
        kill "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
}

send() {
    inside posthorn send --key "/tmp/AuthKey_$key.p8" --topic org.example.Test --token "$token" --title Lunch --body "$1"
    wait_for "the hook of '$1'" grep -qx "Lunch: $1" "$root/var/lib/posthorn-agent/alerts"
}

test_install() {
    say "install $old"
    inside apt-get -q -y install $packages
    expect_all "$old install ok installed"
    inside posthornd --check-config
    inside getent passwd posthorn-agent >/dev/null || fail "no user posthorn-agent"
    expect_file /etc/systemd/system/multi-user.target.wants/posthornd.service
    expect_file /etc/systemd/user/graphical-session.target.wants/posthorn-agent.service
    expect_no_file /etc/systemd/system/multi-user.target.wants/posthorn-agent-system.service
    for unit in posthornd:12 posthorn-agent-system:19; do
        path=/lib/systemd/system/${unit%:*}.service
        inside systemd-analyze security --offline=yes --threshold="${unit#*:}" "$path" >"$files/security.txt" ||
            fail "the exposure level of $path is above ${unit#*:} tenths"
        tail -n 1 "$files/security.txt"
        if inside systemd-analyze verify "$path" 2>&1 | grep posthorn; then fail "systemd-analyze verify reports $path"; fi
    done
    if inside systemd-analyze --user verify /usr/lib/systemd/user/posthorn-agent.service 2>&1 | grep posthorn; then
        fail "systemd-analyze verify reports the unit of users"
    fi
}

test_notification() {
    say "a notification"
    start_server
    inside posthorn status
    inside posthorn app add org.example.Test
    key=$(inside posthorn key create --topic org.example.Test --output /tmp --json | sed 's/.*"key_id": *"\([^"]*\)".*/\1/')
    mkdir -p "$root/etc/posthorn/hooks"
    cat >"$root/etc/posthorn/hooks/any" <<'HOOK'
#!/bin/sh
echo "$POSTHORN_TITLE: $POSTHORN_BODY" >>/var/lib/posthorn-agent/alerts
HOOK
    chmod 755 "$root/etc/posthorn/hooks/any"
    start_agent
    # The last line of `posthorn enrol` is the command to run on the device.
    # shellcheck disable=SC2046  # Word splitting is intended.
    on_device $(inside posthorn enrol | tail -n 1)
    wait_for "the connection of the agent" is_connected
    token=$(on_device posthorn register org.example.Test)
    send "before the upgrade"
}

test_upgrade() {
    say "upgrade to $new"
    use_repository both
    stop "$server"
    inside apt-get -q -y upgrade
    expect_all "$new install ok installed"
    start_server
    inside posthorn app list | grep -q org.example.Test || fail "the app is gone"
    wait_for "the connection of the agent" is_connected
    send "after the upgrade"
    stop "$server" "$agent" "$bus"
}

test_downgrade() {
    say "refusal to downgrade"
    if inside apt-get -q -y --allow-downgrades install "posthorn-server=$old" >"$files/downgrade.log" 2>&1; then
        fail "the downgrade was not refused"
    fi
    grep "cannot be replaced with the older version" "$files/downgrade.log" || fail "the refusal does not say why"
    grep -q "posthornd --restore DIRECTORY" "$files/downgrade.log" || fail "the refusal does not say what to do"
    expect_all "$new install ok installed"
    inside dpkg --audit
}

# Prints the paths in the table of the page that remain after a purge.
documented_rest() { sed -n '/^## Remove/,/^## /s/^| `\(\/var\/[^`]*\)` |.*/\1/p' docs/how-to/install.md | sort; }

test_removal() {
    say "remove"
    inside apt-get -q -y remove $packages
    for path in /etc/posthorn/posthornd.ini /var/lib/posthorn/posthorn.sqlite /var/lib/posthorn-agent; do expect_file "$path"; done
    for path in /usr/bin/posthorn /usr/bin/posthornd /usr/share/sounds/posthorn; do expect_no_file "$path"; done

    say "purge"
    rm -r "$root/etc/posthorn/hooks"
    inside apt-get -q -y purge $packages
    inside getent passwd posthorn-agent >/dev/null || fail "the user posthorn-agent is gone"
    rm "$root/usr/share/keyrings/posthorn-archive-keyring.gpg" "$root/etc/apt/sources.list.d/posthorn.list"
    list_files >"$files/after"
    comm -13 "$files/before" "$files/after" |
        sed 's|^\.||; s|^\(/var/lib/posthorn\(-agent\)*\)/.*|\1|' | sort -u >"$files/rest"
    documented_rest >"$files/documented"
    diff -u "$files/documented" "$files/rest" ||
        fail "other files remain than docs/how-to/install.md says (-: documented, +: found)"
    if comm -23 "$files/before" "$files/after" | grep .; then fail "the removal also removed other files"; fi
    say "these remain, as documented: $(tr '\n' ' ' <"$files/rest")"
}

case ${1:-} in
    '')
        say "lintian"
        lintian --allow-root --fail-on error,warning --display-level '>=warning' .build/deb/posthorn_"$old"_*.changes
        appstreamcli validate --no-net deploy/metainfo/org.posthorn.Panel.metainfo.xml
        say "build $new"
        # Neither the sources nor debug symbols nor compression matter for the upgrade.
        OUTPUT=.build/deb-upgrade KIND=binary DEB_BUILD_OPTIONS=noautodbgsym DPKG_DEB_COMPRESSOR_TYPE=none scripts/deb.sh "$new" \
            >.build/deb-upgrade.log 2>&1 || { cat .build/deb-upgrade.log; exit 1; }
        files=$(mktemp -d)
        trap 'as_root rm -rf --one-file-system "$files"' EXIT
        trap 'exit 130' INT TERM
        REPOSITORY=$files/repository-old scripts/repository.sh
        REPOSITORY=$files/repository-both scripts/repository.sh
        PACKAGES=.build/deb-upgrade REPOSITORY=$files/repository-both scripts/repository.sh
        as_root unshare --mount --pid --fork --kill-child --mount-proc "$PWD/$script" prepare "$files"
        say "passed"
        ;;
    prepare)
        files=$2
        root=$files/debian
        make_debian
        printf 'APT::Install-Recommends "false";\nDpkg::Use-Pty "false";\n' >"$root/etc/apt/apt.conf.d/91test"
        # No service starts while packages are installed.
        printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
        chmod 755 "$root/usr/sbin/policy-rc.d"
        mkdir -p "$root/srv/posthorn"
        inside apt-get -q update
        inside apt-get -q -y dist-upgrade
        use_repository old
        # All dependencies of the packages are installed first, so that the rest needs no network.
        # shellcheck disable=SC2086  # Word splitting is intended.
        inside apt-get -s install $packages | sed -n 's/^Inst \([^ ]*\) .*/\1/p' | grep -v '^posthorn' >"$files/dependencies"
        # shellcheck disable=SC2046  # Word splitting is intended.
        inside apt-get -q -y install $(cat "$files/dependencies")
        exec unshare --net "$PWD/$script" test "$files"
        ;;
    test)
        files=$2
        root=$files/debian
        trap 'status=$?; [ $status -eq 0 ] || tail -n 20 "$files"/*.log >&2; exit $status' EXIT
        ip link set lo up
        rm "$root/etc/apt/sources.list.d/posthorn.list" "$root/usr/share/keyrings/posthorn-archive-keyring.gpg"
        list_files >"$files/before"
        use_repository old
        test_install
        test_notification
        test_upgrade
        test_downgrade
        test_removal
        ;;
    *) fail "unknown argument '$1'" ;;
esac
