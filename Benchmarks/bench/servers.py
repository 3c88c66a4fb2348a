# SPDX-License-Identifier: Apache-2.0
"""Starts the measured servers: each runs on core 0 with its own port, in a directory that is deleted afterwards."""
import os
import pathlib
import random
import shlex
import shutil
import socket
import subprocess
import textwrap
import time

from .measure import HERE, SERVER_CORE, Failure, cpu_seconds, memory_kilobytes

PEERS = HERE / ".build/peers"


def free_port():
    """Returns a free port below those that the kernel gives to connections, so that a server can start again on it."""
    while True:
        port = random.randrange(10_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


class Server:
    """A process and its children; a subclass defines how to start it."""

    name = ""
    program = ""
    # The configuration file that the command line names.
    configuration = None
    cores = SERVER_CORE

    def __init__(self, workshop):
        self.workshop = workshop
        self.port = free_port()
        self.directory = pathlib.Path(workshop.make_directory(self.name))
        self.log = open(self.directory / "log", "w")
        self.process = None

    def arguments(self):
        raise NotImplementedError

    def start(self):
        found = shutil.which(self.program) or self.program
        if not os.path.exists(found):
            raise Failure(f"{self.program} is missing: run Benchmarks/setup.sh")
        command = ["taskset", "-c", self.cores, found, *map(str, self.arguments())]
        self.disclose(command)
        self.process = subprocess.Popen(
            command, cwd=self.directory, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)
        self.wait_for_port()
        return self

    def disclose(self, command):
        """Keeps the command line and the configuration, with names instead of this run's paths and port."""
        certificate, key = self.workshop.certificate
        names = {str(self.directory): "DIRECTORY", certificate: "CERTIFICATE", key: "KEY", str(self.port): "PORT",
                 command[3]: os.path.basename(command[3])}

        def anonymous(text):
            for found, name in names.items():
                text = text.replace(found, name)
            return text
        configuration = (self.directory / self.configuration).read_text() if self.configuration else ""
        self.workshop.disclose(anonymous(shlex.join(command)), anonymous(textwrap.dedent(configuration)).strip())

    def wait_for_port(self):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.005)
        self.stop()
        raise Failure(f"{self.name} did not start: {(self.directory / 'log').read_text()[-600:]}")

    def pids(self):
        found = [self.process.pid]
        for pid in found:
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/children") as file:
                    found += map(int, file.read().split())
        return found

    def cpu(self):
        return cpu_seconds(self.pids())

    def memory(self):
        return memory_kilobytes(self.pids())

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()


class Floor(Server):
    """The minimal OpenSSL server in C; like posthornd, it sends one ticket."""

    name = "floor"
    program = str(HERE / ".build/floor")

    def arguments(self):
        return [self.port, *self.workshop.certificate, 1]


class NGHTTPD(Server):
    """The server nghttpd, which answers each path with an empty 200."""

    name = "nghttpd"
    program = "nghttpd"

    def arguments(self):
        files = self.directory / "files"
        (files / "3/device").mkdir(parents=True)
        for path in self.workshop.foreign_paths:
            (files / path[1:]).touch()
        certificate, key = self.workshop.certificate
        return ["-n", 1, "--no-content-length", "-d", files, self.port, key, certificate]


class Nchan(Server):
    """The server nginx with nchan, which keeps messages in memory."""

    name = "nchan"
    program = "nginx"
    configuration = "nginx.conf"

    def arguments(self):
        certificate, key = self.workshop.certificate
        (self.directory / "nginx.conf").write_text(f"""
            load_module /usr/lib/nginx/modules/ngx_nchan_module.so;
            worker_processes 1; daemon off; master_process on; pid {self.directory}/pid; error_log stderr warn;
            user {os.environ.get("USER", "root")};
            worker_rlimit_nofile 20000;
            events {{ worker_connections 19900; }}
            http {{
                access_log off; keepalive_requests 1000000000; keepalive_timeout 1h;
                http2_max_concurrent_streams 1000; nchan_shared_memory_size 1024M;
                client_body_temp_path {self.directory}/body; proxy_temp_path {self.directory}/proxy;
                fastcgi_temp_path {self.directory}/f; uwsgi_temp_path {self.directory}/u; scgi_temp_path {self.directory}/s;
                server {{
                    listen 127.0.0.1:{self.port} ssl http2 backlog=4096;
                    ssl_certificate {certificate}; ssl_certificate_key {key}; ssl_protocols TLSv1.3;
                    location ~ ^/pub/(.+)$ {{ nchan_publisher; nchan_channel_id $1; nchan_message_buffer_length 10; }}
                    location ~ ^/sub/(.+)$ {{ nchan_subscriber eventsource; nchan_channel_id $1;
                        nchan_subscriber_first_message newest; }}
                }}
            }}""")
        return ["-c", self.directory / "nginx.conf"]


class Redis(Server):
    """Redis that syncs its log before it answers."""

    name = "redis"
    program = "redis-server"

    def arguments(self):
        certificate, key = self.workshop.certificate
        return [
            "--port", 0, "--tls-port", self.port, "--tls-cert-file", certificate, "--tls-key-file", key,
            "--tls-ca-cert-file", certificate, "--tls-auth-clients", "no", "--appendonly", "yes", "--appendfsync",
            "always", "--protected-mode", "no", "--save", "", "--dir", self.directory, "--bind", "127.0.0.1",
            "--maxclients", 19000, "--auto-aof-rewrite-percentage", 0, "--client-output-buffer-limit", "pubsub 0 0 0"]


class Mosquitto(Server):
    """Mosquitto with persistent sessions, which it saves periodically and on exit."""

    name = "mosquitto"
    program = "/usr/sbin/mosquitto"
    configuration = "conf"

    def arguments(self):
        certificate, key = self.workshop.certificate
        user = os.environ.get("USER", "root")
        (self.directory / "conf").write_text(
            f"listener {self.port} 127.0.0.1\ncertfile {certificate}\nkeyfile {key}\ntls_version tlsv1.3\n"
            f"allow_anonymous true\npersistence true\npersistence_location {self.directory}/\nuser {user}\n"
            "max_queued_messages 0\nmax_inflight_messages 0\nset_tcp_nodelay true\nlog_type error\n")
        return ["-c", self.directory / "conf"]


class NATS(Server):
    """NATS JetStream that syncs each message to its file."""

    name = "nats"
    program = str(PEERS / "bin/nats-server")
    configuration = "conf"

    def arguments(self):
        certificate, key = self.workshop.certificate
        (self.directory / "conf").write_text(
            f'listen: "127.0.0.1:{self.port}"\nmax_connections: 19000\n'
            f'tls {{ cert_file: "{certificate}", key_file: "{key}", handshake_first: true }}\n'
            f'jetstream {{ store_dir: "{self.directory}/store", sync_interval: always }}\n')
        return ["-c", self.directory / "conf"]

    def start(self):
        os.environ["GOMAXPROCS"] = "1"
        return super().start()
