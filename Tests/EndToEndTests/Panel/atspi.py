# SPDX-License-Identifier: Apache-2.0
"""Reads a program's windows as a screen reader does, over AT-SPI from the accessibility bus of its session.

Each line of standard input is an object with "op". Each gets one line on standard output: the answer, or {"failure":
…}. Calls the bus directly, so that no answer comes from a cache. The calls of one level of the tree are pending
together.
"""
import json
import os
import re
import sys
import traceback

from gi.repository import Gio, GLib

ACCESSIBLE, ROOT = "org.a11y.atspi.Accessible", "/org/a11y/atspi/accessible/root"
# The bits of the states that tests use. Other states are left out.
STATES = {
    1: "active", 3: "busy", 4: "checked", 7: "editable", 8: "enabled", 10: "expanded", 11: "focusable", 12: "focused",
    16: "modal", 20: "pressed", 23: "selected", 24: "sensitive", 30: "visible",
}
WINDOW_COORDINATES = 1
CLASS = re.compile("(Gtk|Adw)[A-Z][A-Za-z]+")


def session_bus():
    flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
    address = os.environ["DBUS_SESSION_BUS_ADDRESS"]
    return Gio.DBusConnection.new_for_address_sync(address, flags, None, None)


def accessibility_bus():
    answer = session_bus().call_sync(
        "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", None, None, Gio.DBusCallFlags.NONE, 10_000, None)
    flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
    return Gio.DBusConnection.new_for_address_sync(answer.unpack()[0], flags, None, None)


class Batch:
    """Calls that are pending at the same time."""

    def __init__(self, bus):
        self.bus, self.waiting, self.loop = bus, 0, GLib.MainLoop()

    def call(self, place, interface, method, parameters, done):
        """Calls a method of an object. A missing object gives no answer."""

        def finish(bus, result):
            try:
                done(bus.call_finish(result).unpack())
            except GLib.Error:
                pass
            self.waiting -= 1
            if not self.waiting:
                self.loop.quit()

        self.waiting += 1
        self.bus.call(place[0], place[1], interface, method, parameters, None, Gio.DBusCallFlags.NONE, 30_000, None, finish)

    def wait(self):
        if self.waiting:
            self.loop.run()


class Reader:
    def __init__(self):
        self.bus = accessibility_bus()
        #: The roles by place. An element never changes its role.
        self.roles = {}

    def children(self, place):
        found = []
        batch = Batch(self.bus)
        batch.call(place, ACCESSIBLE, "GetChildren", None, lambda answer: found.extend(answer[0]))
        batch.wait()
        return found

    def applications(self, process):
        """Returns the applications of one process."""
        places = self.children(("org.a11y.atspi.Registry", ROOT))
        owners = {}
        batch = Batch(self.bus)
        for place in places:
            batch.call(
                ("org.freedesktop.DBus", "/org/freedesktop/DBus"), "org.freedesktop.DBus", "GetConnectionUnixProcessID",
                GLib.Variant("(s)", (place[0],)), lambda answer, place=place: owners.update({place: answer[0]}))
        batch.wait()
        return [place for place in places if owners.get(place) == process]

    def tree(self, process):
        """Returns the elements on the screen, each after its parent. `depth` 0 is a window."""
        level = self.places_below([
            {"place": place, "depth": -1, "position": []} for place in self.applications(process)])
        known = []
        while level:
            self.read(level)
            # Hidden pages have no size, and neither have their children.
            shown = [node for node in level if "visible" in node["states"] and 0 not in node["frame"][2:]]
            known += shown
            level = self.places_below([node for node in shown if node["count"]])
        known.sort(key=lambda node: node["position"])
        return [self.shown(node) for node in known]

    def shown(self, node):
        return {key: value for key, value in node.items() if key not in ("position", "count")} | {
            "place": list(node["place"])}

    def places_below(self, nodes):
        """Returns nodes for the children of some nodes, with their places only."""
        batch = Batch(self.bus)
        children = [[] for _ in nodes]
        for node, found in zip(nodes, children):
            batch.call(
                node["place"], ACCESSIBLE, "GetChildren", None, lambda answer, found=found: found.extend(answer[0]))
        batch.wait()
        return [
            {"place": place, "depth": node["depth"] + 1, "position": node["position"] + [index]}
            for node, places in zip(nodes, children) for index, place in enumerate(places)
        ]

    def read(self, nodes):
        """Queries all attributes of some nodes."""
        batch = Batch(self.bus)
        for node in nodes:
            node.update(role="", name="", description="", states=[], frame=[0, 0, 0, 0], count=0)
            self.read_one(batch, node)
        batch.wait()

    def read_one(self, batch, node):
        place = node["place"]

        def role(answer):
            node["role"] = self.roles[place] = answer[0]

        def states(answer):
            bits = answer[0][0] | answer[0][1] << 32
            node["states"] = [name for bit, name in STATES.items() if bits >> bit & 1]

        def properties(answer):
            name = answer[0].get("Name", "")
            # Unnamed elements have their class as the name.
            node["name"] = "" if CLASS.fullmatch(name) else name
            node["description"] = answer[0].get("Description", "")
            node["count"] = answer[0].get("ChildCount", 1)

        if place in self.roles:
            node["role"] = self.roles[place]
        else:
            batch.call(place, ACCESSIBLE, "GetRoleName", None, role)
        batch.call(place, ACCESSIBLE, "GetState", None, states)
        batch.call(
            place, "org.freedesktop.DBus.Properties", "GetAll", GLib.Variant("(s)", (ACCESSIBLE,)), properties)
        batch.call(
            place, "org.a11y.atspi.Component", "GetExtents", GLib.Variant("(u)", (WINDOW_COORDINATES,)),
            lambda answer: node.update(frame=list(answer[0])))

    def act(self, place, interface, method, parameters):
        """Performs an action on an element. Returns False when it no longer exists."""
        try:
            return self.bus.call_sync(
                place[0], place[1], interface, method, parameters, None, Gio.DBusCallFlags.NONE, 5_000, None).unpack()[0]
        except GLib.Error as error:
            if Gio.DBusError.get_remote_error(error) == "org.freedesktop.DBus.Error.UnknownMethod":
                return False
            raise

    def perform(self, op, **facts):
        if op == "tree":
            return {"nodes": self.tree(facts["process"])}
        if op == "press":
            return {"done": self.act(facts["place"], "org.a11y.atspi.Action", "DoAction", GLib.Variant("(i)", (0,)))}
        if op == "count":
            return {"count": len(self.children(facts["place"]))}
        raise ValueError(f"no such op: {op}")


def main():
    reader = Reader()
    for line in sys.stdin:
        try:
            answer = reader.perform(**json.loads(line))
        except Exception as error:  # the test handles every error
            traceback.print_exc()
            answer = {"failure": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
