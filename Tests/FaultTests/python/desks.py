# SPDX-License-Identifier: Apache-2.0
"""Devices that connect and disconnect, acknowledge or not, and keep their data over every end of the server."""
import asyncio
import json
import random as randomness
import ssl

import websockets

from books import Screen

#: The errors that an end of the server or of a connection causes.
ENDED = (OSError, EOFError, asyncio.TimeoutError, websockets.WebSocketException)


def acknowledgements(sequences):
    return json.dumps({"acks": [{"id": sequence, "outcome": "delivered"} for sequence in sequences]})


def tls(stack, protocol="http/1.1"):
    context = ssl.create_default_context(cafile=stack.ca_file)
    context.set_alpn_protocols([protocol])
    return context


class WebSocketStream:
    """Acknowledges on the same connection, without a confirmation."""

    def __init__(self, desk):
        self.desk, self.socket = desk, None

    async def open(self):
        stack = self.desk.stack
        self.socket = await websockets.connect(
            f"wss://{stack.host}:{stack.port}/v1/stream", ssl=tls(stack), subprotocols=["posthorn.v1"],
            additional_headers=self.desk.fields, ping_interval=None, compression=None)

    async def next(self):
        """Returns the next notification."""
        while True:
            message = json.loads(await self.socket.recv())
            if "notification" in message:
                return message["notification"]

    async def acknowledge(self, sequences):
        await self.socket.send(acknowledgements(sequences))

    def close(self):
        if self.socket:
            self.socket.transport.abort()


class EventStream:
    """Server-sent events, with acknowledgements in separate requests, which are answered."""

    def __init__(self, desk):
        self.desk, self.connections = desk, []

    async def connect(self):
        stack = self.desk.stack
        reader, writer = await asyncio.open_connection(stack.host, stack.port, ssl=tls(stack), limit=1 << 20)
        self.connections.append(writer)
        return reader, writer

    def request(self, writer, line, body=""):
        fields = {"host": "posthorn", "content-length": len(body)} | self.desk.fields
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        writer.write(f"{line} HTTP/1.1\r\n{head}\r\n{body}".encode())

    async def head(self, reader, status):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        if int(head.split()[1]) != status:
            raise EOFError(head)

    async def open(self):
        self.reader, writer = await self.connect()
        self.request(writer, "GET /v1/stream")
        await self.head(self.reader, 200)
        self.acks = None

    async def next(self):
        while True:
            line = await self.reader.readuntil(b"\n")
            # The other lines are chunk lengths, event names and comments.
            if line.startswith(b'data: {"id"'):
                return json.loads(line[6:])

    async def acknowledge(self, sequences):
        if not self.acks:
            self.acks = await self.connect()
        self.request(self.acks[1], "POST /v1/acks", acknowledgements(sequences))
        await self.head(self.acks[0], 204)
        self.desk.screen.settled |= dict.fromkeys(sequences, self.desk.books.tick())

    def close(self):
        for writer in self.connections:
            writer.transport.abort()


class Desk:
    """One device. It records a notification before it acknowledges it."""

    def __init__(self, device, books, seed):
        self.stack, self.fields, self.id = device.stack, device.fields, device.id
        self.books, self.random = books, randomness.Random(seed)
        self.screen = books.screens[self.id] = Screen(self.id)
        #: The sequences to acknowledge later. They are valid on a later stream, too.
        self.late = []
        self.is_over = self.is_draining = False

    async def live(self):
        """Connects and disconnects until the run is over. While draining it stays connected, and acknowledges
        everything."""
        if not self.is_draining and self.random.random() < 0.2:
            return  # The device stays offline this time.
        while not self.is_over:
            if not self.is_draining:
                await asyncio.sleep(self.random.uniform(0, 0.2))
            stream = self.random.choice([WebSocketStream, EventStream])(self)
            try:
                async with asyncio.timeout(None if self.is_draining else self.random.uniform(0.05, 0.6)):
                    await self.receive(stream)
            except ENDED:
                await asyncio.sleep(0.02)
            finally:
                stream.close()

    async def receive(self, stream):
        opened, sequences = self.books.tick(), []
        await stream.open()
        while True:
            event = await stream.next()
            self.books.show(self.screen, (opened, sequences), event)
            await self.consider(stream, event["id"])

    async def consider(self, stream, sequence):
        """Acknowledges immediately, late, or not on this stream."""
        way = 0 if self.is_draining else self.random.random()
        if way < 0.5:
            await stream.acknowledge([sequence])
        elif way < 0.9:
            self.late.append(sequence)
        if self.random.random() < 0.1 and self.late:
            late, self.late = self.late, []
            await stream.acknowledge(late[-1000:])
