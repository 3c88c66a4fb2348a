#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Operates the panel for pictures through the accessibility tree.

    panel-hands.py wait|click ROLE NAME
    panel-hands.py windows

NAME is the beginning of an accessible name. `windows` prints the area of each window's content as WIDTHxHEIGHT+X+Y, the lowest
window first. DBUS_SESSION_BUS_ADDRESS selects the session.
"""
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "Tests", "EndToEndTests", "Panel"))
import atspi
from gi.repository import Gio, GLib


def panel_process():
    try:
        return atspi.session_bus().call_sync(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetConnectionUnixProcessID",
            GLib.Variant("(s)", ("org.posthorn.Panel",)), None, Gio.DBusCallFlags.NONE, 5_000, None).unpack()[0]
    except GLib.Error:
        return None


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def find(reader, role, name):
    """Returns the element and its window, or None. An element with exactly this name takes precedence."""
    process, window, found = panel_process(), None, None
    for node in reader.tree(process) if process else []:
        if node["depth"] == 0:
            window = node
        if node["role"] == role and node["name"] == name:
            return node, window
        if node["role"] == role and node["name"].startswith(name):
            found = found or (node, window)
    return found


def frame(window):
    """Returns the area of the window's content (left, top, width, height) and its index in the stacking order."""
    number = run("xdotool", "search", "--onlyvisible", "--name", f"^{re.escape(window['name'])}$").split()[-1]
    place = dict(line.split("=") for line in run("xdotool", "getwindowgeometry", "--shell", number).splitlines())
    order = re.findall(r"0x[0-9a-f]+", run("xprop", "-root", "_NET_CLIENT_LIST_STACKING"))
    width, height = window["frame"][2:]
    # Without a compositor GTK draws a border of equal width on all sides instead of a shadow.
    left = int(place["X"]) + (int(place["WIDTH"]) - width) // 2
    top = int(place["Y"]) + (int(place["HEIGHT"]) - height) // 2
    return (left, top, width, height), order.index(hex(int(number)))


def print_windows(reader):
    frames = [frame(node) for node in reader.tree(panel_process()) if node["depth"] == 0]
    for (left, top, width, height), _ in sorted(frames, key=lambda known: known[1]):
        print(f"{width}x{height}+{left}+{top}")


def main():
    if sys.argv[1:] == ["windows"]:
        return print_windows(atspi.Reader())
    deed, role, name = sys.argv[1:]
    reader, last = atspi.Reader(), None
    for _ in range(100):
        found = find(reader, role, name)
        if found and found[0]["frame"] == last and not (deed == "click" and roll(reader, *found)):
            break
        last = found and found[0]["frame"]
        time.sleep(0.15)
    else:
        sys.exit(f"panel-hands.py: no {role} '{name}' found")
    if deed == "click":
        (left, top, _, _), _ = frame(found[1])
        x, y, width, height = last
        run("xdotool", "mousemove", str(left + x + width // 2), str(top + y + height // 2), "click", "1")


def roll(reader, node, window):
    """Turns the mouse wheel if the element is below the visible part of its page; returns whether it did."""
    tabs = find(reader, "tab", "")
    middle = node["frame"][1] + node["frame"][3] // 2
    bottom = window["frame"][3]
    # In a wide window the tabs are at the top.
    if tabs and tabs[0]["frame"][1] > bottom // 2:
        bottom = tabs[0]["frame"][1]
    if node["role"] == "tab" or window["role"] != "window" or not tabs or middle < bottom - 24:
        return False
    (left, top, width, height), _ = frame(window)
    run("xdotool", "mousemove", str(left + width // 2), str(top + height // 2), "click", "5")
    return True


main()
