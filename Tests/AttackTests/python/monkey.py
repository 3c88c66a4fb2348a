# SPDX-License-Identifier: Apache-2.0
"""Runs random connections, administration and stops against a real posthornd: monkey.py [--seconds N] [--seed N].

Each round runs several peers, which the seed selects, beside an administrator. Many rounds end with SIGTERM at a random
moment. After each round the server must run, or have exited with 0, and an honest notification must arrive. Prints one
JSON object, whose `problems` is empty on success.
"""
import argparse
import collections
import json
import os
import random
import signal
import socket
import struct
import threading
import time

from server import PATIENCE, Refused, Site, push
from wire import (CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, HTTP1, HTTP2, PING, PRIORITY, WebSocket, block,
                  frame, handshake, masked, request, reset, settings, window_update)

TOPICS = ["org.example.One", "org.example.Two", "org.example.Three"]
PEER_COUNT = 5


class World:
    """The data for the peers: valid and invalid secrets, tokens and channels. Lists change while they are used."""

    def __init__(self, site):
        self.site, self.channels = site, []
        for topic in TOPICS:
            site.add_app(topic, broadcasts=True)
            self.channels.append((topic, site.add_channel(topic, policy=len(self.channels) % 2)))
        self.key = site.add_key()
        self.provider_token = self.key.token()
        self.devices, self.tokens = [], []
        site.add_app("org.example.Honest", team="HONESTTEAM")
        self.honest_key = site.add_key("HONESTTEAM")
        self.honest_provider_token = self.honest_key.token()
        self.honest = site.add_device("honest")
        self.honest_address = self.honest.register("org.example.Honest")
        for _ in range(4):
            self.add_device()

    def add_device(self):
        device = self.site.add_device("monkey")
        self.devices = (self.devices + [device])[-8:]
        for topic, channel in self.channels[:2]:
            self.tokens = (self.tokens + [(topic, device.register(topic))])[-16:]
            device.subscribe(topic, [channel])

    def secret(self, random):
        return random.choice(self.devices).secret if random.random() < 0.8 else "A" * 43


class Choice:
    """Generates random requests and bytes."""

    def __init__(self, world, random):
        self.world, self.random = world, random

    def acknowledgements(self):
        count = self.random.choice([0, 1, 5, 100, 1000, 1001])
        start = self.random.choice([0, 1, 1, self.random.randrange(1000), 2**63 - 1001])
        outcome = self.random.choice(["delivered", "shown", "viewed", "closed", "suppressed", "odd"])
        return json.dumps({"acks": [{"id": start + n, "outcome": outcome} for n in range(count)]}).encode()

    def notification(self):
        topic, token = self.random.choice(self.world.tokens)
        extra = self.random.choice([[], [("apns-expiration", "0")], [("apns-collapse-id", "one")],
                                    [("apns-priority", "5")]])
        fields = push(token, topic, self.world.provider_token, extra)
        return fields, json.dumps({"aps": {"alert": "x" * self.random.choice([1, 100, 4000, 5000])}}).encode()

    def broadcast(self):
        topic, channel = self.random.choice(self.world.channels)
        expiration = self.random.choice([0, int(time.time()) + 600])
        return request("POST", f"/4/broadcasts/apps/{topic}", extra=[
            ("authorization", f"bearer {self.world.provider_token}"), ("apns-channel-id", channel),
            ("apns-push-type", "liveactivity"), ("apns-expiration", str(expiration))]), b'{"aps":{"event":"update"}}'

    def device_request(self):
        topic = self.random.choice(TOPICS)
        channel = self.random.choice(self.world.channels)[1]
        path = channel.replace("/", "%2F").replace("+", "%2B").replace("=", "%3D")
        method, target, body = self.random.choice([
            ("GET", "/v1/stream", b""), ("GET", "/v1/stream", b""), ("POST", "/v1/acks", self.acknowledgements()),
            ("PUT", f"/v1/apps/{topic}", b"{}"), ("PUT", f"/v1/apps/{topic}", b'{"environment":"development"}'),
            ("DELETE", f"/v1/apps/{topic}", b""), ("PUT", f"/v1/apps/{topic}/channels/{path}", b""),
            ("DELETE", f"/v1/apps/{topic}/channels/{path}", b""), ("GET", f"/v1/apps/{topic}/channels", b""),
            ("GET", "/v1/policy", b""), ("PUT", "/v1/power", b'{"saving":true}'),
            ("PUT", "/v1/filter", b'{"refused_topics":["org.example.Three"]}'), ("PUT", "/v1/filter", b"x" * 70000),
            ("POST", "/v1/devices", b'{"code":"AAAA-BBBB-CCCC","name":"x","platform":"linux"}'),
            ("DELETE", "/v1/devices/self", b"") if self.random.random() < 0.1 else ("GET", "/nothing", b"")])
        return request(method, target, self.world.secret(self.random)), body

    def listing(self):
        return request("GET", f"/1/apps/{self.random.choice(TOPICS)}/all-channels", extra=[
            ("authorization", f"bearer {self.world.provider_token}")]), b""

    def request(self):
        kinds = [self.device_request, self.device_request, self.notification, self.broadcast, self.listing]
        return self.random.choice(kinds)()

    def junk(self):
        return self.random.randbytes(self.random.randrange(1, 200))


