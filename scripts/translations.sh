#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Extracts the texts of the panel and of the agent's alerts from the sources into po/posthorn-panel.pot, and adds new texts to the file
# of each language. xgettext does not support Swift, so it parses the sources as JavaScript, whose calls and strings look the same.
set -eu
cd "$(dirname "$0")/.."
template=po/posthorn-panel.pot

{
    printf '# SPDX-License-Identifier: Apache-2.0\n'
    grep -lrE 'tr\("|(Texts|MessageCatalog)\.text\(' Sources/AgentPanel Sources/DeviceAgent | LC_ALL=C sort |
        xgettext --files-from=- --from-code=UTF-8 --language=JavaScript --keyword= --keyword=tr --keyword=text:1,2 \
            --no-location --no-wrap --package-name=posthorn-panel --output=- |
        sed -e '1,/^#$/d' -e '/^"POT-Creation-Date/d' -e '/^#, .*-format$/d'
} >"$template.new"
mv "$template.new" "$template"
for language in po/*.po; do
    msgmerge --quiet --no-wrap --no-fuzzy-matching --update --backup=none "$language" "$template"
done
