#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""An app without a window: registers with the agent and prints each event as one line of JSON."""

import json
import sys

from gi.repository import Gio, GLib

APP_ID = "org.example.Notes"
AGENT = ("org.posthorn.Agent1", "/org/posthorn/Agent1", "org.posthorn.Agent1")

MANIFEST = {
    "name": "Notes",
    "event_types": [{"id": "SHARED", "name": "Shared notes"}, {"id": "COMMENT", "name": "Comments"}],
    "categories": [
        {"id": "COMMENT", "actions": [{"id": "reply", "title": "Reply", "text": True}]},
    ],
    "background": True,
    "filter": "bus",
}

# The device token that was printed last.
told = {}

# The interface that the agent calls; deploy/dbus/org.posthorn.App1.xml describes it.
INTERFACE = Gio.DBusNodeInfo.new_for_xml("""
    <node><interface name="org.posthorn.App1">
      <method name="Wake"><arg type="s" direction="in"/></method>
      <method name="Filter"><arg type="s" direction="in"/><arg type="s" direction="out"/></method>
      <method name="Act">
        <arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="s" direction="in"/>
      </method>
    </interface></node>""").interfaces[0]


def tell(**what):
    print(json.dumps(what, ensure_ascii=False), flush=True)


def wake(notification):
    """Handles a notification with content-available: a real app would fetch new data."""
    tell(woken_by=json.loads(notification)["payload"])


def filter_payload(notification):
    """Handles a notification with mutable-content: puts the name of the note, which only the app knows, into the title."""
    payload = json.loads(notification)["payload"]
    alert = payload.get("aps", {}).get("alert")
    if not isinstance(alert, dict) or "note" not in payload:
        return ""  # The agent shows the original.
    alert["title"] = f"Note {payload['note']}"
    tell(filtered=payload)
    return json.dumps(payload)


def act(action, text, notification):
    """Handles a button that opens no window."""
    tell(action=action, text=text, note=json.loads(notification)["payload"].get("note"))


def called(_bus, _sender, _path, _interface, method, parameters, invocation):
    try:
        answer = {"Wake": wake, "Filter": filter_payload, "Act": act}[method](*parameters.unpack())
        invocation.return_value(None if answer is None else GLib.Variant("(s)", (answer,)))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        invocation.return_dbus_error("org.example.Notes.Error.Failed", f"invalid notification: {error}")


def register(bus, _name):
    """Registers the app after it has acquired its bus name, which makes the app ID its own."""
    options = {"manifest": GLib.Variant("s", json.dumps(MANIFEST))}
    try:
        answer = bus.call_sync(
            *AGENT, "Register", GLib.Variant("(sa{sv})", (APP_ID, options)), None, Gio.DBusCallFlags.NONE, 60_000, None)
    except GLib.Error as error:
        sys.exit(f"notes.py: {error.message.removeprefix(f'GDBus.Error:{Gio.DBusError.get_remote_error(error)}: ')}")
    token = answer.unpack()[0]
    # A real app sends the token to its back-end, now and after each change. A registration is followed by both an answer and
    # TokenChanged, so the token is compared with the last one.
    if token != told.get("token"):
        tell(device_token=token)
    told["token"] = token


def lost(_bus, name):
    sys.exit(f"notes.py: another program owns the bus name {name}; perhaps notes.py runs already")


def main():
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    bus.register_object("/" + APP_ID.replace(".", "/"), INTERFACE, called, None, None)
    bus.signal_subscribe(
        AGENT[0], AGENT[2], "TokenChanged", AGENT[1], APP_ID, Gio.DBusSignalFlags.NONE,
        lambda *signal: register(bus, None))  # fmt: skip
    Gio.bus_own_name_on_connection(bus, APP_ID, Gio.BusNameOwnerFlags.NONE, register, lost)
    try:
        GLib.MainLoop().run()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
