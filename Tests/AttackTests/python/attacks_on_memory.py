# SPDX-License-Identifier: Apache-2.0
"""Attacks that make the server hold memory, connections or answers."""
import collections
import datetime
import os
import socket
import ssl
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from battle import attack
from server import Refused, push
from wire import DATA, END_HEADERS, END_STREAM, HEADERS, HTTP2, PING, block, frame, literal, request


def hold(connections, seconds):
    """Keeps connections open and reads their input."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not all(one.is_closed for one in connections):
        for connection in connections:
            connection.pump(0)
        time.sleep(0.02)


def total(connections, refused=0):
    """Returns the tally of all connections. A refused connection counts as closed."""
    return sum((one.tally() for one in connections), collections.Counter({"closed": refused} if refused else {}))


def hpack_bomb(place, count):
    """Sends two long fields once, and refers to them twice in each of many unfinished requests."""
    connection = HTTP2(place, acknowledges=False)
    first = (b"\x83\x87" + literal(":path", "/v1/acks", 0x40) + literal("authorization", "Bearer x", 0x40)
             + literal("x-one", "1" * 1850, 0x40) + literal("x-two", "2" * 1850, 0x40))
    # The newest entry of the dynamic table has index 62.
    again = b"\x83\x87" + bytes([0x80 | 65, 0x80 | 64]) + bytes([0x80 | 63, 0x80 | 62]) * 2
    frames = [frame(HEADERS, END_HEADERS, connection.take_stream(), first)]
    frames += [frame(HEADERS, END_HEADERS, connection.take_stream(), again) for _ in range(count - 1)]
    data = b"".join(frames)
    connection.write(data, time.monotonic() + 10)
    connection.sent = len(data)
    return connection


def run_hpack(battle, connection_count):
    connections = []
    for _ in range(connection_count):
        try:
            connections.append(hpack_bomb(battle.site.place, 2000))
        except OSError:
            pass
    hold(connections, battle.choose(1.5, 10))
    battle.note(sent=sum(one.sent for one in connections))
    battle.refusals(total(connections, connection_count - len(connections)), "REFUSED_STREAM", "GOAWAY", "closed",
                    "429", "431")
    for one in connections:
        one.close()


def client_certificate(directory, name, extensions):
    """Writes a certificate and its key that no authority has signed, whatever its issuer's name says."""
    key = ec.generate_private_key(ec.SECP256R1())
    builder = (
        x509.CertificateBuilder().subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "attacker")]))
        .issuer_name(name).public_key(key.public_key()).serial_number(5)
        .not_valid_before(datetime.datetime(2026, 1, 1)).not_valid_after(datetime.datetime(2036, 1, 1)))
    for identifier, value in extensions:
        builder = builder.add_extension(x509.UnrecognizedExtension(x509.ObjectIdentifier(identifier), value), False)
    path = os.path.join(directory, f"client-{len(extensions)}.pem")
    with open(path, "wb") as file:
        file.write(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        file.write(key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return path


def certified(place, path):
    """Opens a connection with a client certificate, and returns it once the server has sent SETTINGS."""
    context = ssl.create_default_context(cafile=place.authority)
    context.set_alpn_protocols(["h2"])
    context.load_cert_chain(path)
    connection = context.wrap_socket(socket.create_connection(place.address, 10), server_hostname="localhost")
    connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0))
    if not connection.recv(9):
        raise ConnectionError("closed")
    return connection


@attack("2")
def client_certificates(battle, _):
    """Sends client certificates whose extensions become a hundred times larger when they are decoded."""
    with open(battle.site.place.authority, "rb") as file:
        name = x509.load_pem_x509_certificate(file.read()).subject
    # Empty directory names of a subject alternative name: four bytes each.
    names = b"\xa4\x02\x30\x00" * 1600
    large = client_certificate(battle.site.directory, name, [("2.5.29.17", b"\x30\x82\x19\x00" + names)])
    many = client_certificate(battle.site.directory, name, [(f"1.2.{number}", b"") for number in range(200)])
    connections, refused = [], 0
    for _ in range(battle.choose(150, 400)):
        connections.append(certified(battle.site.place, large))
    for _ in range(20):
        try:
            connections.append(certified(battle.site.place, many))
        except OSError:
            refused += 1
    time.sleep(0.5)
    battle.note(connections=len(connections), refused=refused)
    battle.expect(refused == 20, "a certificate with many extensions was accepted")
    for one in connections:
        one.close()


