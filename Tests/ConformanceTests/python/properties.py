# SPDX-License-Identifier: Apache-2.0
"""Sends valid requests with random changes, in random frames, several at a time. Only documented answers may come.

  properties.py --env-file FILE --admin-socket PATH [--first-seed N] [--count N]

Each seed makes one request. It is sent twice: unsplit, and split into other frames between those of other requests.
Both times it must get the same well-formed answer, never a 5xx, silence, or the end of the connection. A request that
is malformed by RFC 9113 may get a stream error. Prints one JSON object a line: the problems, and last the number of
tried requests.
"""
import argparse
import json
import random
import sys
import time

from answers import STATUS, faults
from catalogue import Unmet
from stack import ALERT, UNKNOWN_CHANNEL, UPDATE, Stack, new_id, sized
from server import read_variables

GROUP_COUNT = 4
PROTOCOL_ERROR = 1
TEXTS = [
    "", "0", "1", "5", "7", "10", "-1", "+1", "01", "1.0", "1e3", "9223372036854775807", "9223372036854775808",
    "99999999999999999999999", "alert", "ALERT", "background", "voip", "location", "liveactivity", "mdm", "bogus",
    "true", "null", "{}", "\u00e9" * 32, "\u00e9" * 33, "x" * 64, "x" * 65, "x" * 300, "a b", "a,b", "%00", "../..",
    "bearer", "bearer ", "bearer a.b.c", "Basic x", "f" * 36, "123e4567-e89b-12d3-a456-4266554400a0",
    "com.example.unknown", ".voip", "AAAA", "AAAA====", "!!!!"]
BODIES = [
    b"", b" ", b"{", b"}", b"{}", b" {} ", b"[]", b"null", b"0", b'"x"', b"\x00", b"\xff\xfe", b"\xef\xbb\xbf{}",
    b'{"aps":', b'{"aps":{}}x', b'{"aps":{"alert":"\xff"}}', b'{"aps":{"alert":"\\ud800"}}', b'{"a":1,"a":2}',
    b'{"aps":{"badge":1e999}}', b"[" * 2000 + b"]" * 2000, b'{"a":' * 63 + b"1" + b"}" * 63,
    b'{"a":' * 65 + b"1" + b"}" * 65, sized(4095), sized(4096), sized(4097), sized(5120), sized(5121), sized(30_000)]
METHODS = ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "post", "X" * 40]
#: Frames that do not affect an answer: PING, PRIORITY of another stream, WINDOW_UPDATE, and an unknown type.
NOISE = [
    bytes([0, 0, 8, 6, 0, 0, 0, 0, 0]) + b"posthorn", bytes([0, 0, 5, 2, 0, 0, 0, 0x7F, 1, 0, 0, 0, 0, 9]),
    bytes([0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 1]), bytes([0, 0, 3, 0xBB, 0xFF, 0, 0, 0, 0]) + b"???"]