class Peer:
    """Runs one random connection."""

    def __init__(self, world, seed):
        self.random = random.Random(seed)
        self.world, self.choice = world, Choice(world, self.random)
        self.place, self.answers = world.site.place, collections.Counter()

    def live(self):
        kind = self.random.choice([self.http2, self.http2, self.http1, self.websocket, self.websocket, self.garbage])
        try:
            kind()
        except (OSError, KeyError, IndexError, ValueError):
            # The server closed the connection or has ended. Forbidden behavior shows in its exit status and its log.
            time.sleep(0.01)

    def leave(self, connection):
        """Ends a connection in one of several ways."""
        if isinstance(connection, HTTP2):
            self.answers += connection.tally()
        way = self.random.randrange(4)
        if way == 0:
            connection.cut()
        elif way == 1:
            connection.socket.shutdown(socket.SHUT_WR)
            time.sleep(self.random.uniform(0, 0.05))
        elif way == 2:
            try:
                connection.socket.unwrap()
            except OSError:
                pass
            connection.pump(self.random.uniform(0, 0.05))
        connection.close()

    def write(self, connection, data):
        """Writes the bytes whole, in pieces, or cut off. Returns False when they were cut off."""
        if self.random.random() < 0.05:
            connection.write(data[:self.random.randrange(len(data) + 1)], time.monotonic() + 1)
            return False
        pieces = self.random.choice([1, 1, 1, 3, 7])
        size = max(1, len(data) // pieces)
        for start in range(0, len(data), size):
            connection.write(data[start:start + size], time.monotonic() + 1)
            if pieces > 1:
                time.sleep(self.random.uniform(0, 0.003))
        return not connection.is_closed

    # HTTP/2

    def http2(self):
        values = self.random.choice([{}, {4: 0}, {4: 1}, {4: 1 << 20}, {1: 0}, {2: 0, 3: 0}, {6: 100}])
        connection = HTTP2(self.place, values, acknowledges=self.random.random() < 0.7,
                           widens=self.random.random() < 0.7, timeout=2)
        opened = []
        for _ in range(self.random.randrange(1, 60)):
            if not self.write(connection, self.frames(connection, opened)):
                break
            if self.random.random() < 0.3:
                connection.pump(self.random.uniform(0, 0.02))
        self.leave(connection)

    def frames(self, connection, opened):
        kind = self.random.randrange(12)
        if kind < 6 or not opened:
            return self.whole_request(connection, opened)
        stream = self.random.choice(opened)
        if kind == 6:
            return reset(stream, self.random.randrange(14))
        if kind == 7:
            size = self.random.choice([0, 1, 100, 16384])
            return frame(DATA, self.random.choice([0, END_STREAM]), stream, bytes(size))
        if kind == 8:
            return window_update(self.random.choice([0, stream]), self.random.choice([1, 1000, 1 << 20]))
        if kind == 9:
            return settings({self.random.choice([1, 3, 4]): self.random.choice([0, 1, 4096, 65535])})
        if kind == 10:
            return frame(PING, 0, 0, bytes(8)) + frame(PRIORITY, 0, stream, bytes(5))
        # These are trailers, or fields on a closed stream.
        return frame(HEADERS, END_HEADERS | END_STREAM, stream, block([("x-trailer", "1")]))

    def whole_request(self, connection, opened):
        fields, body = self.choice.request()
        if self.random.random() < 0.1:
            fields = fields + [("expect", "100-continue")]
        if self.random.random() < 0.1:
            fields = fields + [("content-length", str(self.random.choice([0, len(body), 10, 70000])))]
        stream = connection.take_stream()
        opened.append(stream)
        data = block(fields)
        ends = END_STREAM if not body else 0
        if self.random.random() < 0.2:
            cut = self.random.randrange(len(data))
            output = frame(HEADERS, ends, stream, data[:cut]) + frame(CONTINUATION, END_HEADERS, stream, data[cut:])
        else:
            output = frame(HEADERS, ends | END_HEADERS, stream, data)
        how = self.random.random()
        if body and how < 0.85:
            size = self.random.choice([1000, 16384])
            parts = [body[start:start + size] for start in range(0, len(body), size)][:4]
            for index, part in enumerate(parts):
                is_last = index == len(parts) - 1 and how < 0.7
                output += frame(DATA, END_STREAM if is_last else 0, stream, part)
        if how > 0.95:
            output += reset(stream)
        return output

    # HTTP/1.1

    def http1(self):
        connection = HTTP1(self.place)
        output = b"".join(self.text(*self.choice.request()) for _ in range(self.random.randrange(1, 6)))
        if self.write(connection, output):
            connection.pump(self.random.uniform(0, 0.1))
            if self.random.random() < 0.3:
                self.write(connection, self.choice.junk())
        self.leave(connection)

    def text(self, fields, body):
        lines = dict(fields)
        head = [f"{lines[':method']} {lines[':path']} HTTP/1.1", "Host: push.example"]
        head += [f"{name}: {value}" for name, value in fields if not name.startswith(":")]
        form = self.random.randrange(6)
        if self.random.random() < 0.3:
            head.append("Expect: 100-continue")
        if form == 0:
            head.append("Transfer-Encoding: chunked")
            body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:10], body[10:]) if part) + b"0\r\n\r\n"
        elif form == 1:
            head.append(f"Content-Length: {len(body) + self.random.choice([1, 70000])}")
        else:
            head.append(f"Content-Length: {len(body)}")
        if self.random.random() < 0.3:
            head += ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                     "Sec-WebSocket-Protocol: posthorn.v1", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]
        return ("\r\n".join(head) + "\r\n\r\n").encode() + body

    # WebSockets

    def websocket(self):
        secret = self.world.secret(self.random)
        if self.random.random() < 0.3:
            # The frames follow the handshake before it is answered.
            connection = HTTP1(self.place)
            extra = self.random.choice(["", "Expect: 100-continue\r\nContent-Length: 70000\r\n", "Content-Length: 5\r\n"])
            self.write(connection, handshake(secret, extra) + self.message())
            connection.pump(self.random.uniform(0, 0.05))
            return self.leave(connection)
        connection = WebSocket(self.place, secret)
        for _ in range(self.random.randrange(1, 30)):
            if not self.write(connection, self.message()):
                break
            if self.random.random() < 0.3:
                connection.pump(self.random.uniform(0, 0.02))
        self.leave(connection)

    def message(self):
        kind = self.random.randrange(9)
        if kind < 4:
            return masked(1, self.choice.acknowledgements())
        if kind == 4:
            return masked(9, self.choice.junk()[:125])
        if kind == 5:
            text = self.choice.acknowledgements()
            return masked(1, text[:10], False) + masked(9) + masked(0, text[10:])
        if kind == 6:
            return masked(8, struct.pack(">H", self.random.choice([1000, 1001, 1005, 4000])))
        if kind == 7:
            return masked(self.random.randrange(16), self.choice.junk()[:100], self.random.random() < 0.8)
        return self.choice.junk()

    # TLS and TCP

    def garbage(self):
        with socket.create_connection(self.place.address, 2) as plain:
            hello = bytes.fromhex("160301020001000001fc0303") + self.random.randbytes(500)
            data = self.random.choice([hello, self.choice.junk(), b"GET / HTTP/1.1\r\n\r\n"])
            plain.sendall(data[:self.random.randrange(len(data) + 1)])
            time.sleep(self.random.uniform(0, 0.05))


