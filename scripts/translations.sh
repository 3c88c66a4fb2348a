#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Takes the texts of the panel and of the agent's alerts out of their sources into po/posthorn-panel.pot, and what is new into each language's file.
# xgettext knows no Swift; calls and texts look like those of JavaScript.
set -eu
cd "$(dirname "$0")/.."
template=po/posthorn-panel.pot

{
    printf '# SPDX-License-Identifier: Apache-2.0\n'
    grep -lrE 'tr\("|(Texts|MessageCatalogue)\.text\(' Sources/AgentPanel Sources/DeviceAgent | LC_ALL=C sort |
        xgettext --files-from=- --from-code=UTF-8 --language=JavaScript --keyword= --keyword=tr --keyword=text:1,2 \
            --no-location --no-wrap --package-name=posthorn-panel --output=- |
        sed -e '1,/^#$/d' -e '/^"POT-Creation-Date/d' -e '/^#, .*-format$/d'
} >"$template.new"
mv "$template.new" "$template"
for language in po/*.po; do
    msgmerge --quiet --no-wrap --no-fuzzy-matching --update --backup=none "$language" "$template"
done