@attack("2")
def hpack_references(battle, _):
    """Sends 17 bytes that make the server hold 8 KB, on 10 connections."""
    run_hpack(battle, 10)


@attack("2")
def hpack_references_32(battle, _):
    """Sends 17 bytes that make the server hold 8 KB, on 32 connections."""
    run_hpack(battle, 32)


@attack("2")
def stranger_bodies(battle, _):
    """Sends bodies of 64 KiB on a thousand unauthenticated streams that do not end."""
    def fill(number):
        try:
            connection = HTTP2(battle.site.place)
        except OSError:
            return
        connections.append(connection)
        connection.wait(lambda: connection.has_settings, 5)
        for _ in range(battle.choose(500, 1000)):
            stream = connection.open(request("POST", "/v1/acks", "x"), ends=False)
            exchange, deadline, sent = connection.streams[stream], time.monotonic() + 1, 0
            # The attack ends when the server stops widening a connection's window.
            while sent < 65000 and not exchange.is_over and not connection.is_closed and time.monotonic() < deadline:
                room = min(16384, connection.window, connection.initial_window - sent)
                if room <= 0:
                    connection.pump(0.02)
                    continue
                connection.window -= room
                sent += room
                connection.write(frame(DATA, 0, stream, bytes(room)))
            counted[0] += sent
            if connection.is_closed or time.monotonic() >= deadline or connection.goaways:
                break

    connections, counted = [], [0]
    battle.threads(fill, range(battle.choose(3, 4)))
    hold(connections, battle.choose(0.5, 5))
    battle.note(sent_mib=round(counted[0] / 2**20))
    battle.refusals(total(connections, battle.choose(3, 4) - len(connections)), "REFUSED_STREAM", "GOAWAY", "closed",
                    "429", "413", "401")
    for one in connections:
        one.close()


# Finding 3: connections

SMALL = ("prlimit", "--nofile=300:300")


@attack("3", wrapper=SMALL)
def idle_connections(battle, _):
    """Opens TLS connections with the preface and an occasional PING, more than the server has descriptors."""
    connections, refused = [], 0
    for _ in range(320):
        try:
            # A server without descriptors leaves the handshake waiting.
            connections.append(HTTP2(battle.site.place, timeout=2))
        except OSError:
            refused += 1
            if refused > 3:
                break
    start = time.monotonic()
    while time.monotonic() < start + battle.choose(6, 40):
        for connection in connections:
            connection.write(frame(PING, 0, 0, bytes(8)))
        time.sleep(1)
    battle.held = start, time.monotonic()
    for connection in connections:
        connection.pump(0)
    still_open = sum(not one.is_closed for one in connections)
    battle.note(connections=len(connections), refused=refused, still_open=still_open)
    battle.expect(still_open <= 236, f"{still_open} idle connections were kept with 300 descriptors")
    for one in connections:
        one.close()


def crowd_prepare(battle):
    battle.site.add_app("org.example.Crowd", team="HOSTILETEA")
    return battle.site.add_key("HOSTILETEA").token()


@attack("3", prepare=crowd_prepare, wrapper=SMALL)
def crowd(battle, token):
    """Opens more connections than there are descriptors, with a valid key and from several addresses.

    A newcomer that proves its key late must not be closed for them.
    """
    connections, refused = [], 0
    fields = push("00" * 32, "org.example.Crowd", token)

    def join(count):
        nonlocal refused
        for number in range(count):
            try:
                one = HTTP2(battle.site.place, source=f"127.0.0.{2 + number % 8}", timeout=2)
                # 400 BadDeviceToken, but the sender has proved its key.
                one.ask(fields, b'{"aps":{}}')
                connections.append(one)
            except OSError:
                refused += 1
                if refused > 8:
                    break

    join(200)
    newcomer = HTTP2(battle.site.place, source="127.0.0.20")
    join(120)
    answer = newcomer.ask(fields, b'{"aps":{}}', 5)
    battle.expect(answer.status == 400, f"a newcomer was closed for the crowd: {dict(newcomer.tally())}")
    newcomer.close()
    start = time.monotonic()
    time.sleep(battle.choose(3, 15))
    battle.held = start, time.monotonic()
    for one in connections:
        one.pump(0)
    still_open = sum(not one.is_closed for one in connections)
    battle.note(connections=len(connections), refused=refused, still_open=still_open)
    battle.expect(len(connections) > 100, f"the attacker opened only {len(connections)} connections")
    for one in connections:
        one.close()


