#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the Debian packages from programs that are already built: scripts/deb.sh [VERSION]
#
# The argument replaces the version in debian/changelog, to test an upgrade.
#
#   BUILD    the directory of the built programs; default .build/release
#   OUTPUT   the directory of the packages; default .build/deb
#   KIND     binary omits the source package; default full
set -eu
cd "$(dirname "$0")/.."
version=${1:-$(dpkg-parsechangelog --show-field Version)}
build=$(realpath "${BUILD:-.build/release}")
output=${OUTPUT:-.build/deb}

# The packages are built from a copy, because the build writes into debian/ and beside its directory.
source=$output/posthorn-$version
rm -rf "$source" "$output"/posthorn*_*
mkdir -p "$source"
git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from=- | tar --extract --directory="$source"
sed -i "1s/(.*)/($version)/" "$source/debian/changelog"

cd "$source"
BUILD=$build LC_ALL=C.UTF-8 dpkg-buildpackage --build="${KIND:-full}" --unsigned-source --unsigned-changes
cd ..
rm -rf "posthorn-$version"
ls -l ./*.deb
