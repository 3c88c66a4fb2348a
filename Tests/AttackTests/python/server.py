# SPDX-License-Identifier: Apache-2.0
"""A real `posthornd` with its default limits, and the apps, keys, devices and channels that a test creates."""
import base64
import functools
import http.client
import http.server
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from wire import HTTP2, PATIENCE, request

#: The address for preparations, so that limits by address are unused when an attack begins.
PREPARING = "127.0.0.4"
PROGRAM = os.environ.get("POSTHORN_SERVER", "posthornd")


class Refused(Exception):
    """Reports that the server refused a test's preparation."""


class AdminConnection(http.client.HTTPConnection):
    """HTTP over the admin socket."""

    def __init__(self, path):
        super().__init__("posthorn", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Place:
    """A server's address and the authority to trust."""

    def __init__(self, port, authority):
        self.address, self.authority = ("127.0.0.1", port), authority

    @functools.cache
    def context(self, protocol):
        context = ssl.create_default_context(cafile=self.authority)
        context.set_alpn_protocols([protocol])
        # A context shares its tickets among its connections. An attacker must pay for each handshake.
        return context

    def __reduce__(self):
        return Place, (self.address[1], self.authority)


class Site:
    """A running server. Use it with `with`."""

    def __init__(self, *options, wrapper=(), reads_log=True):
        # The path is short, because a UNIX socket's path has at most 107 bytes.
        self.directory = tempfile.mkdtemp(prefix="attack-")
        self.options, self.wrapper, self.reads_log, self.port = options, wrapper, reads_log, 0
        self.process = self.pipe = self.place = None
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.close_log()
        shutil.rmtree(self.directory, ignore_errors=True)

    # The process

    @property
    def admin_socket(self):
        return f"{self.directory}/admin.sock"

    @property
    def log_path(self):
        return f"{self.directory}/log"

    def start(self):
        """Starts the server, on the same port as before."""
        self.close_log()
        if self.reads_log:
            output = open(self.log_path, "ab")
        else:
            self.pipe, writing = os.pipe()
            output = os.fdopen(writing, "wb")
        arguments = [PROGRAM, "--data-directory", f"{self.directory}/data", "--listen", f"127.0.0.1:{self.port}",
                     "--admin-socket", self.admin_socket, *self.options]
        with output:
            self.process = subprocess.Popen(
                [*self.wrapper, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=output)
        self.wait_until_ready()

    def close_log(self):
        if self.pipe is not None:
            os.close(self.pipe)
            self.pipe = None

    def wait_until_ready(self):
        deadline = time.monotonic() + 30 + PATIENCE
        while True:
            try:
                self.port = int(self.admin("GET", "/v1/status")["server_url"].rpartition(":")[2])
                break
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise Refused(f"posthornd does not answer: {self.log()[-2000:]}") from None
                time.sleep(0.02)
        self.place = Place(self.port, f"{self.directory}/data/authority.pem")

    def stop(self, seconds=PATIENCE + 10):
        """Sends SIGTERM. Returns the exit code, negative for a signal, or None when the server does not end."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    @property
    def end(self):
        """Returns the exit code, or None while the server runs."""
        return self.process.poll()

    def log(self):
        if not self.reads_log:
            return ""
        with open(self.log_path, errors="replace") as log:
            return log.read()

    def memory(self, name="VmRSS"):
        """Returns the resident memory in MiB. `VmHWM` is its peak."""
        try:
            with open(f"/proc/{self.process.pid}/status") as status:
                lines = dict(line.split(":", 1) for line in status)
            return int(lines[name].split()[0]) / 1024
        except (OSError, KeyError):
            return 0.0

    def forget_peak(self):
        """Resets the peak of memory to the current value."""
        with open(f"/proc/{self.process.pid}/clear_refs", "w") as file:
            file.write("5")

    def descriptor_count(self):
        try:
            return len(os.listdir(f"/proc/{self.process.pid}/fd"))
        except OSError:
            return 0

    def data_byte_count(self):
        """Returns the size of the database in bytes."""
        paths = (os.path.join(folder, name) for folder, _, names in os.walk(f"{self.directory}/data") for name in names)
        return sum(os.path.getsize(path) for path in paths if "sqlite" in path)

    # The administrator

    def admin(self, method, target, body=None):
        """Sends a request to the admin API, and returns the decoded body."""
        connection = AdminConnection(self.admin_socket)
        try:
            connection.request(method, target, json.dumps(body) if body is not None else None,
                               {"content-type": "application/json"} if body is not None else {})
            response = connection.getresponse()
            text = response.read()
        finally:
            connection.close()
        if response.status >= 300:
            raise Refused(f"{method} {target}: {response.status} {text.decode()}")
        return json.loads(text) if text else None

    def counts(self):
        return self.admin("GET", "/v1/status")["counts"]

    def add_app(self, topic, team=None, broadcasts=False):
        self.admin("POST", "/v1/apps", {"topic": topic, "team_id": team, "broadcasts": broadcasts})

    def add_key(self, team=None):
        made = self.admin("POST", "/v1/keys", {"team_id": team})
        return Key(made["private_key"], made["key_id"], made["team_id"])

    def add_channel(self, topic, policy=1):
        return self.admin("POST", f"/v1/apps/{topic}/channels", {"message_storage_policy": policy})["channel_id"]

    def add_device(self, name="device"):
        code = self.admin("POST", "/v1/enrolment-codes")["code"]
        return Device(self, name, code)

    def trace(self, **query):
        """Returns the events of a notification, a device or an app. Empty when nothing is known."""
        parameters = "&".join(f"{name}={value}" for name, value in query.items())
        try:
            return self.admin("GET", f"/v1/trace?{parameters}")["events"]
        except Refused as refusal:
            if ": 404 " in str(refusal):
                return []
            raise


def polite(place, fields, body=b""):
    """Sends a request on its own connection, waits as 429 answers request, and returns the exchange."""
    deadline = time.monotonic() + 3 * PATIENCE
    while True:
        with HTTP2(place, source=PREPARING) as connection:
            exchange = connection.ask(fields, body)
        if exchange.status != 429 or time.monotonic() > deadline:
            return exchange
        time.sleep(min(5, float(exchange.fields.get("retry-after", 0.2)) or 0.2))


class Device:
    """An enrolled device."""

    def __init__(self, site, name, code=None):
        self.site = site
        made = self.ask("POST", "/v1/devices", {"code": code, "name": name, "platform": "linux"}, 201, secret=None)
        self.id, self.secret = made["device_id"], made["device_secret"]

    def ask(self, method, path, body=None, status=204, **options):
        secret = options.get("secret", getattr(self, "secret", None))
        text = b"" if body is None else json.dumps(body).encode()
        exchange = polite(self.site.place, request(method, path, secret), text)
        if exchange.status != status:
            raise Refused(f"{method} {path}: {exchange.status} {exchange.body.decode(errors='replace')}")
        return json.loads(exchange.body) if exchange.body else None

    def register(self, topic):
        return self.ask("PUT", f"/v1/apps/{topic}", {}, 200)["device_token"]

    def subscribe(self, topic, channels):
        """Subscribes to channels on one connection, and waits when the server requests it."""
        with HTTP2(self.site.place, source=PREPARING) as connection:
            for channel in channels:
                path = channel.replace("/", "%2F").replace("+", "%2B").replace("=", "%3D")
                fields = request("PUT", f"/v1/apps/{topic}/channels/{path}", self.secret)
                exchange = connection.ask(fields)
                while exchange.status == 429:
                    time.sleep(min(5, float(exchange.fields.get("retry-after", 0.1)) or 0.1))
                    exchange = connection.ask(fields)
                if exchange.status != 204:
                    raise Refused(f"subscription: {exchange.status} {exchange.body}")


def url_base64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Key:
    """A signing key."""

    def __init__(self, text, key_id, team_id):
        self.text, self.id, self.team_id = text, key_id, team_id

    def token(self, key_id=None, spoils=None, age=0):
        """Returns a provider token. With `spoils` its signature is wrong, and differs by this number."""
        head = url_base64(json.dumps({"alg": "ES256", "kid": key_id or self.id}).encode())
        claims = {"iss": self.team_id, "iat": int(time.time()) - age} | ({} if spoils is None else {"x": spoils})
        text = f"{head}.{url_base64(json.dumps(claims).encode())}"
        if spoils is not None:
            return f"{text}.{url_base64(b'1' * 64)}"
        key = serialization.load_pem_private_key(self.text.encode(), None)
        signature = key.sign(text.encode(), ec.ECDSA(hashes.SHA256()))
        return f"{text}.{url_base64(b''.join(part.to_bytes(32, 'big') for part in decode_dss_signature(signature)))}"


def push(token, topic, provider_token, extra=()):
    """Returns the fields of a notification."""
    return request("POST", f"/3/device/{token}", extra=[
        ("authorization", f"bearer {provider_token}"), ("apns-topic", topic), ("apns-push-type", "alert"), *extra])


class Webhook:
    """A back-end that records the events that it receives. Use it with `with`."""

    def __init__(self):
        events = self.events = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                events.extend(body)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def named(self, *names):
        """Returns the events with these names."""
        return [event for event in list(self.events) if event.get("event") in names]
