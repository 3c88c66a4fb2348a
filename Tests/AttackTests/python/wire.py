# SPDX-License-Identifier: Apache-2.0
"""TLS connections that send raw HTTP/1.1, HTTP/2 and WebSocket bytes, whether a protocol allows them or not."""
import collections
import os
import select
import socket
import ssl
import struct
import time

import hpack

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS = 0x1, 0x1, 0x4
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
ERRORS = ["NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
          "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
          "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED"]
#: The number of answer bytes that a stream keeps. Further bytes are only counted.
KEPT_BYTE_COUNT = 65536
#: The seconds after which a peer that reads nothing ends an attack.
PATIENCE = 20 * int(os.environ.get("POSTHORN_TEST_PATIENCE") or 1)


def error_name(code):
    return ERRORS[code] if code < len(ERRORS) else str(code)


# Frames and fields

def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def settings(values=(), flags=0):
    return frame(SETTINGS, flags, 0, b"".join(struct.pack(">HI", name, value) for name, value in dict(values).items()))


def reset(stream, code=8):
    return frame(RST_STREAM, 0, stream, struct.pack(">I", code))


def window_update(stream, byte_count):
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", byte_count))


def integer(value, prefix_bits, first=0):
    """Encodes an HPACK integer: RFC 7541, section 5.1."""
    limit = (1 << prefix_bits) - 1
    if value < limit:
        return bytes([first | value])
    output, value = bytearray([first | limit]), value - limit
    while value >= 128:
        output.append(value & 127 | 128)
        value >>= 7
    return bytes(output + bytes([value]))


def literal(name, value, first=0x00):
    """Encodes a literal field: 0x00 is not indexed, 0x40 enters the dynamic table."""
    name, value = (text.encode() if isinstance(text, str) else text for text in (name, value))
    return bytes([first]) + integer(len(name), 7) + name + integer(len(value), 7) + value


def block(fields):
    return b"".join(literal(name, value) for name, value in fields)


def request(method, path, secret=None, extra=(), authority="push.example"):
    """Encodes the fields of a request."""
    fields = [(":method", method), (":scheme", "https"), (":authority", authority), (":path", path)]
    return fields + ([("authorization", f"Bearer {secret}")] if secret else []) + list(extra)


# Connections

