# SPDX-License-Identifier: Apache-2.0
"""Proxies between the nodes of a cluster, and between nodes and PostgreSQL, which hold data back in one direction or both.

A cut connection stays open and transmits nothing, as when a cable is pulled.
"""
import asyncio
import os

CHUNK = 1 << 16


class Gates:
    """The directions that are cut, as pairs of the sender's and the receiver's name."""

    def __init__(self):
        self.cut, self.changed = set(), asyncio.Event()

    def set(self, directions, is_cut):
        self.cut = self.cut | set(directions) if is_cut else self.cut - set(directions)
        self.changed.set()
        self.changed = asyncio.Event()


class Pair:
    """A connection to a proxy, and the proxy's connection to the target."""

    def __init__(self, gates, source, target):
        self.gates, self.source, self.target = gates, source, target
        self.writers = []

    @property
    def ends(self):
        return self.source(), self.target

    async def forward(self, reader, writer, is_answer):
        try:
            while data := await reader.read(CHUNK):
                await self.pass_gate(is_answer)
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        # The end of a connection does not pass a cut link either.
        await self.pass_gate(is_answer)
        self.abort()

    async def pass_gate(self, is_answer):
        while True:
            source, target = self.ends
            if ((target, source) if is_answer else (source, target)) not in self.gates.cut:
                return
            await self.gates.changed.wait()

    def abort(self):
        for writer in self.writers:
            writer.transport.abort()


class Proxies:
    """The proxies of a cluster. Each node has a port, to which other nodes connect, and sockets of PostgreSQL."""

    DATABASE = "database"

    def __init__(self):
        self.gates, self.pairs, self.links = Gates(), set(), []
        #: The names of nodes, the sockets of PostgreSQL's servers, and the proxies' own sockets, by server.
        self.sockets, self.listeners = {}, {}
        #: The process IDs of running nodes.
        self.processes = {}

    async def add_node(self, name, port, postgres_sockets, directory):
        """Starts the proxies of a node. Returns the port to which other nodes connect."""
        for server, path in enumerate(postgres_sockets):
            self.sockets.setdefault(server, []).append((name, path, f"{directory}/{os.path.basename(path)}"))
            self.listeners.setdefault(server, []).append(await self.listen_on_socket(*self.sockets[server][-1]))

        async def accept(reader, writer):
            peer = writer.get_extra_info("peername")[1]
            pair = Pair(self.gates, self.owner_of(peer), name)
            await self.serve(pair, reader, writer, asyncio.open_connection("127.0.0.1", port))

        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        self.links.append(server)
        return server.sockets[0].getsockname()[1]

    async def listen_on_socket(self, name, target, path):
        async def accept(reader, writer):
            pair = Pair(self.gates, lambda: name, self.DATABASE)
            await self.serve(pair, reader, writer, asyncio.open_unix_connection(target))

        return await asyncio.start_unix_server(accept, path)

    async def set_listening(self, server, is_listening):
        """Accepts connections to a server of PostgreSQL, or refuses them because the server does not run."""
        for listener in self.listeners[server]:
            listener.close()
        self.listeners[server] = [
            await self.listen_on_socket(*socket) for socket in self.sockets[server]] if is_listening else []

    async def serve(self, pair, reader, writer, connecting):
        pair.writers.append(writer)
        try:
            answers, target = await connecting
        except OSError:
            return pair.abort()
        pair.writers.append(target)
        self.pairs.add(pair)
        try:
            await asyncio.gather(pair.forward(reader, target, False), pair.forward(answers, writer, True))
        finally:
            self.pairs.discard(pair)

    def owner_of(self, port):
        """Returns a function that returns the name of the node whose process connected from a port."""
        inode, found = self.inode(port), []

        def owner():
            if not found:
                found.extend(
                    name for name, process in self.processes.items() if inode and self.has_socket(process, inode))
            return found[0] if found else None

        return owner

    @staticmethod
    def inode(port):
        with open("/proc/net/tcp") as table:
            for line in list(table)[1:]:
                words = line.split()
                if words[1] == f"0100007F:{port:04X}":
                    return words[9]
        return None

    @staticmethod
    def has_socket(process, inode):
        folder = f"/proc/{process}/fd"
        try:
            for name in os.listdir(folder):
                try:
                    if os.readlink(f"{folder}/{name}") == f"socket:[{inode}]":
                        return True
                except OSError:
                    pass  # The descriptor was closed meanwhile.
        except OSError:
            pass  # The process has ended.
        return False

    # Faults

    def cut(self, directions):
        self.gates.set(directions, True)

    def heal(self, directions, resets):
        """Ends a cut. Either the data that was held back arrives late, or the connections are reset."""
        directions = set(directions)
        if resets:
            for pair in list(self.pairs):
                source, target = pair.ends
                if {(source, target), (target, source)} & directions:
                    pair.abort()
        self.gates.set(directions, False)
