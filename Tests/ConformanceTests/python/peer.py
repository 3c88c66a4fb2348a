# SPDX-License-Identifier: Apache-2.0
"""An HTTP/2 client that inspects frames and may break rules: python-h2 for the protocol, over one blocking socket."""
import json
import socket
import ssl
import time

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import h2.settings

from answers import STATUS
from catalogue import RECORD, Unmet

GOAWAY = 7


class Exchange:
    """One request and its answer."""

    def __init__(self, stream, request, peer):
        self.stream, self.request, self.peer = stream, request, peer
        self.status, self.fields, self.data, self.ended_by, self.reset = 0, [], [], None, None

    @property
    def is_over(self):
        return self.ended_by is not None or self.reset is not None

    @property
    def body(self):
        return b"".join(self.data)

    @property
    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def reason(self):
        return self.json.get("reason") if isinstance(self.json, dict) else None

    @property
    def method(self):
        return self.asked(":method")

    @property
    def is_of_channels(self):
        return (self.asked(":path") or "").startswith(("/1/apps/", "/4/broadcasts/apps/"))

    def field(self, name):
        return next((value for key, value in self.fields if key == name), None)

    def asked(self, name):
        return next((value for key, value in self.request if key == name), None)

    def count_asked(self, name):
        return sum(key == name for key, _ in self.request)

    def __str__(self):
        parts = [str(self.status or "no answer"), self.reason or ""]
        if self.reset is not None:
            parts.append(f"RST_STREAM {self.reset}")
        if self.peer.goaways:
            parts.append(f"GOAWAY {self.peer.goaways}")
        if self.peer.is_closed and not self.is_over:
            parts.append("and the connection was closed")
        detail = self.field("posthorn-detail")
        return " ".join(part for part in parts if part) + (f" ({detail})" if detail else "")