class Request:
    """A valid request, changed by a seed."""

    def __init__(self, stack, seed):
        self.seed, self.random = seed, random.Random(seed)
        self.fields, self.body = self.start(stack)
        #: Whether RFC 9113 permits the server to refuse it with a stream error.
        self.is_malformed = False
        for _ in range(self.random.choice([0, 1, 1, 1, 2, 3])):
            self.random.choice(self.changes)(self)

    def start(self, stack):
        kind = self.random.random()
        if kind < 0.8:
            return stack.fields(apns_id=new_id(), apns_priority="10", apns_expiration=int(time.time()) + 60,
                                apns_collapse_id="score"), ALERT
        authority = [(":scheme", "https"), (":authority", stack.host)]
        signed = ("authorization", f"bearer {stack.provider_token}")
        if kind < 0.9:
            return [(":method", "POST"), (":path", f"/4/broadcasts/apps/{stack.topic}"), *authority, signed,
                    ("apns-channel-id", stack.variables.get("APNS_CHANNEL_ID", UNKNOWN_CHANNEL)),
                    ("apns-push-type", "liveactivity"), ("apns-expiration", "0"), ("apns-priority", "10")], UPDATE
        return [(":method", self.random.choice(["POST", "GET", "DELETE"])), *authority,
                (":path", f"/1/apps/{stack.topic}/channels"), signed, ("apns-channel-id", UNKNOWN_CHANNEL)], b"{}"

    # Changes

    def some_field(self):
        return self.random.randrange(len(self.fields))

    def set(self, name, change):
        self.fields = [(key, change(value)) if key == name else (key, value) for key, value in self.fields]

    def change_value(self):
        index = self.some_field()
        name, value = self.fields[index]
        if name.startswith(":"):
            return self.change_path()
        self.fields[index] = (name, self.random.choice([self.random.choice(TEXTS), self.mutated(value)]))
        self.mark_blanks()

    def mutated(self, text):
        """Returns a text with one character added, removed or changed."""
        place, kind = self.random.randint(0, len(text)), self.random.randrange(3)
        other = self.random.choice("0aZ-._~!$&'()*+,;=:@/%")
        return text[:place] + ("" if kind == 0 else other) + text[place + (kind != 1):]

    def mark_blanks(self):
        if any(value != value.strip() for _, value in self.fields):
            self.is_malformed = True

    def drop_field(self):
        index = self.some_field()
        # A request without both `:authority` and `host` is malformed too: RFC 9113, section 8.3.1.
        self.is_malformed = self.is_malformed or self.fields[index][0].startswith(":")
        del self.fields[index]

    def repeat_field(self):
        name, value = self.fields[self.some_field()]
        self.is_malformed = self.is_malformed or name.startswith(":")
        self.fields.append((name, value))

    def add_fields(self):
        for _ in range(self.random.choice([1, 3, 40, 70])):
            self.fields.append((f"x-{self.random.randrange(100)}", self.random.choice(TEXTS).strip()))

    def add_large_field(self):
        self.fields.append(("x-large", "l" * self.random.choice([1000, 7000, 7900, 9000, 15_000])))

    def add_forbidden_field(self):
        self.fields.append(self.random.choice([
            ("connection", "close"), ("transfer-encoding", "chunked"), ("te", "gzip"), ("Upper", "1"),
            ("x-nul", "a\0b"), ("x-line", "a\r\nb"), (":unknown", "1"),
            ("content-length", str(len(self.body) + 1)), ("", "x")]))
        self.is_malformed = True

    def add_length(self):
        self.fields.append(("content-length", str(len(self.body))))
        self.is_malformed = True  # Another change may make it malformed.

    def change_path(self):
        self.set(":path", lambda path: self.random.choice([
            self.mutated(path), path + "/", path + "?a=b", path.upper(), path[:self.random.randrange(1, len(path) + 1)],
            path + "a" * 3000, "/", "*", "/3/device/", "/3/device/%41%42", path.replace("/", "//")]) or "/")
        if not dict(self.fields).get(":path", "/").startswith("/"):
            self.is_malformed = True

    def change_method(self):
        self.set(":method", lambda _: self.random.choice(METHODS))

    def change_body(self):
        body = bytearray(self.random.choice([self.body, *BODIES]))
        for _ in range(self.random.choice([0, 0, 1, 5])):
            body.insert(self.random.randint(0, len(body)), self.random.randrange(256))
        self.body = bytes(body)

    def shuffle(self):
        order = list(self.fields)
        self.random.shuffle(order)
        self.fields = sorted(order, key=lambda field: not field[0].startswith(":"))

    changes = [
        change_value, change_value, change_value, change_body, change_body, change_path, change_method, drop_field,
        repeat_field, add_fields, add_large_field, add_forbidden_field, add_length, shuffle]

    # Sending

    def frames(self, peer):
        """Sends unusual frames, and yields after each, so that other requests take turns."""
        peer.flush()
        exchange = self.exchange = peer.begin(self.fields)
        peer.connection.send_headers(exchange.stream, self.fields, end_stream=not self.body)
        peer.write(self.in_pieces(peer.connection.data_to_send()))
        yield
        body = self.body
        while body and not exchange.is_over and not peer.is_closed:
            size = self.random.choice([1, 7, 100, 1000, 16_000])
            part, body = body[:size], body[size:]
            peer.send_body(exchange, part, ends=not body, padding=self.random.choice([None, None, 0, 1, 200]))
            yield

    def in_pieces(self, data):
        """Splits HEADERS into CONTINUATION frames at random places. `data` is the output of h2."""
        block, rest = b"", data
        while rest:
            length = int.from_bytes(rest[:3], "big")
            block, rest = block + rest[9:9 + length], rest[9 + length:]
        cuts = sorted(self.random.randint(0, len(block)) for _ in range(self.random.choice([0, 0, 1, 3])))
        # A frame has at most 16,384 bytes.
        cuts = sorted({*cuts, *range(16_000, len(block), 16_000)})
        parts = [block[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(block)])]
        frames = b""
        for index, part in enumerate(parts):
            flags = (4 if index == len(parts) - 1 else 0) | (data[4] & 1 if index == 0 else 0)
            frames += len(part).to_bytes(3, "big") + bytes([9 if index else 1, flags]) + data[5:9] + part
        return frames


