# SPDX-License-Identifier: Apache-2.0
"""Starts the two measured installations: one posthornd with SQLite, and three nodes that share PostgreSQL."""
import contextlib

from .measure import Failure
from .postgres import Trio, wait_until
from .posthorn import Posthorn

# The default bounds would drop notifications of devices that are away for the whole run.
PENDING = ["--pending-per-topic", 1_000_000, "--pending-per-device", 1_000_000]
DEVICE_COUNT = 6000


class Node(Posthorn):
    """A node of the cluster."""

    def __init__(self, workshop, name, trio, key_file):
        super().__init__(workshop, PENDING)
        self.node_name = name
        # The other nodes reach it on the port for providers and devices.
        self.extra += ["--store-url", trio.address, "--cluster-node", name, "--cluster-address",
                       f"127.0.0.1:{self.port}", "--cluster-key-file", key_file]
        self.hidden = {trio.address: "postgresql://POSTGRES", str(key_file): "CLUSTER.KEY"}

    def restart(self):
        self.log = open(self.directory / "log", "a")
        self.start()

    def disclose(self, command):
        super().disclose([self.hidden.get(word, word) for word in command])


class Installation:
    """What one server and a cluster have in common: devices, and the names and CPU of the parts."""

    label = ""

    def __init__(self, nodes):
        self.nodes = nodes
        self.used = 0

    @property
    def node_count(self):
        return len(self.nodes)

    @property
    def ports(self):
        return ",".join(str(node.port) for node in self.nodes)

    @property
    def node_names(self):
        return [node.node_name for node in self.nodes]

    @property
    def first(self):
        return self.nodes[0]

    def headers(self):
        return self.first.headers()

    def prepare(self):
        self.first.prepare(DEVICE_COUNT)
        self.stream = self.first.stream()

    def devices(self, count):
        """Returns a file with devices that no other scenario has used."""
        self.used += count
        if self.used > DEVICE_COUNT:
            raise Failure("all devices are used: run fewer scenarios at once")
        return self.first.part(f"part-{self.used}", self.used - count, self.used)

    def expect_nothing_dropped(self):
        self.first.expect_nothing_dropped()


class Single(Installation):
    """A posthornd with SQLite."""

    label = "one server"

    def __init__(self, stack, workshop):
        node = stack.enter_context(Posthorn(workshop, PENDING))
        node.node_name = self.label
        super().__init__([node])
        self.prepare()

    def cpu(self):
        return self.first.cpu()

    def parts(self):
        return {}

    def rows(self):
        return 0

    def each(self):
        return {self.label: self.cpu()}


class Cluster(Installation):
    """Three nodes, and PostgreSQL with two standbys, by default without Patroni."""

    label = "cluster"

    def __init__(self, stack, workshop, trio=None):
        self.trio = trio or Trio(workshop)
        stack.callback(self.trio.stop)
        self.trio.start()
        self.key_file = workshop.root / "cluster.key"
        super().__init__([Node(workshop, f"n{number}", self.trio, self.key_file) for number in (1, 2, 3)])
        for node in self.nodes:
            stack.enter_context(node)
        self.prepare()
        # The other nodes find the key and the devices within some seconds.
        wait_until(lambda: all(node.count("devices") == DEVICE_COUNT for node in self.nodes), "a node lacks devices")
        # Autovacuum does this within a minute after a change of many rows. Before, PostgreSQL may choose slow plans.
        self.trio.primary.sql("ANALYZE")

    def cpu(self):
        return sum(self.parts().values())

    def parts(self):
        """Returns the CPU seconds of all nodes, of the primary, and of the standbys."""
        return {"nodes": sum(node.cpu() for node in self.nodes), "primary": self.trio.primary.cpu(),
                "standbys": sum(server.cpu() for server in self.trio.standbys)}

    def rows(self):
        """Returns the number of notifications that were written to PostgreSQL."""
        return int(self.trio.primary.sql("SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = 'pending'"))

    def each(self):
        found = {node.node_name: node.cpu() for node in self.nodes}
        found["PostgreSQL, primary"] = self.trio.primary.cpu()
        for server in self.trio.standbys:
            found[f"PostgreSQL, standby {server.member}"] = server.cpu()
        return found


class Pair:
    """The two installations, one server first."""

    def __init__(self, workshop):
        self.workshop = workshop
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.one, self.cluster = (kind(stack, self.workshop) for kind in (Single, Cluster))
            self.stack = stack.pop_all()
        return self

    def __iter__(self):
        return iter((self.one, self.cluster))

    def __exit__(self, *_):
        self.stack.close()
