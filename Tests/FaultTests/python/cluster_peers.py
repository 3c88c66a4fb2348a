# SPDX-License-Identifier: Apache-2.0
"""Providers at all nodes of a cluster, and devices that move between the nodes."""
import asyncio
import json
import random as randomness
import time

import h2.exceptions
import websockets

from desks import acknowledgements, tls
from device import Admin
from provider import Provider

#: The time in seconds after which a provider gives up a connection that does not answer.
PROVIDER_PATIENCE = 25
#: The interval of a device's pings, and the time for which it waits for the answer, in seconds.
PING_SECONDS = 4
LOST = (OSError, EOFError, asyncio.TimeoutError, asyncio.CancelledError, h2.exceptions.ProtocolError)
ENDED = (OSError, EOFError, asyncio.TimeoutError, websockets.WebSocketException)
TOKEN_SECONDS = 1200


class Node:
    """A node as providers, devices and administrators see it."""

    patience = 30

    def __init__(self, name, port, ca_file, admin_socket):
        self.name, self.host, self.port, self.ca_file = name, "127.0.0.1", port, ca_file
        self.admin = Admin(admin_socket)


class Account:
    """A node together with the key of a sender."""

    def __init__(self, node, key):
        self.host, self.port, self.ca_file, self.key = node.host, node.port, node.ca_file, key
        self.signed_at, self.token = 0, None

    @property
    def provider_token(self):
        if time.monotonic() - self.signed_at > TOKEN_SECONDS or not self.token:
            self.signed_at, self.token = time.monotonic(), self.key.sign()
        return self.token


class Connections:
    """The connections of all senders: one for each node and key."""

    def __init__(self, books):
        self.books, self.known, self.locks, self.readers = books, {}, {}, set()

    async def get(self, node, key):
        name = (node.name, key.id)
        async with asyncio.timeout(5), self.locks.setdefault(name, asyncio.Lock()):
            provider = self.known.get(name)
            if provider is None or provider.is_closed:
                provider = Provider(Account(node, key), self.books)
                await provider.connect()
                reader = asyncio.create_task(provider.read())
                self.readers.add(reader)
                reader.add_done_callback(self.readers.discard)
                self.known[name] = provider
            return provider

    def close(self):
        for provider in self.known.values():
            provider.writer.transport.abort()


class Sender:
    """Sends one notification after the other, at one node or at a random one each time."""

    def __init__(self, run, random, nodes, choose):
        self.run, self.books, self.random, self.nodes, self.choose = run, run.books, random, nodes, choose
        self.is_over = False

    async def send(self, pause):
        while not self.is_over:
            await asyncio.sleep(self.random.uniform(0, 2 * pause))
            target = self.choose(self.random)
            if target and not self.is_over:
                await self.send_one(self.random.choice(self.nodes), *target)

    async def send_one(self, node, key, device, topic, token):
        try:
            provider = await self.run.connections.get(node, key)
        except LOST:
            return await asyncio.sleep(0.1)
        if provider.is_closed:
            return await asyncio.sleep(0.1)
        collapse, expiration = draw(self.random)
        one = self.books.send(node.name, key.id, device, topic, collapse, expiration)
        fields = [("apns-topic", topic)]
        if collapse:
            fields.append(("apns-collapse-id", collapse))
        if expiration is not None:
            fields.append(("apns-expiration", str(expiration)))
        body = json.dumps({"aps": {"alert": "x"}, "n": one.number, "pad": "p" * self.run.pad(self.random)}).encode()
        try:
            async with asyncio.timeout(PROVIDER_PATIENCE):
                await provider.post(one, token, fields, body)
        except LOST:
            # It is unknown whether the notification was accepted.
            provider.is_closed = True
            provider.writer.transport.abort()
            await asyncio.sleep(0.05)
        else:
            if one.status == 503:
                await asyncio.sleep(0.2)


def draw(random):
    """Draws the collapse ID and the expiration of the next notification."""
    kind = random.random()
    if kind < 0.6:
        return None, None
    if kind < 0.8:
        return f"c{random.randrange(3)}", None
    if kind < 0.88:
        return None, 0
    return random.choice([None, "c0"]), int(time.time()) + random.choice([1, 2, 3600])