def problem(request, exchange):
    """Returns the problem of an answer. Empty for a documented one."""
    if exchange.peer.goaways or exchange.peer.is_closed:
        return f"the connection ended: {exchange}"
    if not exchange.is_over:
        return f"no answer: {exchange}"
    if exchange.status == 431:
        size = sum(len(name) + len(value.encode()) + 32 for name, value in request.fields)
        return "" if size > 8000 or len(request.fields) > 64 else f"431 for {size} bytes"
    if not exchange.status:
        is_fine = request.is_malformed and exchange.reset == PROTOCOL_ERROR
        return "" if is_fine else f"a stream error: {exchange}"
    if exchange.status >= 500:
        return str(exchange)
    if exchange.status >= 400 and exchange.reason and exchange.reason not in STATUS:
        return f"an unknown reason: {exchange}"
    return "; ".join(faults(exchange))


def outcome(exchange):
    return exchange.status, exchange.reason, exchange.status == 0 and exchange.reset


def try_group(stack, seeds):
    """Sends several requests with interleaved frames, then each alone. Returns (seed, problem) for each violation."""
    requests = [Request(stack, seed) for seed in seeds]
    order = random.Random(seeds[0])
    with stack.peer() as peer:
        turns = [request.frames(peer) for request in requests]
        while turns and not peer.is_closed:
            turn = order.choice(turns)
            if next(turn, turn) is turn:
                turns.remove(turn)
            if order.random() < 0.3:
                peer.write(order.choice(NOISE))
        peer.wait_all([request.exchange for request in requests])
        mixed = [(request, problem(request, request.exchange)) for request in requests]
        stack.accepted(peer=peer)
    with stack.peer() as peer:
        for request, found in mixed:
            alone = peer.ask(request.fields, request.body)
            found = found or problem(request, alone)
            # The refusal of a malformed request depends on how much of it has arrived.
            if not found and not request.is_malformed and outcome(alone) != outcome(request.exchange):
                found = f"alone {alone}, between others {request.exchange}"
            if found:
                yield request, found
                break


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env-file", required=True)
    parser.add_argument("--admin-socket", required=True)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    stack = Stack(read_variables(options.env_file), options.admin_socket)
    tried = 0
    for first in range(options.first_seed, options.first_seed + options.count, GROUP_COUNT):
        seeds = range(first, min(first + GROUP_COUNT, options.first_seed + options.count))
        try:
            for request, found in try_group(stack, seeds):
                print(json.dumps({"seed": request.seed, "problem": found,
                                  "request": f"{request.fields} {request.body[:200]!r}"}), flush=True)
        except Unmet as unmet:
            print(json.dumps({"seed": first, "problem": f"one of {seeds}: {unmet}", "request": ""}), flush=True)
        tried += len(seeds)
    print(json.dumps({"tried": tried}))


if __name__ == "__main__":
    sys.exit(main())