class Peer:
    """A connection of a provider."""

    def __init__(self, host, port, ca_file, alpn=("h2",), certificate=None, version=None, server_name=None,
                 patience=20, widens_window=True):
        self.patience, self.widens_window = patience, widens_window
        context = ssl.create_default_context(cafile=ca_file)
        if server_name:
            # The requested name differs from the connected host, as DNS could do.
            context.check_hostname = False
        if alpn:
            context.set_alpn_protocols(list(alpn))
        if version:
            context.minimum_version = context.maximum_version = version
        if certificate:
            context.load_cert_chain(certificate)
        plain = socket.create_connection((host, port), patience)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = context.wrap_socket(plain, server_hostname=server_name or host)
        # Tests send requests that break rules, so outgoing requests are neither validated nor normalized.
        self.connection = h2.connection.H2Connection(h2.config.H2Configuration(
            header_encoding="utf-8", validate_outbound_headers=False, normalize_outbound_headers=False))
        self.exchanges, self.settings, self.pings, self.goaways = {}, [], [], []
        self.unread, self.is_closed = b"", False
        self.connection.initiate_connection()
        self.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    # Sending

    def flush(self):
        self.write(self.connection.data_to_send())

    def write(self, data):
        """Writes bytes unchanged. A peer's close is detected on reading."""
        try:
            self.socket.sendall(data)
        except OSError:
            self.is_closed = True

    def begin(self, fields):
        """Allocates a stream for a request that is sent later."""
        stream = self.connection.get_next_available_stream_id()
        exchange = self.exchanges[stream] = Exchange(stream, fields, self)
        return exchange

    def open(self, fields, body=b"", ends=True, piece=None, padding=None):
        """Sends a request, with the body in DATA frames of at most `piece` bytes. `ends` false leaves it open."""
        exchange = self.begin(fields)
        self.connection.send_headers(exchange.stream, fields, end_stream=ends and not body)
        self.flush()
        if body:
            self.send_body(exchange, body, ends, piece, padding)
        return exchange

    def send_body(self, exchange, body, ends=True, piece=None, padding=None):
        """Sends as much as the server permits. An answer before the end is sufficient."""
        while body and not exchange.is_over:
            try:
                room = min(self.connection.local_flow_control_window(exchange.stream), 16384, piece or 16384)
                if room > (padding or 0):
                    part, body = body[:room], body[room:]
                    self.connection.send_data(exchange.stream, part, end_stream=ends and not body, pad_length=padding)
                    self.flush()
                    continue
            except h2.exceptions.ProtocolError:
                break  # The server has reset the stream.
            self.receive(time.monotonic() + self.patience)
        return exchange

    def ask(self, fields, body=b"", **options):
        """Sends a request and waits for its answer."""
        return self.wait(self.open(fields, body, **options))

    # Receiving

    def wait(self, exchange):
        self.wait_all([exchange])
        return exchange

    def wait_all(self, exchanges):
        """Waits until all have their answer, the connection closes, or the time limit passes. The case checks the
        result."""
        self.until(lambda: all(exchange.is_over for exchange in exchanges))

    def until(self, condition, patience=None):
        """Receives until a condition holds, and returns whether it does."""
        deadline = time.monotonic() + (patience or self.patience)
        while not condition():
            if self.is_closed or not self.receive(deadline):
                return condition()
        return True

    def receive(self, deadline):
        """Reads once. Returns False when the deadline has passed."""
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        self.socket.settimeout(left)
        try:
            data = self.socket.recv(65536)
        except TimeoutError:
            return False
        except OSError:
            data = b""
        self.is_closed = not data
        self.take(data)
        self.socket.settimeout(self.patience)
        if not self.is_closed:
            self.flush()
        return True

    def take(self, data):
        """Passes whole frames to h2, except GOAWAY, after which h2 would stop using this connection."""
        self.unread += data
        while len(self.unread) >= 9:
            end = 9 + int.from_bytes(self.unread[:3], "big")
            if len(self.unread) < end:
                return
            frame, self.unread = self.unread[:end], self.unread[end:]
            if frame[3] == GOAWAY:
                self.note_goaway(frame)
                continue
            try:
                events = self.connection.receive_data(frame)
            except h2.exceptions.ProtocolError as error:
                raise Unmet(f"the server sent bytes that are not HTTP/2: {type(error).__name__} {error}") from error
            for event in events:
                self.note(event)

    def note_goaway(self, frame):
        debug = frame[17:].decode(errors="replace")
        self.goaways.append({"last_stream": int.from_bytes(frame[9:13], "big") & 0x7FFFFFFF,
                             "code": int.from_bytes(frame[13:17], "big"), "debug": debug})
        for reason in STATUS:
            if debug == f'{{"reason":"{reason}"}}':
                RECORD.note(reason)

    def note(self, event):
        exchange = self.exchanges.get(getattr(event, "stream_id", None))
        if isinstance(event, h2.events.ResponseReceived):
            exchange.fields = [(name, value) for name, value in event.headers if name != ":status"]
            exchange.status = int(dict(event.headers)[":status"])
            if event.stream_ended:
                exchange.ended_by = "headers"
        elif isinstance(event, h2.events.DataReceived):
            exchange.data.append(event.data)
            if event.stream_ended:
                exchange.ended_by = "data"
                RECORD.note(exchange.reason)
            if self.widens_window:
                self.connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.TrailersReceived):
            exchange.ended_by = "trailers"
        elif isinstance(event, h2.events.StreamReset) and exchange:
            exchange.reset = int(event.error_code)
        elif isinstance(event, h2.events.RemoteSettingsChanged):
            self.settings.append({int(key): value.new_value for key, value in event.changed_settings.items()})
        elif isinstance(event, h2.events.PingAckReceived):
            self.pings.append(event.ping_data)

    def disregard_stream_limit(self):
        """Lets h2 open more streams than the server allows from now on."""
        self.connection.remote_settings[h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS] = 2**31 - 1
        self.connection.remote_settings.acknowledge()

    @property
    def stream_limit(self):
        """Returns the server's limit of concurrent streams, once its SETTINGS have arrived."""
        self.until(lambda: self.settings)
        return self.connection.remote_settings.max_concurrent_streams
