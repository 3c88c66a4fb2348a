# SPDX-License-Identifier: Apache-2.0
"""Starts PostgreSQL for a cluster: a primary and two standbys, of which one must confirm each commit."""
import os
import pathlib
import shutil
import signal
import subprocess
import time

from .measure import TICKS, Failure, cpu_seconds
from .servers import Server

PROGRAMS = pathlib.Path(os.environ.get("POSTGRES_PROGRAMS", "/usr/lib/postgresql/15/bin"))
IS_ROOT = os.geteuid() == 0
# PostgreSQL refuses to run as root.
ORDINARY = {"user": "nobody", "group": "nogroup", "extra_groups": []} if IS_ROOT else {}
WAIT_SECONDS = 60


class Postgres(Server):
    """A PostgreSQL server with TLS on one core; all other settings that are not below have their defaults."""

    name = "postgres"
    program = "setpriv" if IS_ROOT else str(PROGRAMS / "postgres")
    configuration = "data/postgresql.conf"

    def __init__(self, workshop, name):
        super().__init__(workshop)
        self.member = name
        self.data = self.directory / "data"
        # The ordinary user must reach its directory, and writes only there.
        os.chmod(workshop.root, 0o711)
        if IS_ROOT:
            shutil.chown(self.directory, ORDINARY["user"], ORDINARY["group"])

    def arguments(self):
        words = ["--reuid=nobody", "--regid=nogroup", "--clear-groups", PROGRAMS / "postgres"] if IS_ROOT else []
        return [*words, "-D", self.data]

    def run(self, program, *arguments):
        done = subprocess.run(
            [PROGRAMS / program, *map(str, arguments)], cwd=self.directory, capture_output=True, text=True,
            env={"PATH": os.environ["PATH"], "PGSSLMODE": "disable"}, **ORDINARY)
        if done.returncode != 0:
            raise Failure(f"{program}: {done.stderr[-600:]}")
        return done.stdout.strip()

    def create(self):
        """Creates an empty database cluster."""
        self.run("initdb", "--pgdata", self.data, "--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8",
                 "--no-locale")
        self.copy_certificate(self.data)
        return self.configure(None)

    def copy_certificate(self, folder):
        """Copies the certificate and its key to a folder, so that PostgreSQL can read them."""
        targets = [folder / name for name in ("server.crt", "server.key")]
        for source, target in zip(self.workshop.certificate, targets):
            shutil.copyfile(source, target)
            target.chmod(0o600)
            if IS_ROOT:
                shutil.chown(target, ORDINARY["user"], ORDINARY["group"])
        return targets

    def copy(self, primary):
        """Makes a standby from a copy of the primary."""
        self.run("pg_basebackup", *primary.connection(), "--pgdata", self.data, "--checkpoint=fast", "--no-sync")
        (self.data / "standby.signal").touch()
        return self.configure(primary)

    def configure(self, primary):
        """Writes the settings; `primary` is the server to follow, or None."""
        source = f"host=127.0.0.1 port={primary.port} user=postgres application_name={self.member}" if primary else ""
        (self.data / "postgresql.conf").write_text(
            f"port = {self.port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\nssl = on\n"
            f"shared_buffers = 256MB\nmax_wal_size = 4GB\nwal_keep_size = 1GB\n"
            f"synchronous_standby_names = 'ANY 1 (s0, s1, s2)'\nprimary_conninfo = '{source}'\n")
        return self

    def follow(self, primary):
        """Lets a running standby follow another primary."""
        self.configure(primary)
        self.process.send_signal(signal.SIGHUP)

    def connection(self):
        return ["--host=127.0.0.1", f"--port={self.port}", "--username=postgres"]

    def sql(self, text):
        return self.run("psql", *self.connection(), "--no-psqlrc", "--tuples-only", "--no-align", "--command", text)

    def wait_for_port(self):
        super().wait_for_port()
        wait_until(lambda: answers(self), f"{self.member} does not answer")

    def cpu(self):
        """Returns the CPU time of the server, also of processes that have ended, such as those of autovacuum."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        total = (int(fields[13]) + int(fields[14])) / TICKS
        for pid in self.pids():
            try:
                total += cpu_seconds([pid])
            except (FileNotFoundError, ProcessLookupError):
                pass
        return total

    def pids(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [self.process.pid, *map(int, children.split())]

    def stop(self):
        # SIGTERM would wait until the last client has left.
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        super().stop()

    def kill(self):
        """Kills all processes of the server, as the loss of its machine does."""
        pids = self.pids()
        self.process.kill()
        for pid in pids[1:]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()


def answers(server):
    try:
        return server.sql("SELECT 1") == "1"
    except Failure:
        return False


def wait_until(condition, problem, seconds=WAIT_SECONDS):
    """Waits for a condition, and returns the seconds that passed."""
    start = time.monotonic()
    while not condition():
        if time.monotonic() - start > seconds:
            raise Failure(problem)
        time.sleep(0.05)
    return time.monotonic() - start


class Trio:
    """A primary and two standbys; one of the standbys must have a commit before it is confirmed."""

    def __init__(self, workshop):
        self.servers = [Postgres(workshop, f"s{number}") for number in range(3)]
        self.certificate = workshop.certificate[0]
        self.primary = self.servers[0]

    @property
    def address(self):
        hosts = ",".join(f"localhost:{server.port}" for server in self.servers)
        return f"postgresql://postgres@{hosts}/postgres?sslmode=verify-full&sslrootcert={self.certificate}"

    @property
    def standbys(self):
        return [server for server in self.servers if server is not self.primary]

    def start(self):
        self.primary.create().start()
        for standby in self.standbys:
            standby.copy(self.primary).start()
        wait_until(lambda: self.standby_count() == 2, "the standbys are not synchronous")
        return self

    def standby_count(self):
        return int(self.primary.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'"))

    def lose_primary(self):
        """Kills the primary, and promotes the standby that has received more; returns the seconds of both together."""
        start = time.monotonic()
        lost, candidates = self.primary, self.standbys
        lost.kill()
        self.primary = self.settled(candidates)
        self.primary.run("pg_ctl", "--pgdata", self.primary.data, "--wait", "promote")
        seconds = time.monotonic() - start
        for standby in candidates:
            if standby is not self.primary:
                standby.follow(self.primary)
        self.servers = candidates
        return seconds

    @staticmethod
    def settled(candidates):
        """Returns the standby with the highest position, once none receives anything more."""
        earlier = None
        while True:
            positions = [received(standby) for standby in candidates]
            if positions == earlier:
                return candidates[positions.index(max(positions))]
            earlier = positions
            time.sleep(0.1)

    def cpu(self):
        return sum(server.cpu() for server in self.servers)

    def stop(self):
        for server in [*self.standbys, self.primary]:
            server.stop()


def received(standby):
    return int(standby.sql("SELECT (pg_last_wal_receive_lsn() - '0/0')::bigint"))