class ClusterDevice:
    """A device that connects to some nodes, and records a notification before it acknowledges it."""

    def __init__(self, run, device, seed, is_slow):
        self.run, self.books, self.random, self.is_slow = run, run.books, randomness.Random(seed), is_slow
        self.fields, self.id = device.fields, device.id
        self.screen = self.books.add_device(self.id)
        #: The nodes to which the device connects.
        self.nodes = run.nodes
        self.late, self.abandoned = [], []
        #: Whether the device stays away until the end of the run.
        self.is_away = False
        self.is_over = self.is_draining = False
        self.lost_at = None
        self.is_renewed = False
        #: Whether a node has refused the last attempt to connect.
        self.is_refused = False

    def renew(self):
        """Lets the device leave its stream and open another one."""
        self.is_renewed, self.screen.node = True, None

    async def live(self):
        """Connects and disconnects until the run is over; while draining, it stays connected."""
        node = self.random.choice(self.nodes)
        while not self.is_over:
            if self.is_away and not self.is_draining:
                await asyncio.sleep(0.2)
                continue
            try:
                await self.use_stream(node)
                self.lost_at = None
                if not self.is_draining:
                    await asyncio.sleep(self.random.choice([0, 0, self.random.uniform(0, 4)]))
            except ENDED as error:
                self.screen.note(f"stream to {node.name}: {type(error).__name__} {error}")
                self.is_refused = isinstance(error, websockets.InvalidStatus) and error.response.status_code == 401
                self.lost_at = self.lost_at or time.time()
                await asyncio.sleep(self.random.uniform(0.05, 0.5))
            self.screen.node = None
            node = self.random.choice(self.nodes)

    async def use_stream(self, node):
        """Receives on a stream to a node. Returns when the device ends it; raises when it is lost."""
        opened, sequences = self.books.tick(), []
        socket = await self.connect(node)
        self.screen.node, self.is_renewed = node.name, False
        self.screen.note(f"stream to {node.name} is open")
        if self.lost_at:
            self.screen.pauses.append((self.lost_at, time.time() - self.lost_at))
            self.lost_at = None
        end = time.time() + self.random.expovariate(1 / self.run.stay_seconds)
        way = self.random.random()
        pending = asyncio.create_task(self.acknowledge_late(socket))
        try:
            while not self.is_over and not self.is_renewed and (self.is_draining or time.time() < end):
                try:
                    async with asyncio.timeout(0.5):
                        message = json.loads(await socket.recv())
                except TimeoutError:
                    continue
                if "notification" in message:
                    self.books.show(self.screen, (opened, sequences), message["notification"])
                    await self.consider(socket, message["notification"]["id"])
        except websockets.WebSocketException:
            way = 1
            raise
        finally:
            pending.cancel()
            self.leave(socket, way)
        self.screen.note(f"left {node.name}")

    async def connect(self, node):
        return await websockets.connect(
            f"wss://{node.host}:{node.port}/v1/stream", ssl=tls(node), subprotocols=["posthorn.v1"],
            additional_headers=self.fields, compression=None, open_timeout=5, ping_interval=PING_SECONDS,
            ping_timeout=PING_SECONDS, close_timeout=1)

    async def consider(self, socket, sequence):
        """Acknowledges at once, or later if the device is slow."""
        if self.is_slow and not self.is_draining:
            self.late.append(sequence)
        else:
            await socket.send(acknowledgements([sequence]))

    async def acknowledge_late(self, socket):
        """Acknowledges what a slow device has received, also on earlier streams."""
        try:
            while True:
                await asyncio.sleep(self.random.uniform(0.01, 1.5) if not self.is_draining else 0.1)
                if self.late:
                    late, self.late = self.late[:1000], self.late[1000:]
                    await socket.send(acknowledgements(late))
        except ENDED:
            pass  # The stream has ended.

    def leave(self, socket, way):
        """Closes a connection, or leaves it half open: the node believes that the device is still there."""
        if way < 0.3 and not self.is_over:
            self.abandoned.append(socket)
            for old in self.abandoned[:-2]:
                old.transport.abort()
            del self.abandoned[:-2]
        else:
            socket.transport.abort()

    def close(self):
        for socket in self.abandoned:
            socket.transport.abort()
