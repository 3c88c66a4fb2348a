#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# An app that is a script. It registers with the agent by the command line.

set -eu

app=org.example.Backup
here=$(cd -- "$(dirname -- "$0")" && pwd)

usage() {
    cat <<'TEXT'
Usage: backup.sh setup | settings | remove

  setup     Register, and print the device token, to which a back-end sends.
  settings  Show the settings of this user.
  remove    Unregister. The device token becomes invalid.
TEXT
}

case ${1:-} in
# The token stays the same while the server keeps the registration.
setup) posthorn register "$app" --manifest "$here/backup.json" ;;
settings) posthorn settings show "$app" ;;
remove) posthorn unregister "$app" ;;
-h | --help) usage ;;
*)
    usage >&2
    exit 2
    ;;
esac