class Administrator:
    """Adds and removes the peers' objects while they use them."""

    def __init__(self, world, seed):
        self.world, self.random, self.site = world, random.Random(seed), world.site

    def work(self):
        actions = [self.replace_device, self.remove_registration, self.reload, self.back_up, self.look, self.look,
                   self.set_policy, self.replace_app, self.replace_channel]
        try:
            self.random.choice(actions)()
        except (OSError, Refused, KeyError, IndexError):
            pass

    def replace_device(self):
        if self.random.random() < 0.7:
            self.site.admin("DELETE", f"/v1/devices/{self.random.choice(self.world.devices).id}")
        self.world.add_device()

    def remove_registration(self):
        self.random.choice(self.world.devices).ask("DELETE", f"/v1/apps/{self.random.choice(TOPICS)}")

    def reload(self):
        self.site.process.send_signal(signal.SIGHUP)

    def back_up(self):
        self.site.admin("POST", "/v1/backups", {"path": f"{self.site.directory}/backup", "replace": True})

    def look(self):
        for target in ("status", "devices", "apps", "keys", f"trace?app={TOPICS[0]}", "quotas", "policies"):
            self.site.admin("GET", f"/v1/{target}")

    def set_policy(self):
        self.site.admin("PUT", f"/v1/policies/*/{self.random.choice(TOPICS)}/sound",
                        {"value": self.random.choice(["on", "off"])})

    def replace_app(self):
        topic = TOPICS[2]
        self.site.admin("DELETE", f"/v1/apps/{topic}")
        self.site.add_app(topic, broadcasts=True)
        self.world.channels[2] = (topic, self.site.add_channel(topic))

    def replace_channel(self):
        topic, channel = self.world.channels[1]
        path = channel.replace("/", "%2F").replace("+", "%2B").replace("=", "%3D")
        self.world.channels[1] = (topic, self.site.add_channel(topic))
        self.site.admin("DELETE", f"/v1/apps/{topic}/channels/{path}")


