# SPDX-License-Identifier: Apache-2.0
"""A session manager as programs know it: org.gnome.SessionManager on the session bus.

Each client has a private object.

Each line of standard input is an object with "op". Each gets one line on standard output: the answer, or {"failure":
…}. `clients` returns the app IDs of the registered clients. `end` announces the end of the session to all clients, and
returns those that agreed.
"""
import json
import sys
import threading

from gi.repository import Gio, GLib

NAME, PATH = "org.gnome.SessionManager", "/org/gnome/SessionManager"
PRIVATE = NAME + ".ClientPrivate"
DESCRIPTION = Gio.DBusNodeInfo.new_for_xml("""
<node>
  <interface name="org.gnome.SessionManager">
    <method name="RegisterClient">
      <arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="o" direction="out"/>
    </method>
    <method name="UnregisterClient"><arg type="o" direction="in"/></method>
  </interface>
  <interface name="org.gnome.SessionManager.ClientPrivate">
    <method name="EndSessionResponse"><arg type="b" direction="in"/><arg type="s" direction="in"/></method>
    <signal name="Stop"/>
    <signal name="QueryEndSession"><arg type="u"/></signal>
    <signal name="EndSession"><arg type="u"/></signal>
  </interface>
</node>""")


class SessionManager:
    def __init__(self, bus):
        self.bus, self.clients, self.agreed = bus, {}, []
        bus.register_object(PATH, DESCRIPTION.lookup_interface(NAME), self.called, None, None)

    def called(self, bus, sender, path, interface, method, arguments, invocation):
        if method == "RegisterClient":
            place = f"{PATH}/Client{len(self.clients) + 1}"
            self.clients[place] = (sender, arguments.unpack()[0])
            bus.register_object(place, DESCRIPTION.lookup_interface(PRIVATE), self.called, None, None)
            return invocation.return_value(GLib.Variant("(o)", (place,)))
        if method == "EndSessionResponse" and arguments.unpack()[0]:
            self.agreed.append(self.clients[path][1])
        return invocation.return_value(None)

    def perform(self, op):
        if op == "end":
            for signal in ("QueryEndSession", "EndSession"):
                for place, (client, _) in self.clients.items():
                    self.bus.emit_signal(client, place, PRIVATE, signal, GLib.Variant("(u)", (0,)))
        return {"clients": [name for _, name in self.clients.values()], "agreed": self.agreed}


def main():
    bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)
    bus.set_exit_on_close(False)
    manager, loop = SessionManager(bus), GLib.MainLoop()

    def serve(line):
        try:
            answer = manager.perform(**json.loads(line))
        except Exception as error:  # the test handles it
            answer = {"failure": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)

    def read():
        for line in sys.stdin:
            GLib.idle_add(serve, line)
        GLib.idle_add(loop.quit)

    Gio.bus_own_name_on_connection(bus, NAME, Gio.BusNameOwnerFlags.NONE, None, None)
    threading.Thread(target=read, daemon=True).start()
    loop.run()


if __name__ == "__main__":
    main()
