# SPDX-License-Identifier: Apache-2.0
"""Collects the documents for the static site: python3 scripts/site.py DIRECTORY.

A link to a file that is no document, such as a source file, becomes text, because the site does not contain it.
"""
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")


def documents():
    """Returns the paths of all documents and images, relative to the root."""
    found = list(ROOT.glob("*.md"))
    found += [path for path in (ROOT / "docs").rglob("*") if path.suffix in (".md", ".png", ".svg")]
    return {path.relative_to(ROOT) for path in found}


def rewritten(text, path, known):
    def replacement(match):
        label, target = match.groups()
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return match.group(0)
        file = (ROOT / path.parent / target.split("#")[0]).resolve()
        if file.is_relative_to(ROOT) and file.relative_to(ROOT) in known:
            return match.group(0)
        return label
    return LINK.sub(replacement, text)


def main(directory):
    target = pathlib.Path(directory)
    shutil.rmtree(target, ignore_errors=True)
    known = documents()
    for path in sorted(known):
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            (target / path).write_text(rewritten((ROOT / path).read_text(), path, known))
        else:
            shutil.copy(ROOT / path, target / path)


if __name__ == "__main__":
    main(sys.argv[1])