@attack("3", wrapper=SMALL)
def silent_connections(battle, _):
    """Opens TCP connections that never start a handshake."""
    sockets = []
    for _ in range(600):
        one = socket.socket()
        one.settimeout(1)
        try:
            one.connect(battle.site.place.address)
        except OSError:
            one.close()
            continue
        sockets.append(one)
    start = time.monotonic()
    time.sleep(battle.choose(4, 15))
    battle.held = start, time.monotonic()
    battle.note(connections=len(sockets))
    for one in sockets:
        one.close()


# Finding 5: answers that wait for a window

def subscribe(battle):
    """Adds a device with many subscriptions."""
    topic = "org.example.Hostile"
    battle.site.add_app(topic, team="HOSTILETEA", broadcasts=True)
    device = battle.site.add_device("hostile")
    device.register(topic)
    count = battle.choose(300, 1000)
    device.subscribe(topic, [battle.site.add_channel(topic) for _ in range(count)])
    return device


@attack("5", prepare=subscribe)
def lists_with_closed_window(battle, device):
    """Requests 8,000 lists of channels whose answers have no window."""
    fields = block(request("GET", "/v1/apps/org.example.Hostile/channels", device.secret))
    connections = []

    def ask(_):
        try:
            connection = HTTP2(battle.site.place, {4: 0})
        except OSError:
            return
        connections.append(connection)
        connection.wait(lambda: connection.has_settings, 5)
        for _ in range(10):
            streams = [connection.take_stream() for _ in range(100)]
            connection.write(b"".join(frame(HEADERS, END_HEADERS | END_STREAM, one, fields) for one in streams))

    battle.threads(ask, range(8))
    hold(connections, battle.choose(3, 12))
    battle.refusals(total(connections, 8 - len(connections)), "429", "REFUSED_STREAM", "GOAWAY", "closed")
    for one in connections:
        one.close()


# Finding 8: a log without a reader

def add_attacker(battle):
    return battle.site.add_device("attacker")


def flood_streams(battle, device, seconds):
    """Repeatedly opens the device's stream, and returns the tally of answers."""
    fields, deadline = block(request("GET", "/v1/stream", device.secret)), time.monotonic() + seconds
    found, opened = collections.Counter(), 0
    while time.monotonic() < deadline and battle.site.end is None:
        try:
            with HTTP2(battle.site.place) as connection:
                while time.monotonic() < deadline and not connection.is_closed and not connection.goaways:
                    streams = [connection.take_stream() for _ in range(100)]
                    opened += connection.write(
                        b"".join(frame(HEADERS, END_HEADERS | END_STREAM, one, fields) for one in streams),
                        deadline + 1) and 100
                    connection.wait(lambda: connection.streams[streams[-1]].status or connection.streams[streams[-1]].is_over
                                    or connection.goaways, max(0, deadline - time.monotonic()))
                    for one in streams:
                        exchange = connection.streams[one]
                        found[str(exchange.status)] += exchange.status is not None
                        found["REFUSED_STREAM"] += exchange.reset == 7
                for name, count in connection.tally().items():
                    found[name] += count if name.startswith(("GOAWAY", "closed")) else 0
        except OSError:
            time.sleep(0.05)
    battle.note(opened=opened)
    return +found


@attack("8", prepare=add_attacker)
def stream_flood(battle, device):
    """Opens streams of one device as fast as possible. The log must stay short."""
    found = flood_streams(battle, device, battle.choose(3, 8))
    lines = battle.site.log().count("\n")
    battle.note(log_lines=lines, log_bytes=len(battle.site.log()))
    battle.expect(lines < 1500, f"the log got {lines} lines")
    battle.refusals(found, "429", "GOAWAY", "REFUSED_STREAM", "closed")


@attack("8", prepare=add_attacker, reads_log=False)
def unread_log(battle, device):
    """Opens streams of one device as fast as possible, while standard error is an unread pipe."""
    found = flood_streams(battle, device, battle.choose(3, 8))
    battle.note(answers=dict(found))
    try:
        battle.site.counts()
    except (OSError, Refused) as error:
        battle.problem(f"the administrator is not answered: {error}")
