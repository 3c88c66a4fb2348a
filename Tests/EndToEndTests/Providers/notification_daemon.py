# SPDX-License-Identifier: Apache-2.0
"""A notification server that displays nothing and records every call: notification_daemon.py FILE.

Adds a line of JSON to FILE for each call of Notify before it answers, and another one after it has answered. These
lines show which calls a kill interrupted. Numbers start at 1, as those of real servers do.
"""
import json
import os
import sys

from gi.repository import Gio, GLib

NAME, PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
XML = """<node><interface name="org.freedesktop.Notifications">
<method name="GetServerInformation"><arg type="s" direction="out"/><arg type="s" direction="out"/>
<arg type="s" direction="out"/><arg type="s" direction="out"/></method>
<method name="GetCapabilities"><arg type="as" direction="out"/></method>
<method name="CloseNotification"><arg type="u" direction="in"/></method>
<method name="Notify"><arg type="s" direction="in"/><arg type="u" direction="in"/><arg type="s" direction="in"/>
<arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="as" direction="in"/>
<arg type="a{sv}" direction="in"/><arg type="i" direction="in"/><arg type="u" direction="out"/></method>
<signal name="NotificationClosed"><arg type="u"/><arg type="u"/></signal>
</interface></node>"""


class Daemon:
    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.count = 0

    def write(self, **facts):
        # One write call makes the line appear completely or not at all.
        os.write(self.file, (json.dumps({"daemon": os.getpid()} | facts) + "\n").encode())

    def answer(self, connection, sender, path, interface, method, parameters, invocation):
        if method == "GetServerInformation":
            return invocation.return_value(GLib.Variant("(ssss)", ("recorder", "tests", "1", "1.2")))
        if method == "GetCapabilities":
            return invocation.return_value(GLib.Variant("(as)", (["actions", "body", "icon-static"],)))
        if method == "CloseNotification":
            invocation.return_value(None)
            closed = GLib.Variant("(uu)", (parameters.unpack()[0], 3))
            return connection.emit_signal(None, PATH, NAME, "NotificationClosed", closed)
        _, replaced, _, summary, body, actions, hints, _ = parameters.unpack()
        self.count += 1
        number = replaced or self.count
        self.write(call=self.count, number=number, replaced=replaced, summary=summary, body=body, actions=actions,
                   picture=hints.get("image-path", ""))
        invocation.return_value(GLib.Variant("(u)", (number,)))
        connection.flush_sync(None)
        self.write(answered=self.count)

    def acquired(self, connection, _):
        connection.register_object(PATH, Gio.DBusNodeInfo.new_for_xml(XML).interfaces[0], self.answer, None, None)


daemon, loop = Daemon(sys.argv[1]), GLib.MainLoop()
Gio.bus_own_name(
    Gio.BusType.SESSION, NAME, Gio.BusNameOwnerFlags.NONE, daemon.acquired, None, lambda *_: loop.quit())
loop.run()
