# SPDX-License-Identifier: Apache-2.0
"""A peer without a credential that holds as much as it can: connections, streams, header references, bodies."""
import asyncio
import socket
import ssl
import struct
import threading
import time

import hpack

import wire

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
PATIENCE = 60


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def settings(window=None):
    return frame(4, 0, 0, b"" if window is None else struct.pack(">HI", 4, window))


class Stranger:
    """One HTTP/2 connection. The server's output is read only on request."""

    def __init__(self, context, host, port, window=None, preface=True):
        plain = socket.create_connection((host, port), timeout=PATIENCE)
        self.socket = context.wrap_socket(plain, server_hostname=host)
        self.encoder, self.stream, self.sent = hpack.Encoder(), -1, 0
        if preface:
            self.send(PREFACE + settings(window))

    def send(self, data):
        self.sent += len(data)
        self.socket.sendall(data)

    def head(self, fields, ends=True):
        """Returns the HEADERS of the next stream."""
        self.stream += 2
        return frame(1, 5 if ends else 4, self.stream, self.encoder.encode(fields))

    def read(self):
        """Returns the bytes received so far, or None at the end of the connection."""
        self.socket.settimeout(0)
        text = b""
        try:
            while True:
                part = self.socket.recv(65536)
                if not part:
                    return None
                text += part
        except (ssl.SSLWantReadError, BlockingIOError):
            return text
        except OSError:
            return None
        finally:
            self.socket.settimeout(PATIENCE)

    def is_open(self):
        return self.read() is not None


def request(method, path, authority, *more):
    return [(":method", method), (":scheme", "https"), (":path", path), (":authority", authority), *more]


class Session:
    """The connections of one test."""

    def __init__(self):
        self.peers = []

    def open(self, count, host, port, ca_file, window=None, preface=True, **_):
        context = ssl.create_default_context(cafile=ca_file)
        context.set_alpn_protocols(["h2"])
        peers = [Stranger(context, host, port, window, preface) for _ in range(count)]
        self.peers += peers
        return peers

    async def connect(self, count, **where):
        """Opens connections that send the preface and no request."""
        self.open(count, **where)
        return {"count": count}

    async def count_open(self, **_):
        """Counts the connections that the server has not closed."""
        return {"count": sum(peer.is_open() for peer in self.peers)}

    async def goaways(self, **_):
        """Counts the connections that ended with GOAWAY, frame type 7 with stream 0."""
        found = 0
        for peer in self.peers:
            peer.socket.settimeout(1)
            text = b""
            try:
                while part := peer.socket.recv(65536):
                    text += part
            except OSError:
                pass
            while len(text) >= 9:
                length, kind = int.from_bytes(text[:3], "big"), text[3]
                found += kind == 7
                text = text[9 + length:]
        return {"count": found}

    async def ping(self, **_):
        """Sends a PING and SETTINGS on each open connection, and counts these connections."""
        count = 0
        for peer in self.peers:
            try:
                peer.send(frame(6, 0, 0, b"12345678") + settings())
                count += 1
            except OSError:
                pass
        return {"count": count}

    async def keep_asking(self, connections, host, **where):
        """Requests device streams with a wrong secret until the connection ends, and reads no byte of an answer."""
        fields = request("GET", "/v1/stream", host, ("authorization", "bearer wrong"))

        def ask(peer):
            try:
                while peer.stream < 1800:
                    peer.send(b"".join(peer.head(fields) for _ in range(3)))
                    time.sleep(0.002)
            except OSError:
                pass

        for peer in self.open(connections, host=host, window=0, **where):
            threading.Thread(target=ask, args=(peer,), daemon=True).start()
        return {"count": connections}

    async def hold_references(self, connections, streams, host, **where):
        """Refers to two long fields of the dynamic table twice in each request, and ends no request."""
        long = [("x-one", "a" * 1900), ("x-two", "b" * 1900)]
        fields = request("POST", "/3/device/00", host) + long + long
        sent = 0
        for _ in range(connections):
            try:
                peer, = self.open(1, host=host, **where)
                for _ in range(0, streams, 100):
                    peer.send(b"".join(peer.head(fields, ends=False) for _ in range(100)))
            except OSError:
                pass
            sent += peer.sent
        return {"count": sent}

    async def hold_bodies(self, connections, streams, host, **where):
        """Sends 60,000 bytes of body on each stream, and ends none."""
        fields = request("POST", "/v1/acks", host, ("authorization", "bearer wrong"))
        sent = 0
        for _ in range(connections):
            try:
                peer, = self.open(1, host=host, **where)
                for _ in range(streams):
                    head = peer.head(fields, ends=False)
                    data = b"".join(frame(0, 0, peer.stream, b" " * 12000) for _ in range(5))
                    peer.send(head + data)
                    peer.read()
            except OSError:
                pass
            sent += peer.sent
        return {"count": sent}

    async def close(self, **_):
        """Closes all connections."""
        for peer in self.peers:
            peer.socket.close()
        self.peers = []
        return {}

    async def storm(self, count, host, port, ca_file, **_):
        """Opens all connections at once and requests a path on each. Counts those that are answered."""
        context = ssl.create_default_context(cafile=ca_file)
        gate, begin = asyncio.Semaphore(2000), time.monotonic()

        async def one():
            async with gate:
                try:
                    reader, writer = await asyncio.open_connection(
                        host, port, ssl=context, server_hostname=host, ssl_handshake_timeout=PATIENCE)
                    writer.write(b"GET /v1/nothing HTTP/1.1\r\nhost: %s\r\n\r\n" % host.encode())
                    return b"401" in await asyncio.wait_for(reader.read(64), PATIENCE)
                except (OSError, asyncio.TimeoutError, ssl.SSLError):
                    return False

        answers = await asyncio.gather(*(one() for _ in range(count)))
        return {"count": sum(answers), "seconds": int(time.monotonic() - begin)}


session = Session()
names = (
    "connect", "count_open", "goaways", "ping", "keep_asking", "hold_references", "hold_bodies", "close", "storm")
asyncio.run(wire.serve({name: getattr(session, name) for name in names}))
