#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the container image from the packages in .build/deb with buildah, and runs the server in it with podman: as an ordinary
# user, without capabilities, with a read-only root file system. Needs root. The images are in a temporary directory, which is
# removed.
#
# Where podman cannot start containers, for example in an unprivileged container, the image runs in a chroot of buildah.
set -eu
cd "$(dirname "$0")/.."

script=scripts/container.sh
# shellcheck source=scripts/debian-root.sh
. scripts/debian-root.sh

if [ "${1:-}" != test ]; then
    files=$(mktemp -d)
    trap 'as_root rm -rf --one-file-system "$files"' EXIT
    trap 'exit 130' INT TERM
    as_root unshare --mount --pid --fork --kill-child --mount-proc "$PWD/$script" test "$files"
    exit
fi

files=$2
root=$files/debian

with_storage() {
    program=$1
    shift
    "$program" --root "$files/storage" --runroot "$files/run" --storage-driver vfs "$@"
}
images() { with_storage buildah "$@"; }
containers() { with_storage podman --cgroup-manager cgroupfs "$@"; }

# Makes podman work without systemd, and where the machine has version 1 of cgroups, which crun does not support. The mount
# belongs to the namespace of this test.
prepare_cgroups() {
    [ "$(stat --file-system --format %T /sys/fs/cgroup)" = cgroup2fs ] && return
    umount -R /sys/fs/cgroup 2>/dev/null || true
    mount -t cgroup2 none /sys/fs/cgroup || true
}

build_image() {
    make_debian_archive
    base=$(images from scratch)
    images add "$base" "$debian_archive" / >/dev/null
    images commit --quiet "$base" posthorn-base >/dev/null
    images rm "$base" >/dev/null
    images build --isolation chroot --format docker --build-arg BASE=localhost/posthorn-base \
        --file deploy/container/Containerfile --tag posthorn .build/deb
}

test_with_podman() {
    containers run --detach --cgroups disabled --name server --read-only --cap-drop all --security-opt no-new-privileges --network none \
        --env POSTHORN_NAMES=localhost --volume data:/var/lib/posthorn posthorn >/dev/null
    wait_for "the server" containers exec server posthorn status
    containers healthcheck run server
    containers exec server posthorn app add org.example.Test
    [ "$(containers exec server id -u)" = 10001 ] || fail "the server does not run as its own user"
    if containers exec server touch /etc/test 2>/dev/null; then fail "the root file system can be written"; fi
    containers stop --time 30 server >/dev/null
    [ "$(containers inspect --format '{{.State.ExitCode}}' server)" = 0 ] || fail "the server did not stop normally"
    containers start server >/dev/null
    wait_for "the server after a restart" containers exec server posthorn status
    containers exec server posthorn app list | grep -q org.example.Test || fail "the data did not survive a restart"
    containers rm --force server >/dev/null
}

test_with_chroot() {
    container=$(images from posthorn)
    images run --isolation chroot --env POSTHORN_NAMES=localhost --env POSTHORN_LISTEN=127.0.0.1:0 "$container" -- posthornd \
        >"$files/posthornd.log" 2>&1 &
    server=$!
    wait_for "the server" images run --isolation chroot "$container" -- posthorn status
    [ "$(images run --isolation chroot "$container" -- id -u)" = 10001 ] || fail "the server does not run as its own user"
    images run --isolation chroot "$container" -- posthorn app add org.example.Test
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
}

say "build the image"
if ! build_image >"$files/build.log" 2>&1; then
    tail -n 30 "$files/build.log" >&2
    fail "the image was not built"
fi
images images
prepare_cgroups
if containers run --rm --cgroups disabled --network none posthorn --version >"$files/podman.log" 2>&1; then
    test_with_podman
    say "passed with podman"
else
    say "podman cannot run containers here: $(tail -n 1 "$files/podman.log")"
    test_with_chroot
    say "passed in a chroot; the read-only root file system was not tested"
fi
