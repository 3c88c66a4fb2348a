# SPDX-License-Identifier: Apache-2.0
"""A peer with full control of TLS.

It ends only its output, resets, sends thousands of KeyUpdates, or pauses the handshake.
"""
import hashlib
import hmac
import os
import re
import select
import socket
import ssl
import struct
import tempfile
import time

import asyncio
import h2.config
import h2.connection
import h2.events
import h2.settings
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import wire

PATIENCE = 60 * float(os.environ.get("POSTHORN_TEST_PATIENCE", "1"))
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
PING = bytes([0, 0, 8, 6, 0, 0, 0, 0, 0]) + b"the end!"
PONG = bytes([0, 0, 8, 6, 1, 0, 0, 0, 0]) + b"the end!"


class Peer:
    """One connection. TLS goes through memory, so that the test decides which records are sent together."""

    def __init__(self, host=None, port=0, ca_file=None, alpn="h2", path=None, **_):
        self.socket = socket.socket(socket.AF_UNIX if path else socket.AF_INET)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(path or (host, port))
        self.tls, self.http2, self.end, self.secrets = None, None, None, None
        if path:
            return
        context = ssl.create_default_context(cafile=ca_file)
        context.set_alpn_protocols([alpn])
        self.secrets = tempfile.NamedTemporaryFile(mode="r")
        context.keylog_filename = self.secrets.name
        self.input, self.output = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.input, self.output, server_hostname=host)

    def greet(self):
        """Sends the ClientHello."""
        try:
            self.tls.do_handshake()
        except ssl.SSLWantReadError:
            self.socket.sendall(self.output.read())

    def shake_hands(self):
        while True:
            try:
                self.tls.do_handshake()
                return self.socket.sendall(self.output.read())
            except ssl.SSLWantReadError:
                self.socket.sendall(self.output.read())
                self.input.write(self.socket.recv(65536))

    def begin_http2(self, window=None):
        self.http2 = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.http2.initiate_connection()
        if window is not None:
            self.http2.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: window})

    def seal(self, data):
        if not self.tls:
            return data
        self.tls.write(data)
        return self.output.read()

    def close_notify(self):
        try:
            self.tls.unwrap()
        except ssl.SSLWantReadError:
            pass
        return self.output.read()

    def read(self):
        """Returns the decrypted input, and notes its end."""
        try:
            data = self.socket.recv(65536)
        except BlockingIOError:
            return b""
        except ConnectionError:
            self.end = "reset"
            return b""
        if not data:
            self.end = "closed"
        if not self.tls:
            return data
        self.input.write(data)
        text = b""
        try:
            while part := self.tls.read(65536):
                text += part
        except ssl.SSLError:
            pass
        return text


class KeyUpdates:
    """Builds the records of a client, from the first one after its handshake."""

    def __init__(self, peer):
        assert peer.tls.cipher()[0] == "TLS_AES_128_GCM_SHA256", peer.tls.cipher()
        lines = [line.split() for line in peer.secrets.read().splitlines()]
        self.use(next(bytes.fromhex(line[2]) for line in lines if line[0] == "CLIENT_TRAFFIC_SECRET_0"))

    def expand(self, label, size):
        """HKDF-Expand-Label of RFC 8446, section 7.1, for at most one block."""
        label = b"tls13 " + label
        info = struct.pack(">HB", size, len(label)) + label + b"\0"
        return hmac.digest(self.secret, info + b"\1", hashlib.sha256)[:size]

    def use(self, secret):
        self.secret, self.number = secret, 0
        self.key, self.mask = AESGCM(self.expand(b"key", 16)), int.from_bytes(self.expand(b"iv", 12), "big")

    def record(self, kind, data):
        head = struct.pack(">BHH", 23, 0x303, len(data) + 17)
        nonce = (self.mask ^ self.number).to_bytes(12, "big")
        self.number += 1
        return head + self.key.encrypt(nonce, data + bytes([kind]), head)

    def update(self, asks):
        """Returns a KeyUpdate, which may request one from the other side. Later records use the next key."""
        record = self.record(22, bytes([24, 0, 0, 1, 1 if asks else 0]))
        self.use(self.expand(b"traffic upd", 32))
        return record


def socket_count(process):
    """Counts the open sockets of a process."""
    def target(name):
        try:
            return os.readlink(f"/proc/{process}/fd/{name}")
        except FileNotFoundError:
            return ""
    return sum(target(name).startswith("socket:") for name in os.listdir(f"/proc/{process}/fd"))