class Connection:
    """A TLS connection whose writes never block on a peer that does not read."""

    def __init__(self, place, protocol, source=None, timeout=PATIENCE):
        plain = socket.create_connection(place.address, timeout, (source, 0) if source else None)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.socket = place.context(protocol).wrap_socket(plain, server_hostname="localhost")
        except BaseException:
            plain.close()
            raise
        self.socket.setblocking(False)
        self.is_closed = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.is_closed = True
        self.socket.close()

    def cut(self):
        """Closes with a TCP reset."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def write(self, data, deadline=None):
        """Writes everything and reads input meanwhile. Returns False when the peer closed, or reads nothing."""
        deadline = deadline or time.monotonic() + PATIENCE
        view = memoryview(data)
        while view and not self.is_closed:
            try:
                view = view[self.socket.send(view[:65536]):]
                continue
            except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
                pass
            except OSError:
                self.is_closed = True
                break
            if time.monotonic() > deadline:
                return False
            readable, _, _ = select.select([self.socket], [self.socket], [], 0.05)
            if readable:
                self.pump(0)
        self.pump(0)
        return not view

    def pump(self, seconds):
        """Reads available bytes, and waits at most this long for the first one."""
        if self.is_closed:
            return
        if not self.socket.pending() and not select.select([self.socket], [], [], seconds)[0]:
            return
        while not self.is_closed:
            try:
                data = self.socket.recv(262144)
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                return
            except OSError:
                data = b""
            self.is_closed = not data
            self.receive(data)

    def wait(self, condition, seconds=PATIENCE):
        """Reads until a condition holds, the peer closes, or the time is over. Returns whether the condition holds."""
        deadline = time.monotonic() + seconds
        while not condition():
            if self.is_closed or time.monotonic() > deadline:
                return condition()
            self.pump(0.05)
        return True

    def receive(self, data):
        raise NotImplementedError


class Exchange:
    """The answer of one stream."""

    def __init__(self):
        self.status, self.fields, self.body, self.byte_count, self.reset, self.is_ended = None, {}, b"", 0, None, False

    @property
    def is_over(self):
        return self.is_ended or self.reset is not None


class HTTP2(Connection):
    """Sends arbitrary HTTP/2 frames. SETTINGS and PING are acknowledged unless the caller disables that."""

    def __init__(self, place, values=(), acknowledges=True, widens=True, source=None, timeout=PATIENCE):
        super().__init__(place, "h2", source, timeout)
        self.acknowledges, self.widens = acknowledges, widens
        self.decoder, self.unread, self.fragments = hpack.Decoder(), bytearray(), b""
        self.streams, self.goaways, self.next_stream = collections.defaultdict(Exchange), [], 1
        self.ping_count, self.has_settings, self.max_streams = 0, False, None
        self.window, self.stream_windows, self.initial_window = 65535, {}, 65535
        self.write(PREFACE + settings(values))

    # Sending

    def take_stream(self):
        stream, self.next_stream = self.next_stream, self.next_stream + 2
        return stream

    def open(self, fields, ends=True):
        """Sends a request's fields, and returns its stream."""
        stream = self.take_stream()
        self.write(frame(HEADERS, END_HEADERS | (END_STREAM if ends else 0), stream, block(fields)))
        return stream

    def send_body(self, stream, body, ends=True):
        """Sends a body as the peer's windows allow. Returns False when it was answered, reset or cut off before its
        end."""
        exchange, deadline = self.streams[stream], time.monotonic() + PATIENCE
        while body and not exchange.is_over and not self.is_closed and time.monotonic() < deadline:
            room = min(16384, self.window, self.stream_windows.setdefault(stream, self.initial_window))
            if room <= 0:
                self.pump(0.05)
                continue
            part, body = body[:room], body[room:]
            self.window -= len(part)
            self.stream_windows[stream] -= len(part)
            self.write(frame(DATA, END_STREAM if ends and not body else 0, stream, part))
        return not body

    def ask(self, fields, body=b"", seconds=PATIENCE):
        """Sends a request and waits for its answer."""
        stream = self.open(fields, ends=not body)
        if body:
            self.send_body(stream, body)
        self.wait(lambda: self.streams[stream].is_over, seconds)
        return self.streams.pop(stream)

    # Receiving

    def receive(self, data):
        self.unread += data
        while len(self.unread) >= 9:
            end = 9 + int.from_bytes(self.unread[:3], "big")
            if len(self.unread) < end:
                return
            head, payload = bytes(self.unread[:9]), bytes(self.unread[9:end])
            del self.unread[:end]
            self.take(head[3], head[4], int.from_bytes(head[5:9], "big") & 0x7FFFFFFF, payload)

    def take(self, kind, flags, stream, payload):
        if kind in (HEADERS, CONTINUATION):
            self.take_fields(flags, stream, payload)
        elif kind == DATA:
            exchange = self.streams[stream]
            exchange.byte_count += len(payload)
            exchange.body += payload[:KEPT_BYTE_COUNT - len(exchange.body)]
            exchange.is_ended = bool(flags & END_STREAM)
            if self.widens and payload:
                self.reply(window_update(0, len(payload))
                           + (b"" if exchange.is_ended else window_update(stream, len(payload))))
        elif kind == RST_STREAM:
            self.streams[stream].reset = int.from_bytes(payload[:4], "big")
        elif kind == GOAWAY:
            self.goaways.append((int.from_bytes(payload[4:8], "big"), payload[8:].decode(errors="replace")))
        elif kind == SETTINGS and not flags & ACK:
            self.take_settings(payload)
        elif kind == PING and not flags & ACK and self.acknowledges:
            self.reply(frame(PING, ACK, 0, payload))
        elif kind == PING:
            self.ping_count += 1
        elif kind == WINDOW_UPDATE:
            added = int.from_bytes(payload[:4], "big")
            if stream:
                self.stream_windows[stream] = self.stream_windows.get(stream, self.initial_window) + added
            else:
                self.window += added

    def take_fields(self, flags, stream, payload):
        self.fragments += payload
        if flags & END_STREAM:
            self.streams[stream].is_ended = True
        if not flags & END_HEADERS:
            return
        fields, self.fragments = dict(self.decoder.decode(self.fragments)), b""
        exchange = self.streams[stream]
        if ":status" in fields and fields[":status"] != "100":
            exchange.status, exchange.fields = int(fields[":status"]), fields

    def take_settings(self, payload):
        self.has_settings = True
        for place in range(0, len(payload) - 5, 6):
            name, value = struct.unpack(">HI", payload[place:place + 6])
            if name == 3:
                self.max_streams = value
            elif name == 4:
                self.initial_window = value
        if self.acknowledges:
            self.reply(settings(flags=ACK))

    def reply(self, data):
        """Sends a short answer of the protocol. A full socket loses it, because attackers do not read."""
        try:
            self.socket.send(data)
        except OSError:
            pass

    # Results

    def tally(self):
        """Counts each status, reset and GOAWAY."""
        found = collections.Counter()
        for exchange in self.streams.values():
            if exchange.status:
                found[str(exchange.status)] += 1
            if exchange.reset:
                found[error_name(exchange.reset)] += 1
        for code, _ in self.goaways:
            found[f"GOAWAY {error_name(code)}"] += 1
        if self.is_closed:
            found["closed"] += 1
        return found


