#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lays out a signed apt repository, or adds packages to one.
#
#   PACKAGES        the directory of the packages; default .build/deb
#   REPOSITORY      the directory of the repository; default .build/repository
#   REPOSITORY_KEY  the ID of a secret key in the keyring of gpg, or a file with an exported secret key. Without it, the
#                   repository is signed with a key for tests, which this script makes once.
set -eu
cd "$(dirname "$0")/.."
packages=$(realpath "${PACKAGES:-.build/deb}")
repository=${REPOSITORY:-.build/repository}
key=${REPOSITORY_KEY:-}
test_key=$PWD/.build/repository-test-key.asc
suite=bookworm
architecture=$(dpkg --print-architecture)

say() { printf 'repository: %s\n' "$*"; }
fail() { printf 'repository: %s\n' "$*" >&2; exit 1; }

# Makes the key for tests, unless it exists.
make_test_key() {
    [ ! -e "$test_key" ] || return 0
    gpg --batch --quiet --passphrase '' --quick-generate-key 'Posthorn repository for tests' ed25519 sign never
    (umask 077 && gpg --batch --quiet --armor --export-secret-keys >"$test_key.new")
    mv "$test_key.new" "$test_key"
}

# Uses a keyring of its own with the only key in a file.
use_key_file() {
    gpg --batch --quiet --import "$key"
    key=$(gpg --batch --list-secret-keys --with-colons | awk -F: '$1 == "fpr" { print $10; exit }')
    [ -n "$key" ] || fail "no secret key in $REPOSITORY_KEY; export one with: gpg --armor --export-secret-keys KEY"
}

set -- "$packages"/*.deb
[ -e "$1" ] || fail "no packages in $packages; run 'make deb' first"
if [ -z "$key" ] || [ -f "$key" ]; then
    GNUPGHOME=$(mktemp -d)
    export GNUPGHOME
    trap 'gpgconf --kill all; rm -rf "$GNUPGHOME"' EXIT
    if [ -z "$key" ]; then
        say "REPOSITORY_KEY is not set; signing with a key for tests, $test_key"
        mkdir -p .build
        make_test_key
        key=$test_key
    fi
    use_key_file
fi
gpg --batch --list-secret-keys "$key" >/dev/null 2>&1 || fail "gpg has no secret key $key; specify a key ID or a file"

mkdir -p "$repository/pool/main/p/posthorn" "$repository/dists/$suite/main/binary-$architecture"
cp "$@" "$repository/pool/main/p/posthorn"
cd "$repository"
index=dists/$suite/main/binary-$architecture/Packages
apt-ftparchive --arch "$architecture" packages pool >"$index"
gzip --force --keep --no-name "$index"
xz --force --keep "$index"
release=dists/$suite/Release
rm -f "$release" "$release.gpg" "dists/$suite/InRelease"
apt-ftparchive -o APT::FTPArchive::Release::Origin=Posthorn -o APT::FTPArchive::Release::Label=Posthorn \
    -o APT::FTPArchive::Release::Suite="$suite" -o APT::FTPArchive::Release::Codename="$suite" \
    -o APT::FTPArchive::Release::Architectures="$architecture" -o APT::FTPArchive::Release::Components=main \
    release "dists/$suite" >Release
mv Release "$release"
gpg --batch --yes --local-user "$key" --armor --detach-sign --output "$release.gpg" "$release"
gpg --batch --yes --local-user "$key" --clearsign --output "dists/$suite/InRelease" "$release"
gpg --batch --yes --export --output posthorn-archive-keyring.gpg "$key"
say "$PWD has $(grep -c '^Package: ' "$index") packages"
