# SPDX-License-Identifier: Apache-2.0
"""Servers for single cases: with other settings, to be stopped, to be killed and restarted, or with a shifted clock."""
import json
import mmap
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time

from catalogue import Unmet
from device import Admin
from stack import Stack

#: The path of posthornd, which the test that runs this program sets.
PROGRAM = os.environ.get("POSTHORN_SERVER", "posthornd")
CLOCK_LIBRARY = os.environ.get("POSTHORN_CLOCK_LIBRARY", "")


def read_variables(file):
    """Parses the lines NAME=value of an --env-file."""
    with open(file) as lines:
        return dict(line.rstrip("\n").split("=", 1) for line in lines if "=" in line)


class Server:
    """A `posthornd` in its own directory. Use it with `with`."""

    def __init__(self):
        # The path is short, because a UNIX socket's path has 107 bytes.
        self.directory = tempfile.mkdtemp(prefix="posthorn-")
        self.clock = Clock(f"{self.directory}/clock")
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        self.clock.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def launch(self, *arguments):
        self.log = open(f"{self.directory}/log", "ab")
        self.process = subprocess.Popen(
            [PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log,
            env=os.environ | {"TMPDIR": self.directory} | self.clock.environment)

    def kill(self):
        """Kills the server, as a crash does."""
        if self.process:
            self.process.send_signal(signal.SIGKILL)
            self.reap()

    def terminate(self):
        """Stops the server with SIGTERM, as an administrator does."""
        self.process.send_signal(signal.SIGTERM)

    def reap(self):
        self.process.wait(timeout=30)
        self.process.stdout.close()
        self.log.close()
        self.process = None

    def story(self):
        with open(f"{self.directory}/log", errors="replace") as log:
            return log.read()[-2000:]


class EphemeralServer(Server):
    """An ephemeral server like that of most cases, but with other options."""

    def __init__(self, *options):
        super().__init__()
        file = f"{self.directory}/environment"
        self.launch("--ephemeral", "--full", "--env-file", file, *options)
        line = self.process.stdout.readline()
        if not line:
            self.__exit__()
            raise Unmet(f"posthornd does not start with {options}")
        self.stack = Stack(read_variables(file), json.loads(line)["admin_socket"])


class InstalledServer(Server):
    """A server that keeps its data. `start` restarts it after `kill`, on another port."""

    def __init__(self, *options):
        super().__init__()
        self.stack, self.options = None, options
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise

    def boot(self):
        """Starts the process, and returns the path of its admin socket."""
        admin_socket = f"{self.directory}/admin.sock"
        self.launch("--data-directory", f"{self.directory}/data", "--listen", "127.0.0.1:0",
                    "--admin-socket", admin_socket, *self.options)
        return admin_socket

    def start(self):
        admin_socket = self.boot()
        status = self.wait_until_ready(admin_socket)
        port = status["server_url"].rpartition(":")[2]
        if self.stack:
            self.stack.port = int(port)
        else:
            self.stack = self.furnish(admin_socket, port)

    def wait_until_ready(self, admin_socket):
        deadline = time.monotonic() + 30
        while True:
            try:
                return Admin(admin_socket).ask("GET", "/v1/status")
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise Unmet(f"posthornd does not answer: {self.story()}") from None
                time.sleep(0.02)

    def furnish(self, admin_socket, port):
        """Adds an app and a key, but no device."""
        admin, topic = Admin(admin_socket), "org.example.Mail"
        admin.ask("POST", "/v1/apps", {"topic": topic})
        key = admin.ask("POST", "/v1/keys", {})
        file = f"{self.directory}/key.p8"
        with open(file, "w") as text:
            text.write(key["private_key"])
        return Stack({
            "APNS_HOST": "127.0.0.1", "APNS_PORT": port, "APNS_CA_FILE": f"{self.directory}/data/authority.pem",
            "APNS_KEY_FILE": file, "APNS_KEY_ID": key["key_id"], "APNS_TEAM_ID": key["team_id"],
            "APNS_TOPIC": topic, "APNS_TOKEN": ""}, admin_socket)


class Clock:
    """Both clocks of a server, which a case may put forward: see clock.c."""

    def __init__(self, file):
        self.environment = {}
        self.memory = None
        if CLOCK_LIBRARY:
            with open(file, "w+b") as shared:
                shared.write(bytes(8))
                shared.flush()
                self.memory = mmap.mmap(shared.fileno(), 8)
            self.environment = {"LD_PRELOAD": CLOCK_LIBRARY, "POSTHORN_CLOCK_FILE": file}
        self.seconds = 0

    def forward(self, seconds):
        """Puts the server's clocks forward immediately."""
        if self.memory is None:
            raise Unmet("POSTHORN_CLOCK_LIBRARY is not set: the server's clock cannot be put forward")
        self.seconds += seconds
        self.memory[:] = struct.pack("=q", self.seconds * 1_000_000_000)

    @property
    def unix_seconds(self):
        """Returns the current time of the server."""
        return int(time.time()) + self.seconds

    def close(self):
        if self.memory is not None:
            self.memory.close()
