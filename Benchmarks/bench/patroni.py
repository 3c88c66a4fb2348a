# SPDX-License-Identifier: Apache-2.0
"""Starts three PostgreSQL servers that Patroni and etcd control, with the settings that the documentation recommends."""
import json
import os
import pathlib
import re
import shutil
import signal
import urllib.error
import urllib.request

from .measure import HERE, Failure
from .postgres import IS_ROOT, ORDINARY, PROGRAMS, Postgres, wait_until
from .servers import Server, free_port

PAGE = HERE.parent / "docs/how-to/several-machines.md"
# PostgreSQL refuses to run as root. Etcd and Patroni do not need root.
ENTER = ["--reuid=nobody", "--regid=nogroup", "--clear-groups"] if IS_ROOT else []
ENTERING = "setpriv" if IS_ROOT else "env"
ALL_CORES = ",".join(map(str, sorted(os.sched_getaffinity(0))))
HEALTHY_SECONDS = 120


def recommended_settings():
    """Returns the Patroni settings of the page for administrators, so that the run measures the documented settings."""
    found = re.search(r"With \*\*Patroni\*\*.*?```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    if found is None:
        raise Failure(f"{PAGE} has no settings of Patroni")
    return found.group(1)


def installed(program):
    if shutil.which(program) is None:
        raise Failure(f"{program} is missing: run Benchmarks/setup.sh soak")
    return program


class Etcd(Server):
    """An etcd cluster with one member."""

    name = "etcd"
    program = ENTERING
    cores = ALL_CORES

    def __init__(self, workshop):
        super().__init__(workshop)
        if IS_ROOT:
            shutil.chown(self.directory, ORDINARY["user"], ORDINARY["group"])

    def arguments(self):
        client, peer = (f"http://127.0.0.1:{port}" for port in (self.port, free_port()))
        return [*ENTER, installed("etcd"), "--data-dir", self.directory / "data", "--listen-client-urls", client,
                "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                "--initial-cluster", f"default={peer}"]


class Member(Postgres):
    """A PostgreSQL server that Patroni starts, promotes and demotes."""

    name = "patroni"
    program = ENTERING
    configuration = "patroni.yml"
    cores = ALL_CORES

    def __init__(self, workshop, name, etcd):
        super().__init__(workshop, name)
        self.etcd, self.rest_port, self.database = etcd, free_port(), "postgres"

    def arguments(self):
        return [*ENTER, installed("patroni"), self.directory / self.configuration]

    def prepare(self):
        certificate, key = self.copy_certificate(self.directory)
        settings = "".join(f"    {line}\n" for line in recommended_settings().splitlines())
        (self.directory / self.configuration).write_text(f"""scope: posthorn
name: {self.member}
restapi: {{listen: '127.0.0.1:{self.rest_port}', connect_address: '127.0.0.1:{self.rest_port}'}}
etcd3: {{host: '127.0.0.1:{self.etcd.port}'}}
bootstrap:
  dcs:
{settings}  initdb: [encoding: UTF8, locale: C, no-sync]
postgresql:
  listen: 127.0.0.1:{self.port}
  connect_address: 127.0.0.1:{self.port}
  data_dir: {self.data}
  bin_dir: {PROGRAMS}
  pgpass: {self.directory}/pgpass
  authentication:
    superuser: {{username: postgres, password: unused}}
    replication: {{username: replicator, password: unused}}
  parameters: {{ssl: 'on', ssl_cert_file: {certificate}, ssl_key_file: {key}, unix_socket_directories: '',
    shared_buffers: 256MB, max_wal_size: 4GB}}
  pg_hba: [host all all 127.0.0.1/32 trust, host replication all 127.0.0.1/32 trust]
""")
        return self

    def connection(self):
        return [*super().connection(), f"--dbname={self.database}"]

    def ask(self, path, body=None):
        """Returns the answer of Patroni's API."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.rest_port}{path}", data=json.dumps(body).encode() if body else None,
            headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.read().decode()
        except (OSError, urllib.error.URLError) as error:
            raise Failure(f"{self.member}: {path}: {error}") from error

    def postgres_pids(self):
        """Returns the processes of PostgreSQL, the postmaster first."""
        try:
            postmaster = int((self.data / "postmaster.pid").read_text().split()[0])
            children = pathlib.Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text()
        except FileNotFoundError:
            return []
        return [postmaster, *map(int, children.split())]

    def kill_process(self):
        """Kills PostgreSQL; Patroni keeps running."""
        for pid in self.postgres_pids():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def kill_machine(self):
        """Kills PostgreSQL and Patroni, as the loss of their machine does."""
        self.process.kill()
        self.kill_process()
        self.process.wait()

    def restart(self):
        self.log = open(self.directory / "log", "a")
        self.start()

    def stop(self):
        Server.stop(self)
        self.kill_process()


class Patroni:
    """A primary and two standbys, of which Patroni makes one synchronous."""

    def __init__(self, workshop):
        self.etcd = Etcd(workshop)
        self.servers = [Member(workshop, f"s{number}", self.etcd) for number in range(3)]
        self.certificate = workshop.certificate[0]

    @property
    def address(self):
        hosts = ",".join(f"localhost:{server.port}" for server in self.servers)
        return f"postgresql://posthorn@{hosts}/posthorn?sslmode=verify-full&sslrootcert={self.certificate}"

    @property
    def primary(self):
        return next((server for server, member in self.members() if member["role"] == "leader"), self.servers[0])

    def members(self):
        """Returns each server with its state according to Patroni; an empty list if no Patroni answers."""
        for server in self.servers:
            try:
                found = json.loads(server.ask("/cluster"))["members"]
            except Failure:
                continue
            names = {server.member: server for server in self.servers}
            return [(names[member["name"]], member) for member in found]
        return []

    def is_healthy(self):
        """Returns whether there are a primary, a synchronous standby and another standby, and both standbys follow."""
        members = [member for _, member in self.members()]
        roles = sorted(member["role"] for member in members)
        is_running = all(member["state"] in ("running", "streaming") for member in members)
        # A standby with another timeline cannot follow the primary.
        timelines = {member.get("timeline") for member in members}
        if roles != ["leader", "replica", "sync_standby"] or not is_running or len(timelines) > 1:
            return False
        try:
            return self.primary.sql("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") == "2"
        except Failure:
            return False

    def wait_until_healthy(self):
        return wait_until(self.is_healthy, "PostgreSQL does not have two standbys", HEALTHY_SECONDS)

    def start(self):
        self.etcd.start()
        for server in self.servers:
            server.prepare().start()
        self.wait_until_healthy()
        self.primary.sql("CREATE ROLE posthorn LOGIN")
        self.primary.sql("CREATE DATABASE posthorn OWNER posthorn")
        for server in self.servers:
            server.database = "posthorn"
        return self

    def switch(self):
        """Lets Patroni make the synchronous standby the primary."""
        roles = {member["role"]: server for server, member in self.members()}
        former, candidate = roles["leader"], roles["sync_standby"]
        former.ask("/switchover", {"leader": former.member, "candidate": candidate.member})

    def stop(self):
        for server in self.servers:
            server.stop()
        self.etcd.stop()