class HTTP1(Connection):
    """Sends arbitrary HTTP/1.1 bytes."""

    def __init__(self, place, source=None):
        super().__init__(place, "http/1.1", source)
        self.data = bytearray()

    def receive(self, data):
        self.data += data

    def status(self, seconds=PATIENCE):
        """Waits for the final status of the next answer and removes its head. Returns None when no answer comes."""
        while self.wait(lambda: b"\r\n\r\n" in self.data, seconds):
            head, _, rest = bytes(self.data).partition(b"\r\n\r\n")
            self.data = bytearray(rest)
            status = int(head.split(b" ", 2)[1])
            if status != 100:
                self.head = head
                return status
        return None


def handshake(secret, extra="", path="/v1/stream"):
    """Returns the request of a WebSocket handshake."""
    return (f"GET {path} HTTP/1.1\r\nHost: push.example\r\nAuthorization: Bearer {secret}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: posthorn.v1\r\n"
            f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{extra}\r\n").encode()


def masked(opcode, payload=b"", is_final=True):
    """Encodes a WebSocket frame of a client, with a mask of zeros."""
    count = len(payload)
    if count < 126:
        length = bytes([0x80 | count])
    elif count < 65536:
        length = bytes([0x80 | 126]) + struct.pack(">H", count)
    else:
        length = bytes([0x80 | 127]) + struct.pack(">Q", count)
    return bytes([opcode | (0x80 if is_final else 0)]) + length + bytes(4) + payload


class WebSocket(HTTP1):
    """A device's WebSocket after its handshake."""

    def __init__(self, place, secret, source=None):
        super().__init__(place, source)
        self.texts, self.close_code, self.pong_count, self.is_open = collections.deque(), None, 0, False
        self.write(handshake(secret))
        self.opened_status = self.status()
        self.is_open = self.opened_status == 101
        self.receive(b"")

    def receive(self, data):
        super().receive(data)
        while self.is_open and len(self.data) >= 2:
            length, start = self.data[1] & 0x7F, 2
            if length >= 126:
                start = 4 if length == 126 else 10
                length = int.from_bytes(self.data[2:start], "big")
            if len(self.data) < max(start, 2) + length:
                return
            opcode, payload = self.data[0] & 0xF, bytes(self.data[start:start + length])
            del self.data[:start + length]
            if opcode == 1:
                self.texts.append(payload)
            elif opcode == 8:
                self.close_code = int.from_bytes(payload[:2], "big")
            elif opcode == 9:
                self.try_to_send(masked(10, payload))
            elif opcode == 10:
                self.pong_count += 1

    def try_to_send(self, data):
        try:
            self.socket.send(data)
        except OSError:
            pass
