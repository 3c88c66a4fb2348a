# SPDX-License-Identifier: Apache-2.0
"""A running server with all its objects, and the requests of a provider."""
import contextlib
import json
import os
import tempfile
import time
import uuid

from answers import faults
from catalogue import expect
from device import Admin, Device
from peer import Peer
from tokens import Key

ALERT = b'{"aps":{"alert":"Hello"}}'
UPDATE = b'{"aps":{"timestamp":1685952000,"event":"update","content-state":{"goals":1}}}'
#: 64 hexadecimal digits that no server created.
UNKNOWN_TOKEN = "deadbeef" * 8
#: A channel that no server created.
UNKNOWN_CHANNEL = "dHN0LXNyY2gtY2hubA=="


def sized(byte_count, aps='{"alert":"x"}'):
    """Returns a payload of exactly this size."""
    head = f'{{"aps":{aps},"pad":"'.encode()
    return head + b"p" * (byte_count - len(head) - 2) + b'"}'


def new_id():
    return str(uuid.uuid4())


class Stack:
    """The objects that `posthornd --ephemeral --full` created, by the names of its --env-file."""

    #: The time limit in seconds. POSTHORN_TEST_PATIENCE multiplies it on a slow machine.
    patience = 20 * int(os.environ.get("POSTHORN_TEST_PATIENCE") or 1)

    def __init__(self, variables, admin_socket):
        self.variables = variables
        self.admin = Admin(admin_socket)
        self.host, self.port = variables["APNS_HOST"], int(variables["APNS_PORT"])
        self.ca_file = variables["APNS_CA_FILE"]
        self.topic, self.token = variables["APNS_TOPIC"], variables["APNS_TOKEN"]
        self.key = Key(variables["APNS_KEY_FILE"], variables["APNS_KEY_ID"], variables["APNS_TEAM_ID"])
        self.provider_token = self.key.sign()

    def __getitem__(self, name):
        """Returns a variable, for example `APNS_GONE`."""
        return self.variables[name]

    def other_key(self, name, team_id=None):
        """Returns the key of two variables: the file in `name`, its ID in `name_ID`."""
        return Key(self[name], self[f"{name}_ID"], team_id or self.key.team_id)

    def until(self, condition):
        """Polls until a condition holds or the time limit passes. The case checks the result."""
        deadline = time.monotonic() + self.patience
        while not condition() and time.monotonic() < deadline:
            time.sleep(0.02)

    @staticmethod
    @contextlib.contextmanager
    def temporary_file(text):
        """Writes a text to a temporary file, for programs that need a file."""
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(text)
            file.flush()
            yield file.name

    # Connections

    def peer(self, **options):
        options = {"host": self.host, "port": self.port, "patience": self.patience} | options
        return Peer(ca_file=self.ca_file, **options)

    def channels_peer(self, **options):
        """Returns a connection to the port of channel management."""
        host = self.variables.get("APNS_MANAGE_HOST", self.host)
        return self.peer(host=host, port=int(self["APNS_MANAGE_PORT"]), **options)

    def device(self, name="conformance"):
        return Device(self, name)

    # Requests

    def fields(self, token=None, path=None, method="POST", authorization="", without=(), extra=(), **headers):
        """Returns the fields of a valid notification with the given changes. `apns_topic=…` is the header apns-topic.
        """
        result = {
            ":method": method, ":scheme": "https", ":path": path or f"/3/device/{token or self.token}",
            ":authority": f"{self.host}:{self.port}", "authorization": authorization or f"bearer {self.provider_token}",
            "apns-topic": self.topic, "apns-push-type": "alert",
        }
        result |= {name.replace("_", "-"): str(value) for name, value in headers.items()}
        return [(name, value) for name, value in result.items() if name not in without] + list(extra)

    def push(self, body=ALERT, peer=None, options=None, **fields):
        """Sends a notification, on its own connection unless one is given. Checks the form of the answer."""
        return self.ask(self.fields(**fields), body, peer, options)

    def ask(self, fields, body, peer=None, options=None):
        if peer:
            return self.checked(peer.ask(fields, body))
        with self.peer(**options or {}) as peer:
            return self.checked(peer.ask(fields, body))

    @staticmethod
    def checked(exchange):
        """Checks that there is an answer, and its form."""
        expect(exchange.status and exchange.is_over and exchange.reset in (None, 0), exchange)
        found = faults(exchange)
        expect(not found, f"{exchange} with {exchange.fields}: {'; '.join(found)}")
        return exchange

    def accepted(self, body=ALERT, **fields):
        """Sends a notification that must be accepted, and returns its apns-id."""
        exchange = self.push(body, **fields)
        expect(exchange.status == 200, exchange)
        return exchange.field("apns-id")

    # Channels

    def manage(self, method, resource="channels", body=b"", topic=None, without=(), **headers):
        fields = [
            (":method", method), (":scheme", "https"), (":path", f"/1/apps/{topic or self.topic}/{resource}"),
            (":authority", self.host), ("authorization", f"bearer {self.provider_token}"),
            *((name.replace("_", "-"), value) for name, value in headers.items())]
        with self.channels_peer() as peer:
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
            return self.checked(peer.ask([field for field in fields if field[0] not in without], body))

    def create_channel(self, policy=1, topic=None):
        """Creates a channel and returns its ID."""
        body = {"message-storage-policy": policy, "push-type": "LiveActivity"}
        exchange = self.manage("POST", body=body, topic=topic)
        expect(exchange.status == 201, exchange)
        return exchange.field("apns-channel-id")

    def broadcast(self, channel=None, body=UPDATE, topic=None, without=(), **headers):
        values = {"apns-push-type": "liveactivity", "apns-expiration": "0", "apns-priority": "10"}
        if channel:
            values["apns-channel-id"] = channel
        values |= {name.replace("_", "-"): value for name, value in headers.items()}
        fields = [
            (":method", "POST"), (":scheme", "https"), (":path", f"/4/broadcasts/apps/{topic or self.topic}"),
            (":authority", self.host), ("authorization", f"bearer {self.provider_token}"),
            *((name, value) for name, value in values.items() if name not in without)]
        return self.ask(fields, body)
