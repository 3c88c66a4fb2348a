# SPDX-License-Identifier: Apache-2.0
# Functions of the scripts that test packages in a clean Debian 12. A script sets $script to its own path, and sources this file in
# the top directory of the repository. The functions for the system need $root, its directory, and $files, a temporary directory.
# They run as root in a mount namespace of their own (unshare --mount).

# Prints a line of this script.
say() { printf '%s: %s\n' "$(basename "$script" .sh)" "$*"; }

fail() { say "$*" >&2; exit 1; }

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"
    elif command -v sudo >/dev/null; then sudo --preserve-env=BUILD,UPGRADE_RATE "$@"
    else fail "root or sudo is required"
    fi
}

# Waits until a command succeeds. After a few failed attempts, an agent waits up to a minute before it connects again.
wait_for() {
    what=$1
    shift
    for _ in $(seq 1800); do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.1
    done
    "$@" || true
    fail "timeout while waiting for $what"
}

debian_archive=$PWD/.build/debian-root.tar

# Prints the address and the suite of each archive of Debian 12 that this machine uses.
debian_archives() {
    # shellcheck disable=SC2046  # Word splitting is intended.
    awk '
        function finish() {
            count = split(suites, names)
            for (i = 1; i <= count; i++) if (uri && names[i] ~ /^bookworm(-updates|-security)?$/) print uri, names[i]
            uri = suites = ""
        }
        FNR == 1 || /^[ \t]*$/ { finish() }
        /^deb / { sub(/^deb +(\[[^]]*\] +)?/, ""); uri = $1; suites = $2; finish() }
        /^URIs:/ { uri = $2 }
        /^Suites:/ { suites = substr($0, 8) }
        END { finish() }
    ' /dev/null $(find /etc/apt/sources.list /etc/apt/sources.list.d -name '*.list' -o -name '*.sources' 2>/dev/null)
}

# Makes an archive of a clean Debian 12 with debootstrap, unless it exists. Without archives of Debian 12 in the machine's apt
# sources, debootstrap uses its default. $root is an empty directory for the work.
make_debian_archive() {
    [ ! -e "$debian_archive" ] || return 0
    archives=$(debian_archives)
    # shellcheck disable=SC2046  # Word splitting is intended.
    debootstrap --variant=minbase bookworm "$root" $(printf '%s\n' "$archives" | awk '$2 == "bookworm" { print $1; exit }')
    [ -z "$archives" ] || printf '%s\n' "$archives" | sed 's/.*/deb & main/' >"$root/etc/apt/sources.list"
    apt-config dump | grep -E '^Acquire::(http|https|Check-)' >"$root/etc/apt/apt.conf.d/90machine" || true
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    tar --create --one-file-system --numeric-owner --directory="$root" --file="$debian_archive.new" .
    mv "$debian_archive.new" "$debian_archive"
    rm -rf --one-file-system "$root"
}

# Unpacks a clean Debian 12 in $root, with the kernel's file systems.
make_debian() {
    make_debian_archive
    mkdir -p "$root"
    tar --extract --numeric-owner --directory="$root" --file="$debian_archive"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    echo '127.0.0.1 localhost' >"$root/etc/hosts"
    mount -t proc proc "$root/proc"
    mount -t sysfs -o ro sysfs "$root/sys"
}

# Replaces this shell by a program in the system, without the variables of this machine.
exec_inside() {
    exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/tmp DEBIAN_FRONTEND=noninteractive "$@"
}

# Runs a program in the system.
inside() { (exec_inside "$@"); }

# Replaces this shell with systemd, the first process of a machine whose root directory is the system. $1 is the host name. Needs new
# namespaces for mounts, processes, cgroups, the network, the host name and IPC.
exec_systemd() {
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount -t sysfs sysfs "$root/sys"
    mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
    mount -t tmpfs -o mode=755 tmpfs "$root/run"
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
    mount -t tmpfs -o mode=755 tmpfs "$root/dev"
    mkdir "$root/dev/pts" "$root/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts "$root/dev/pts"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
    for device in null zero full random urandom tty; do
        touch "$root/dev/$device"
        mount --bind "/dev/$device" "$root/dev/$device"
    done
    ln -s pts/ptmx "$root/dev/ptmx"
    ln -s /proc/self/fd "$root/dev/fd"
    ip link set lo up
    hostname "$1"
    cd "$root"
    mkdir -p mnt/host
    pivot_root . mnt/host
    umount -l /mnt/host
    exec env -i container=posthorn-test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --log-target=journal </dev/null
}

# Boots the system, and sets $machine to the ID of its first process. The machine has no network. $cgroup is a new cgroup, which the
# caller removes.
boot_debian() {
    unified=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
    if [ -z "$unified" ]; then
        unified=$files/cgroup
        mkdir "$unified"
        mount -t cgroup2 cgroup2 "$unified"
    fi
    cgroup=$(mktemp -d "$unified/posthorn-test-XXXXXX")
    chmod 755 "$cgroup"
    sh -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' sh "$cgroup" unshare --mount --pid --fork --kill-child --cgroup --net --uts \
        --ipc "$PWD/$script" systemd "$files" &
    launcher=$!
    wait_for "systemd" pgrep -P "$launcher"
    machine=$(pgrep -P "$launcher")
    wait_for "the end of the boot" booted
}

booted() { on_machine systemctl is-system-running | grep -E 'running|degraded'; }

# Runs a command on the booted machine, as root.
on_machine() {
    nsenter --target "$machine" --all env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root \
        DEBIAN_FRONTEND=noninteractive "$@"
}

# Stops the machine: kills all its processes and removes its cgroup.
halt_debian() {
    [ -n "${machine:-}" ] || return 0
    kill -KILL "$machine"
    wait "$launcher" || true
    find "$cgroup" -depth -type d -exec rmdir {} +
}
