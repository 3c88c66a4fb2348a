#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a payload of the maximum size whose texts contain markup, references, bidi overrides and control characters."""
import json

PAYLOAD_BYTE_COUNT_MAX = 4096
alert = {
    "title": "<b>Bold?</b> &amp; \u202eodd\u202c \x1b[31mred\x07",
    "subtitle": "<a href='https://example.org'>link</a> \u2066isolate <img src='file:///etc/passwd'>",
    "body": "First line\nsecond\r\nthird\u0000\u009b2J </b></span> \u202egnp.exe\n",
}
room = PAYLOAD_BYTE_COUNT_MAX - len(json.dumps({"aps": {"alert": alert}}))
alert["body"] += ("Long text. " * room)[:room]
print(json.dumps({"aps": {"alert": alert}}), end="")