class Monkey:
    """Runs the rounds."""

    def __init__(self, seed):
        self.seed, self.problems, self.ends, self.number = seed, [], collections.Counter(), 0
        self.peer_count, self.answers = 0, collections.Counter()

    def run(self, seconds):
        deadline = time.monotonic() + seconds
        with Site() as site:
            self.site, self.world = site, World(site)
            while not self.number or (time.monotonic() < deadline and not self.problems):
                self.number += 1
                self.round(random.Random(f"{self.seed}/{self.number}"))
            if not self.problems:
                self.end()
            self.look_into_log()
        return {"seed": self.seed, "rounds": self.number, "peers": self.peer_count, "ends": dict(self.ends),
                "answers": dict(self.answers), "problems": self.problems}

    def round(self, chance):
        is_over = threading.Event()
        threads = [threading.Thread(target=self.peers, args=(is_over, index)) for index in range(PEER_COUNT)]
        threads.append(threading.Thread(target=self.administrate, args=(is_over,)))
        for thread in threads:
            thread.start()
        time.sleep(chance.uniform(0.05, 1.2))
        if chance.random() < 0.5:
            self.end()
        is_over.set()
        for thread in threads:
            thread.join()
        if self.site.end is None:
            self.ends["alive"] += 1
        elif self.site.end != 0:
            return self.problem(f"the server ended with {self.site.end}")
        else:
            self.site.start()
        self.push_honestly()

    def peers(self, is_over, index):
        count = 0
        while not is_over.is_set() and self.site.end is None:
            count += 1
            peer = Peer(self.world, f"{self.seed}/{self.number}/{index}/{count}")
            peer.live()
            self.answers += peer.answers
        self.peer_count += count

    def administrate(self, is_over):
        administrator = Administrator(self.world, f"{self.seed}/{self.number}/administrator")
        while not is_over.wait(0.03) and self.site.end is None:
            administrator.work()

    def end(self):
        code = self.site.stop()
        self.ends[f"exit {code}"] += 1
        if code != 0:
            self.problem(f"SIGTERM ended the server with {code}")

    def problem(self, text):
        self.problems.append(f"round {self.number}: {text}")

    def push_honestly(self):
        """Sends a notification that must arrive, from addresses that the monkey did not use."""
        deadline, found = time.monotonic() + PATIENCE, "nothing"
        while time.monotonic() < deadline:
            try:
                with WebSocket(self.site.place, self.world.honest.secret, source="127.0.0.3") as stream, \
                        HTTP2(self.site.place, source="127.0.0.2") as provider:
                    fields = push(self.world.honest_address, "org.example.Honest", self.world.honest_provider_token)
                    body = json.dumps({"aps": {"alert": "honest"}, "n": self.number}).encode()
                    exchange = provider.ask(fields, body)
                    found = f"status {exchange.status}, stream {stream.opened_status}"
                    if exchange.status == 200 and self.arrives(stream):
                        return
            except OSError as error:
                found = repr(error)
            time.sleep(0.2)
        self.problem(f"an honest notification did not arrive: {found}, server {self.site.end}")

    def arrives(self, stream):
        def has_come():
            while stream.texts:
                event = json.loads(stream.texts.popleft()).get("notification")
                if event:
                    stream.write(masked(1, json.dumps({"acks": [{"id": event["id"], "outcome": "shown"}]}).encode()))
                    if event["payload"].get("n") == self.number:
                        return True
            return False
        return stream.wait(has_come, 5)

    def look_into_log(self):
        text = self.site.log()
        for word in ("Fatal error", "recondition failed", "Sanitizer"):
            place = text.find(word)
            if place >= 0:
                self.problem(text[max(0, place - 100):place + 1500])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", default=os.environ.get("POSTHORN_MONKEY_SEED") or str(random.randrange(10**9)))
    options = parser.parse_args()
    print(json.dumps(Monkey(options.seed).run(options.seconds)))


if __name__ == "__main__":
    main()
