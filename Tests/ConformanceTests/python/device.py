# SPDX-License-Identifier: Apache-2.0
"""The admin socket, and a device that uses the device protocol over HTTP/1.1."""
import http.client
import json
import queue
import socket
import ssl
import threading
import urllib.parse

from catalogue import Unmet, expect


class Admin:
    """The admin API over its UNIX socket."""

    class Connection(http.client.HTTPConnection):
        def __init__(self, path):
            super().__init__("posthorn", timeout=60)
            self.path = path

        def connect(self):
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(self.timeout)
            self.sock.connect(self.path)

    def __init__(self, path):
        self.path = path

    def ask(self, method, target, body=None):
        """Returns the decoded body, or None for an empty answer. Raises when the server refuses."""
        connection = self.Connection(self.path)
        try:
            connection.request(method, target, json.dumps(body) if body is not None else None,
                               {"content-type": "application/json"} if body is not None else {})
            response = connection.getresponse()
            text = response.read()
        finally:
            connection.close()
        if response.status >= 300:
            raise Unmet(f"{method} {target} was refused: {response.status} {text.decode()}")
        return json.loads(text) if text else None

    def received(self, apns_id):
        """Returns the deliveries of one notification to the built-in devices."""
        everything = self.ask("GET", "/v1/ephemeral/notifications")["notifications"]
        return [one for one in everything if one["headers"].get("apns-id") == apns_id]


class Device:
    """A device of a test's own, which has no other connection."""

    def __init__(self, stack, name="conformance"):
        self.stack, self.fields = stack, {}
        code = stack.admin.ask("POST", "/v1/enrolment-codes")["code"]
        made = self.ask("POST", "/v1/devices", {"code": code, "name": name, "platform": "linux"}, 201)
        self.id, self.fields = made["device_id"], {"authorization": f"Bearer {made['device_secret']}"}

    def connect(self, patience):
        context = ssl.create_default_context(cafile=self.stack.ca_file)
        return http.client.HTTPSConnection(self.stack.host, self.stack.port, timeout=patience, context=context)

    def ask(self, method, target, body=None, status=204):
        connection = self.connect(self.stack.patience)
        try:
            connection.request(method, target, json.dumps(body) if body is not None else None, self.fields)
            response = connection.getresponse()
            text = response.read()
        finally:
            connection.close()
        expect(response.status == status, f"{response.status} {text.decode()} for {method} {target}")
        return json.loads(text) if text else None

    def register(self, topic=None, environment=None):
        """Registers an app, and returns its device token."""
        body = {"environment": environment} if environment else None
        return self.ask("PUT", f"/v1/apps/{topic or self.stack.topic}", body, 200)["device_token"]

    def unregister(self, topic=None):
        self.ask("DELETE", f"/v1/apps/{topic or self.stack.topic}")

    def refuse(self, *topics):
        self.ask("PUT", "/v1/filter", {"refused_topics": topics})

    def subscribe(self, channel, topic=None):
        self.ask("PUT", f"/v1/apps/{topic or self.stack.topic}/channels/{urllib.parse.quote(channel, safe='')}")

    def leave(self):
        self.ask("DELETE", "/v1/devices/self")

    def stream(self):
        """Connects to the stream. Use it with `with`."""
        return Stream(self)


class Event(dict):
    """An event's object, with the text from which it was parsed."""

    def __init__(self, text):
        super().__init__(json.loads(text))
        self.text = text


class Stream:
    """A device's stream of server-sent events, which a thread reads."""

    def __init__(self, device):
        self.device = device
        self.events = queue.Queue()
        self.connection = device.connect(device.stack.patience)
        self.connection.request("GET", "/v1/stream", headers=device.fields)
        self.response = self.connection.getresponse()
        expect(self.response.status == 200, f"{self.response.status} for the stream")
        self.socket = self.connection.sock
        threading.Thread(target=self.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # The server closed first.
        self.connection.close()

    def read(self):
        event = data = None
        try:
            while line := self.response.readline():
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name == "event":
                    event = value
                elif name == "data":
                    data = value
                elif not name and data is not None:
                    self.events.put((event, Event(data)))
                    event = data = None
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            pass  # One side has closed the connection.
        self.events.put(("end", None))

    def next(self):
        """Returns the next notification."""
        while True:
            try:
                name, event = self.events.get(timeout=self.device.stack.patience)
            except queue.Empty:
                raise Unmet("no notification arrived") from None
            if name == "notification":
                return event
            expect(name != "end", "the end of the stream instead of a notification")

    def acknowledge(self, *events):
        acks = [{"id": event["id"], "outcome": "shown"} for event in events if event["id"]]
        if acks:
            self.device.ask("POST", "/v1/acks", {"acks": acks})

    def up_to(self, apns_id):
        """Returns all notifications before the marker with this apns-id. Deliveries come in order, so the marker ends
        the wait."""
        before = []
        while (event := self.next())["apns-id"] != apns_id:
            before.append(event)
            self.acknowledge(event)
        self.acknowledge(event)
        return before
