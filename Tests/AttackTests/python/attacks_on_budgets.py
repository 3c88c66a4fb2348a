# SPDX-License-Identifier: Apache-2.0
"""Attacks that fill a memory budget, so that others get none of it. The budgets are small, so that the attacks are short."""
import json
import socket
import ssl
import time

from battle import attack
from server import push
from wire import DATA, END_HEADERS, END_STREAM, HEADERS, HTTP2, block, frame, literal, request

BUDGET = ("--memory-budget-megabytes", "128")

# Handshakes


def client_hello(place):
    """Returns a ClientHello in one record."""
    sent = ssl.MemoryBIO()
    try:
        place.context("h2").wrap_bio(ssl.MemoryBIO(), sent, server_hostname="localhost").do_handshake()
    except ssl.SSLWantReadError:
        pass
    return sent.read()


def without_key_share(hello):
    """Replaces the group of the key share (X25519) with one that the server does not support, so that the server sends a
    HelloRetryRequest."""
    share = bytes.fromhex("003300260024001d0020")
    if share not in hello:
        raise ValueError("the ClientHello has no key share of X25519")
    return hello.replace(share, share.replace(b"\x00\x1d", b"\x00\x1e"))


#: The headers of a record and of a ClientHello that announces 131 KB.
ANNOUNCEMENT = bytes.fromhex("160301400001020000")


def start_handshakes(battle, count, first, second=b""):
    """Opens many connections from 16 addresses, and sends `first` on each, then `second` after the server's answer."""
    connections, refused = [], 0
    for number in range(count):
        try:
            one = socket.create_connection(battle.site.place.address, 10, (f"127.0.6.{1 + number % 16}", 0))
            one.sendall(first)
            if second:
                one.recv(4096)
                one.sendall(second)
            connections.append(one)
        except OSError:
            refused += 1
    return connections, refused


@attack("2", options=BUDGET)
def unfinished_handshakes(battle, _):
    """Leaves handshakes unfinished: the ClientHello announces 131 KB, lacks its last byte, announces 131 KB after a
    HelloRetryRequest, or is complete and nothing follows."""
    hello = client_hello(battle.site.place)
    count = battle.choose(600, 900)
    start = time.monotonic()
    announced, _ = start_handshakes(battle, count, ANNOUNCEMENT)
    cut, _ = start_handshakes(battle, count, hello[:-1])
    again, _ = start_handshakes(battle, 20, without_key_share(hello), bytes.fromhex("140303000101") + ANNOUNCEMENT)
    silent, refused = start_handshakes(battle, count, hello)
    time.sleep(1)
    battle.held = start, time.monotonic()
    budget = battle.site.admin("GET", "/v1/status")["memory"]
    battle.note(connections=len(announced + cut + again + silent), refused=refused, held_bytes=budget["held_bytes"])
    battle.expect(budget["held_bytes"] <= budget["budget_bytes"] / 8,
                  f"unfinished handshakes hold {budget['held_bytes']} bytes, more than an eighth of the budget")
    for one in announced + cut + again + silent:
        one.close()


# Strangers

def references(place, source, count):
    """Sends long fields once, and refers to them in `count` requests that do not end."""
    connection = HTTP2(place, acknowledges=False, source=source)
    first = (b"\x83\x87" + literal(":path", "/v1/acks", 0x40) + literal("authorization", "Bearer x", 0x40)
             + literal("x-one", "1" * 1850, 0x40) + literal("x-two", "2" * 1850, 0x40))
    # The newest entry of the dynamic table has index 62.
    again = b"\x83\x87" + bytes([0x80 | 65, 0x80 | 64]) + bytes([0x80 | 63, 0x80 | 62]) * 2
    blocks = [first] + [again] * count
    connection.write(b"".join(frame(HEADERS, END_HEADERS, connection.take_stream(), one) for one in blocks))
    return connection


def push_heads_first(battle, source):
    """Opens a connection, sends the heads of 20 notifications and later their bodies, and returns the number of answers of
    each kind."""
    with HTTP2(battle.site.place, source=source) as connection:
        connection.wait(lambda: connection.has_settings)
        fields = push(battle.token, "org.example.Honest", battle.provider_token, [("apns-expiration", "0")])
        streams = [connection.open(fields, ends=False) for _ in range(20)]
        time.sleep(0.05)
        body = b'{"aps":{"alert":"%s"}}' % (b"x" * 500)
        for stream in streams:
            connection.write(frame(DATA, END_STREAM, stream, body))
        connection.wait(lambda: all(connection.streams[one].is_over for one in streams))
        return connection.tally()


@attack("2", options=BUDGET)
def strangers_share(battle, _):
    """Fills the memory share of unauthenticated connections. New providers must not be closed to free memory."""
    held, refused = [], 0
    for number in range(battle.choose(120, 240)):
        try:
            held.append(references(battle.site.place, f"127.0.6.{1 + number % 3}", 28))
        except OSError:
            refused += 1
    # Small requests use up the rest of the share.
    for _ in range(24):
        try:
            held.append(references(battle.site.place, "127.0.6.1", 1))
        except OSError:
            refused += 1
    for source in ("127.0.6.1", "127.0.7.1") * battle.choose(2, 8):
        found = push_heads_first(battle, source)
        battle.expect(found == {"200": 20}, f"a newcomer from {source} got {dict(found)}")
    budget = battle.site.admin("GET", "/v1/status")["memory"]
    battle.note(connections=len(held), refused=refused, held_bytes=budget["held_bytes"])
    for one in held:
        one.close()


# Principals

def add_attackers(battle):
    return [battle.site.add_device(f"attacker-{number}") for number in range(9)]


def fill_with_bodies(connection, device, count):
    """Sends requests of a device, each with a body that does not end."""
    fields = block(request("POST", "/v1/acks", device.secret))
    for _ in range(count):
        stream = connection.take_stream()
        parts = [frame(HEADERS, END_HEADERS, stream, fields)] + [frame(DATA, 0, stream, b"x" * 16000)] * 4
        if not connection.write(b"".join(parts), time.monotonic() + 0.4):
            break


@attack("2", prepare=add_attackers, options=("--memory-budget-megabytes", "64"))
def budget_of_devices(battle, devices):
    """Fills the memory budget with requests of nine devices. A provider's notifications must not wait for them."""
    held = []
    for device in devices:
        for _ in range(6):
            connection = HTTP2(battle.site.place)
            connection.ask(request("GET", "/v1/policy", device.secret))
            held.append(connection)
            fill_with_bodies(connection, device, battle.choose(40, 56))
    memory = battle.site.admin("GET", "/v1/status")["memory"]
    body = json.dumps({"aps": {"alert": "x" * 3900}}).encode()
    fields = push(battle.token, "org.example.Honest", battle.provider_token, [("apns-expiration", "0")])
    times = []
    for _ in range(3):
        with HTTP2(battle.site.place, source="127.0.0.2") as connection:
            connection.ask(fields, body)
            start = time.monotonic()
            streams = [connection.open(fields, ends=False) for _ in range(100)]
            for stream in streams:
                connection.send_body(stream, body)
            connection.wait(lambda: all(connection.streams[one].is_over for one in streams))
            times.append(round((time.monotonic() - start) * 1000))
            battle.expect(connection.tally() == {"200": 100}, f"a provider got {dict(connection.tally())}")
    battle.note(held_bytes=memory["held_bytes"], milliseconds_for_100_pushes=times)
    battle.expect(memory["held_bytes"] < memory["budget_bytes"], "the devices used the whole budget")
    for one in held:
        one.close()
