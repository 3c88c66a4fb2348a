# SPDX-License-Identifier: Apache-2.0
"""Copies the documents into a directory.

    python3 scripts/site.py DIRECTORY              for the static site
    python3 scripts/site.py --package DIRECTORY    for the package posthorn-doc, which also has the examples

A link to a file that is not in the directory, such as a source file, becomes text.
"""
import os
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
# debian/posthorn-doc.examples installs this directory among the examples.
CONTAINER = pathlib.PurePath("deploy/container")


def documents(is_package):
    """Returns the paths of all documents and images, relative to the root."""
    found = [path for path in ROOT.glob("*.md") if not is_package or path.name != "CONTRIBUTING.md"]
    found += [path for path in (ROOT / "docs").rglob("*") if path.suffix in (".md", ".png", ".svg")]
    return {path.relative_to(ROOT) for path in found}


def target_in_package(file):
    """Returns the path of an example in the package; None for a file that the package does not contain."""
    if file.is_relative_to(CONTAINER):
        return pathlib.PurePath("examples") / file.relative_to(CONTAINER.parent)
    return file if file.is_relative_to("examples") else None


def rewritten(text, path, known, is_package):
    def replacement(match):
        label, link = match.groups()
        if re.match(r"[a-z]+:", link) or link.startswith("#"):
            return match.group(0)
        file = (ROOT / path.parent / link.split("#")[0]).resolve()
        if not file.is_relative_to(ROOT):
            return label
        file = file.relative_to(ROOT)
        if file in known:
            return match.group(0)
        target = target_in_package(file) if is_package else None
        return f"[{label}]({os.path.relpath(target, path.parent)})" if target else label
    return LINK.sub(replacement, text)


def main(arguments):
    is_package = arguments[0] == "--package"
    target = pathlib.Path(arguments[-1])
    shutil.rmtree(target, ignore_errors=True)
    known = documents(is_package)
    for path in sorted(known):
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            (target / path).write_text(rewritten((ROOT / path).read_text(), path, known, is_package))
        else:
            shutil.copy(ROOT / path, target / path)


if __name__ == "__main__":
    main(sys.argv[1:])
