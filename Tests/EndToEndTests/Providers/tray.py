# SPDX-License-Identifier: Apache-2.0
"""A tray without a window: the watcher of StatusNotifierItem, and a host that reads an item and its menu.

Reads a JSON object with `op` per line and answers each with another one.
"""
import json
import sys
import threading

from gi.repository import Gio, GLib

NAME, PATH = "org.kde.StatusNotifierWatcher", "/StatusNotifierWatcher"
XML = """<node><interface name="org.kde.StatusNotifierWatcher">
<method name="RegisterStatusNotifierItem"><arg type="s" direction="in"/></method>
<method name="RegisterStatusNotifierHost"><arg type="s" direction="in"/></method>
<property name="RegisteredStatusNotifierItems" type="as" access="read"/>
<property name="IsStatusNotifierHostRegistered" type="b" access="read"/>
<property name="ProtocolVersion" type="i" access="read"/>
</interface></node>"""
ITEM, MENU, PROPERTIES = "org.kde.StatusNotifierItem", "com.canonical.dbusmenu", "org.freedesktop.DBus.Properties"


class Tray:
    def __init__(self):
        self.items, self.signals = [], []
        self.owned = threading.Event()
        self.bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)
        for interface in (ITEM, MENU):
            self.bus.signal_subscribe(
                None, interface, None, None, None, Gio.DBusSignalFlags.NONE,
                lambda _, __, ___, ____, member, parameters: self.signals.append(member))
        self.bus.register_object(PATH, Gio.DBusNodeInfo.new_for_xml(XML).interfaces[0], self.answer, self.read, None)
        Gio.bus_own_name_on_connection(self.bus, NAME, 0, lambda *_: self.owned.set(), None)

    def answer(self, connection, sender, path, interface, method, parameters, invocation):
        invocation.return_value(None)
        if method == "RegisterStatusNotifierItem":
            (service,) = parameters.unpack()
            self.items.append(service)
            Gio.bus_watch_name_on_connection(self.bus, service, 0, None, self.vanished)

    def vanished(self, connection, service):
        self.items = [item for item in self.items if item != service]

    def read(self, connection, sender, path, interface, name):
        return {
            "RegisteredStatusNotifierItems": GLib.Variant("as", self.items),
            "IsStatusNotifierHostRegistered": GLib.Variant("b", True),
            "ProtocolVersion": GLib.Variant("i", 0),
        }[name]

    def call(self, path, interface, method, arguments):
        answer = self.bus.call_sync(self.items[0], path, interface, method, arguments, None, 0, 10000, None)
        return answer.unpack()

    def properties(self):
        return self.call("/StatusNotifierItem", PROPERTIES, "GetAll", GLib.Variant("(s)", (ITEM,)))[0]

    def menu(self):
        """Returns the path and the items, read as libdbusmenu does: AboutToShow, then the layout, then properties."""
        path = self.properties()["Menu"]
        self.call(path, MENU, "AboutToShow", GLib.Variant("(i)", (0,)))
        _, (_, _, children) = self.call(
            path, MENU, "GetLayout", GLib.Variant("(iias)", (0, -1, ["type", "children-display"])))
        numbers = [number for number, _, _ in children]
        (described,) = self.call(path, MENU, "GetGroupProperties", GLib.Variant("(aias)", (numbers, [])))
        return path, [{"id": number} | properties for number, properties in described]

    def do(self, command):
        if command["op"] == "items":
            return {"items": self.items}
        if command["op"] == "signals":
            signals, self.signals = self.signals, []
            return {"signals": signals}
        if command["op"] == "item":
            item = self.properties()
            return {"icon": item["IconName"], "text": item["ToolTip"][3], "label": item["XAyatanaLabel"],
                    "status": item["Status"]}
        if command["op"] == "menu":
            return {"menu": [
                {"label": item["label"], "type": item["type"], "isEnabled": item["enabled"],
                 "isOn": item.get("toggle-state") == 1} for item in self.menu()[1]]}
        if command["op"] == "choose":
            path, items = self.menu()
            number = next(item["id"] for item in items if item["label"].startswith(command["label"]))
            event = (number, "clicked", GLib.Variant("i", 0), 0)
            if command["count"] == 1:
                self.call(path, MENU, "Event", GLib.Variant("(isvu)", event))
            else:
                self.call(path, MENU, "EventGroup", GLib.Variant("(a(isvu))", ([event] * command["count"],)))
            return {}
        self.call("/StatusNotifierItem", ITEM, "ProvideXdgActivationToken", GLib.Variant("(s)", (command["token"],)))
        self.call("/StatusNotifierItem", ITEM, "Activate", GLib.Variant("(ii)", (0, 0)))
        return {}


tray = Tray()
threading.Thread(target=GLib.MainLoop().run, daemon=True).start()
tray.owned.wait()
for line in sys.stdin:
    try:
        print(json.dumps(tray.do(json.loads(line))), flush=True)
    except Exception as error:
        print(json.dumps({"failure": f"{type(error).__name__}: {error}"}), flush=True)
