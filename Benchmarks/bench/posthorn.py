# SPDX-License-Identifier: Apache-2.0
"""Runs posthornd as a measured server, and prepares its apps, keys, devices and store."""
import base64
import json
import os
import pathlib
import random
import socket
import ssl
import subprocess
import time

from .measure import HERE, Failure, Generator
from .servers import Server

PROGRAMS = pathlib.Path(os.environ.get("POSTHORN_PROGRAMS", HERE.parent / ".build/release")).resolve()
TOPIC = "org.example.Bench"


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def provider_token(key_file, key_id, team_id):
    """Returns a token signed by the openssl program; converts its DER signature to two numbers of 32 bytes."""
    head = base64url(json.dumps({"alg": "ES256", "kid": key_id}).encode())
    message = head + b"." + base64url(json.dumps({"iss": team_id, "iat": int(time.time())}).encode())
    der = subprocess.run(
        ["openssl", "dgst", "-sha256", "-sign", key_file], input=message, capture_output=True, check=True).stdout
    numbers, position = b"", 2
    for _ in range(2):
        end = position + 2 + der[position + 1]
        numbers += der[position + 2:end][-32:].rjust(32, b"\0")
        position = end
    return (message + b"." + base64url(numbers)).decode()


class Posthorn(Server):
    """A posthornd on one core, with the default durability and trace, and by default with one loop."""

    name = "posthornd"
    program = str(PROGRAMS / "posthornd")

    def __init__(self, workshop, extra=(), loop_count=1):
        super().__init__(workshop)
        self.extra = list(extra)
        self.loop_count = loop_count
        self.identities = None
        self.channel = None
        self.key = None
        self.token = ""
        self.stream_name = ""

    def arguments(self):
        return [
            "--data-directory", self.directory / "data", "--listen", f"127.0.0.1:{self.port}", "--admin-socket",
            self.socket, "--loops", self.loop_count, "--open-enrolment", "yes", "--stranger-enrolments", 0,
            "--team-bad-tokens", 0, "--device-streams", 0, "--log-level", "warning", *self.extra]

    @property
    def socket(self):
        return self.directory / "admin.sock"

    def admin(self, *arguments):
        done = subprocess.run(
            [PROGRAMS / "posthorn", *arguments], capture_output=True, text=True, cwd=self.directory,
            env={**os.environ, "POSTHORN_ADMIN_SOCKET": str(self.socket)})
        if done.returncode != 0:
            raise Failure(f"posthorn {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def prepare(self, device_count=0, broadcasts=False, policy="none"):
        """Creates an app, a key, and devices."""
        self.admin("app", "add", TOPIC, *(["--broadcasts", "on"] if broadcasts else []))
        made = json.loads(self.admin("key", "create", "--json", "-o", "key.p8"))
        self.key = (made.get("key_id") or made["keyID"], made.get("team_id") or made["teamID"])
        self.token = self.make_token()
        if broadcasts:
            shown = json.loads(self.admin("channel", "create", TOPIC, "--policy", policy, "--json"))
            self.channel = shown.get("channel_id") or shown.get("channel") or shown["id"]
        if device_count:
            self.enrol(device_count)
        return self

    def make_token(self):
        """Returns a new provider token, which is valid for an hour."""
        return provider_token(self.directory / "key.p8", *self.key)

    def enrol(self, count):
        path = self.directory / "identities"
        options = [("port", self.port), ("topic", TOPIC), ("count", count), ("out", path)]
        if self.channel:
            options.append(("channel", self.channel))
        generator = Generator("enrol", options)
        if generator.read()["enrolled"] != count:
            raise Failure("not all devices were enrolled")
        generator.close()
        # Shuffled, as in a back-end's list.
        lines = path.read_text().splitlines(keepends=True)
        random.Random(1).shuffle(lines)
        path.write_text("".join(lines))
        self.identities = path

    def part(self, name, first, last):
        """Writes a range of the devices to a file and returns its path."""
        lines = self.identities.read_text().splitlines(keepends=True)[first:last]
        path = self.directory / name
        path.write_text("".join(lines))
        return path

    def headers(self, *more):
        fields = [
            f"apns-topic: {TOPIC}", "apns-push-type: alert", f"authorization: bearer {self.token}", *more]
        return [("header", field) for field in fields]

    def count(self, name):
        """Returns one of the counts of `posthorn status`."""
        return json.loads(self.admin("status", "--json"))["counts"][name]

    def expect_nothing_dropped(self):
        if self.count("dropped") > 0:
            raise Failure(f"the server dropped {self.count('dropped')} notifications: more devices are needed")

    def expect_all_acknowledged(self):
        """Checks after all acknowledgements that soon nothing is pending and that nothing was dropped."""
        deadline = time.monotonic() + 20
        while self.count("pending") > 0:
            if time.monotonic() > deadline:
                raise Failure(f"{self.count('pending')} notifications are still pending although all were acknowledged")
            time.sleep(0.1)
        self.expect_nothing_dropped()

    def stream(self):
        """Returns the protocol for devices: WebSocket if the server supports it."""
        if os.environ.get("BENCH_STREAM"):
            self.stream_name = f"posthorn-{os.environ['BENCH_STREAM']}"
            return self.stream_name
        secret = self.identities.open().readline().split()[0]
        context = ssl._create_unverified_context()
        with context.wrap_socket(socket.create_connection(("127.0.0.1", self.port))) as connection:
            connection.settimeout(5)
            connection.sendall(
                f"GET /v1/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {secret}\r\n"
                "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: posthorn.v1\r\n\r\n".encode())
            answer = connection.recv(64)
        self.stream_name = "posthorn-websocket" if b" 101 " in answer else "posthorn-events"
        return self.stream_name