class Session:
    def __init__(self):
        self.peer = None

    async def connect(self, window=None, **where):
        """Connects over TLS, or without TLS if there is a path."""
        self.peer = Peer(**where)
        if self.peer.tls:
            self.peer.shake_hands()
        if where.get("alpn") == "h2":
            self.peer.begin_http2(window)
        return {}

    def written(self, requests):
        """Encodes requests: lists of fields and a body for HTTP/2, else the text."""
        if not self.peer.http2:
            return "".join(requests).encode(), []
        streams = []
        for request in requests:
            streams.append(self.peer.http2.get_next_available_stream_id())
            fields = [tuple(field) for field in request["headers"]]
            self.peer.http2.send_headers(streams[-1], fields, end_stream=request.get("body") is None)
            if request.get("body") is not None:
                self.peer.http2.send_data(streams[-1], request["body"].encode(), end_stream=True)
        return self.peer.http2.data_to_send(), streams

    def read_until(self, condition):
        statuses, resets, text = {}, [], b""
        while not self.peer.end and not condition(statuses, resets, text):
            data = self.peer.read()
            text += data
            for event in self.peer.http2.receive_data(data) if self.peer.http2 and data else []:
                if isinstance(event, h2.events.ResponseReceived):
                    statuses[event.stream_id] = int(dict(event.headers)[":status"])
                elif isinstance(event, h2.events.StreamReset):
                    resets.append(event.stream_id)
        return statuses, resets, text

    async def ask(self, requests, **_):
        """Sends requests and waits for the heads of their answers."""
        data, streams = self.written(requests)
        self.peer.socket.sendall(self.peer.seal(data))
        count = len(requests)
        return self.answer(streams, *self.read_until(
            lambda statuses, _, text: len(statuses) == count or text.count(b"\r\n\r\n") == count))

    async def finish(self, requests, ending, **_):
        """Sends requests and the end of its output in one write, and reads to the server's end."""
        streams = self.end_output(requests, ending)
        return self.answer(streams, *self.read_until(lambda *_: False))

    async def leave(self, requests, ending, **_):
        """Sends requests and the end of its output in one write, and reads nothing."""
        self.end_output(requests, ending)
        return {}

    def end_output(self, requests, ending):
        data, streams = self.written(requests)
        data = self.peer.seal(data) if data else b""
        self.peer.socket.sendall(data + (self.peer.close_notify() if "close_notify" in ending else b""))
        if "fin" in ending:
            self.peer.socket.shutdown(socket.SHUT_WR)
        return streams

    def answer(self, streams, statuses, resets, text):
        found = [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", text)]
        return {
            "statuses": [statuses.get(stream, 0) for stream in streams] if streams else found,
            "resets": resets, "end": self.peer.end or ""}

    async def reset(self, **_):
        """Closes with RST."""
        self.peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.peer.socket.close()
        return {}

    async def processor_time(self, process, **_):
        """Returns the CPU share of a process, as a part of a second."""
        def ticks():
            with open(f"/proc/{process}/stat") as file:
                return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13]))
        before = ticks()
        time.sleep(1)
        return {"seconds": (ticks() - before) / os.sysconf("SC_CLK_TCK")}

    async def update_keys(self, count, asks, request, **where):
        """Sends KeyUpdates and a PING, and counts a provider's answers until the PING is answered."""
        provider, flood = Peer(**where), Peer(**where)
        provider.shake_hands()
        provider.begin_http2()
        flood.shake_hands()
        records = KeyUpdates(flood)
        output = [records.record(23, PREFACE)] + [records.update(asks) for _ in range(count)]
        rest = memoryview(b"".join(output + [records.record(23, PING)]))
        for peer in (flood, provider):
            peer.socket.setblocking(False)
        self.peer, answers, text, deadline = provider, 0, b"", time.monotonic() + PATIENCE
        provider.socket.sendall(provider.seal(self.written([request])[0]))
        while PONG not in text and not flood.end and time.monotonic() < deadline:
            readable, writable, _ = select.select([flood.socket, provider.socket], [flood.socket] if rest else [], [], 1)
            if writable:
                rest = rest[flood.socket.send(rest):]
            if flood.socket in readable:
                text += flood.read()
            for event in provider.http2.receive_data(provider.read()) if provider.socket in readable else []:
                if isinstance(event, h2.events.StreamEnded):
                    answers += 1
                    provider.socket.sendall(provider.seal(self.written([request])[0]))
        return {"answers": answers, "finished": PONG in text}

    async def greet_together(self, process, count, request, **where):
        """Starts many handshakes at once, and a provider's request after them.

        Reports whether the provider had its answer when two thirds of the handshakes were answered, and how many
        succeeded.
        """
        provider = Peer(**where)
        provider.shake_hands()
        provider.begin_http2()
        self.peer = provider
        before = socket_count(process)
        peers = [Peer(**where) for _ in range(count)]
        deadline = time.monotonic() + PATIENCE
        while socket_count(process) < before + count and time.monotonic() < deadline:
            time.sleep(0.01)
        # The server is stopped here, so that it finds all of them waiting.
        os.kill(process, 19)
        for peer in peers:
            peer.greet()
        provider.socket.sendall(provider.seal(self.written([request])[0]))
        os.kill(process, 18)
        greeted, poll, early = 0, select.poll(), None
        for peer in peers:
            poll.register(peer.socket, select.POLLIN)
        while greeted < count * 2 // 3:
            for descriptor, _ in poll.poll(PATIENCE * 1000):
                poll.unregister(descriptor)
                greeted += 1
        provider.socket.setblocking(False)
        text = b"x"
        while text and early is None:
            text = provider.read()
            for event in provider.http2.receive_data(text) if text else []:
                if isinstance(event, h2.events.StreamEnded):
                    early = True
        for peer in peers:
            peer.shake_hands()
        return {"early": bool(early), "connected": len(peers)}


session = Session()
names = ("connect", "ask", "finish", "leave", "reset", "processor_time", "update_keys", "greet_together")
asyncio.run(wire.serve({name: getattr(session, name) for name in names}))
