#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what the build and the tests need: Debian packages, patched libraries, and Python packages in .venv.
# Never prompts, and exits quickly if everything is installed.
#
#   scripts/setup.sh              what the build, the tests and the demo need
#   scripts/setup.sh build        what the build needs
#   scripts/setup.sh packaging    what the build of packages and their tests need
set -eu
cd "$(dirname "$0")/.."
export DEBIAN_FRONTEND=noninteractive
case ${1:-} in
    build) lists=scripts/packages-build.txt ;;
    packaging) lists='scripts/packages-build.txt scripts/packages-packaging.txt' ;;
    '') lists='scripts/packages-build.txt scripts/packages-test.txt' ;;
    *) echo "setup: unknown argument '$1': give 'build', 'packaging' or nothing" >&2; exit 64 ;;
esac

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

# With older versions a remote peer can crash the server: see docs/reference/limits.md, "Libraries".
nghttp2_version_min=1.52.0-1+deb12u3
openssl_version_min=3.0.22

names() {
    # shellcheck disable=SC2086  # Word splitting is intended.
    cat $lists | sed 's/#.*//' | tr -d ' \t' | grep -v '^$'
}

# Prints the version of an installed package, or nothing.
version_of() { dpkg-query -W -f='${db:Status-Status} ${Version}\n' "$1" 2>/dev/null | sed -n 's/^installed //p' | head -n 1; }

is_at_least() { [ -n "$1" ] && dpkg --compare-versions "$1" ge "$2"; }

missing_packages() {
    for package in $(names); do
        [ -n "$(version_of "$package")" ] || printf '%s ' "$package"
    done
    for package in libnghttp2-14 libnghttp2-dev; do
        is_at_least "$(version_of $package)" "$nghttp2_version_min" || printf '%s ' "$package"
    done
    for package in libssl3 libssl-dev; do
        is_at_least "$(version_of $package)" "$openssl_version_min" || printf '%s ' "$package"
    done
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"
    elif command -v sudo >/dev/null; then sudo --preserve-env=DEBIAN_FRONTEND "$@"
    else fail "root or sudo is required for: $*"
    fi
}

install_packages() {
    missing=$(missing_packages)
    [ -n "$missing" ] || { say "Debian packages are installed"; return; }
    say "installing $missing"
    as_root apt-get update -q -o DPkg::Lock::Timeout=600
    # shellcheck disable=SC2086  # Word splitting is intended.
    as_root apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=600 $missing
}

check_version() {
    version=$(version_of "$1")
    is_at_least "$version" "$2" ||
        fail "$1 has version '$version', but at least $2 is required; add the Debian security archive to the apt sources"
    say "$1 $version (at least $2)"
}

install_python_packages() {
    python=/usr/bin/python3
    [ -x "$python" ] || python=$(command -v python3) || fail "python3 not found"
    if [ -f .venv/requirements.txt ] && cmp -s Tests/requirements.txt .venv/requirements.txt; then
        say "Python packages are installed"
        return
    fi
    say "installing Python packages into .venv"
    [ -x .venv/bin/pip ] || "$python" -m venv --clear .venv
    .venv/bin/pip install --quiet --disable-pip-version-check --requirement Tests/requirements.txt
    cp Tests/requirements.txt .venv/requirements.txt
}

[ -f /etc/debian_version ] || fail "only Debian 12 is supported; install the packages in scripts/packages-build.txt and packages-test.txt yourself"
command -v swift >/dev/null || fail "swift not found in PATH; install a Swift 6.3 toolchain from https://www.swift.org/install/linux/"
install_packages
check_version libnghttp2-14 "$nghttp2_version_min"
check_version libssl3 "$openssl_version_min"
[ -n "${1:-}" ] || install_python_packages
