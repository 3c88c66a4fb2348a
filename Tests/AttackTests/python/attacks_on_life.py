# SPDX-License-Identifier: Apache-2.0
"""Attacks that once ended the server, and protocol rules that it once did not enforce."""
import collections
import itertools
import threading
import time

from battle import attack
from server import push
from wire import (DATA, END_HEADERS, END_STREAM, HEADERS, HTTP1, HTTP2, WebSocket, block, error_name, frame, handshake,
                  masked, request, reset)

# Finding 1: a request that is delivered before its end

#: Bodies that are announced, that are too long, and that are small: field lines and the bytes after them.
BODIES = {
    "expect-70000": ("Expect: 100-continue\r\nContent-Length: 70000\r\n", b""),
    "length-66000": ("Content-Length: 66000\r\n", b"x" * 66000),
    "chunked-66000": ("Transfer-Encoding: chunked\r\n", b"101d0\r\n" + b"x" * 66000 + b"\r\n0\r\n\r\n"),
    "expect-10": ("Expect: 100-continue\r\nContent-Length: 10\r\n", b""),
    "expect-unsent-end": ("Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n", b""),
    "half-of-66000": ("Content-Length: 66000\r\n", b"x" * 33000),
}
#: Other requests of a device in the same forms.
REQUESTS = ["GET /v1/stream", "POST /v1/acks", "PUT /v1/filter", "PUT /v1/power", "GET /v1/policy", "POST /v1/devices",
            "PUT /v1/apps/org.example.Honest", "DELETE /v1/devices/none", "POST /3/device/00",
            "POST /4/broadcasts/apps/org.example.Honest", "POST /1/apps/org.example.Honest/channels"]


def add_attacker(battle):
    return battle.site.add_device("attacker")


@attack("1", prepare=add_attacker)
def websocket_with_body(battle, device):
    """Sends a WebSocket handshake with a body that is announced, too long, or incomplete."""
    found = {}
    for name, (fields, body) in BODIES.items():
        with HTTP1(battle.site.place) as connection:
            connection.write(handshake(device.secret, fields) + body)
            status = connection.status(3)
            found[name] = status or ("closed" if connection.is_closed else "silence")
            battle.expect(status != 101 or name == "expect-10", f"a handshake with {name} was answered with 101")
        if battle.site.end is not None:
            break
    battle.note(answers=found)


@attack("1", prepare=add_attacker)
def early_requests(battle, device):
    """Sends each request in each form in which it may be delivered before its end."""
    found = collections.Counter()
    for (fields, body), line in itertools.product(BODIES.values(), REQUESTS):
        with HTTP1(battle.site.place) as connection:
            head = f"{line} HTTP/1.1\r\nHost: push.example\r\nAuthorization: Bearer {device.secret}\r\n{fields}\r\n"
            connection.write(head.encode() + body)
            found[connection.status(0.2) or "none"] += 1
        if battle.site.end is not None:
            battle.problem(f"{line} with {fields!r} ended the server")
            break
    battle.expect(500 not in found, "a request was answered with 500")
    battle.note(answers=dict(found))


# Finding 7: SIGTERM while streams of strangers wait

def crowd_with_closed_window(place, is_over):
    """Repeatedly opens streams with a wrong secret whose answers have no window."""
    fields = block(request("GET", "/v1/stream", "A" * 43))
    while not is_over.is_set():
        try:
            with HTTP2(place, {4: 0}, acknowledges=False) as connection:
                for _ in range(20):
                    streams = [connection.take_stream() for _ in range(25)]
                    connection.write(b"".join(frame(HEADERS, END_HEADERS | END_STREAM, one, fields) for one in streams))
                    if connection.is_closed or is_over.wait(0.005):
                        break
        except OSError:
            time.sleep(0.01)


@attack("7", must_serve=())
def stop_under_streams(battle, _):
    """Sends SIGTERM while strangers' streams wait for the store. The server must exit with 0 and serve after a restart.
    """
    site, ends = battle.site, collections.Counter()
    battle.dismiss_honest()
    for _ in range(battle.choose(8, 30)):
        is_over = threading.Event()
        crowd = [threading.Thread(target=crowd_with_closed_window, args=(site.place, is_over)) for _ in range(4)]
        for one in crowd:
            one.start()
        time.sleep(0.15)
        code = site.stop()
        ends[code] += 1
        is_over.set()
        for one in crowd:
            one.join()
        if code is None:
            break
        site.start()
        with HTTP2(site.place) as provider:
            exchange = provider.ask(push(battle.token, "org.example.Honest", battle.provider_token), b'{"aps":{}}')
            battle.expect(exchange.status == 200, f"after a restart a notification was answered with {exchange.status}")
    battle.note(ends=dict(ends))
    battle.expect(set(ends) == {0}, f"SIGTERM ended the server with {dict(ends)}")
    # The server is a new process now.
    battle.measure_base()


# Finding 12: useless or forbidden frames and fields

@attack("12", prepare=add_attacker)
def websocket_glitches(battle, device):
    """Sends a series of pings and empty fragments, which must end a WebSocket."""
    found = {}
    floods = {"pings": masked(9, b"ping") * 100,
              "empty fragments": masked(1, b"", False) + masked(0, b"", False) * 99,
              "empty messages": masked(1, b"{}") * 100}
    for name, flood in floods.items():
        with WebSocket(battle.site.place, device.secret) as stream:
            if name == "empty fragments":
                stream.write(masked(1, b"", False))
                flood = masked(0, b"", False) * 100
            for _ in range(battle.choose(200, 1000)):
                if not stream.write(flood):
                    break
            stream.wait(lambda: stream.is_closed, 3)
            found[name] = stream.close_code or ("closed" if stream.is_closed else "served")
            battle.expect(stream.is_closed, f"a flood of {name} was served")
    battle.note(ends=found)


@attack("12")
def blanks_in_fields(battle, _):
    """Sends spaces at the ends of field values that the server reads: decision 24."""
    found = {}
    good = dict(push(battle.token, "org.example.Honest", battle.provider_token))
    for name, value in [("authorization", good["authorization"]), ("apns-topic", good["apns-topic"]),
                        ("apns-push-type", "alert")]:
        for form in (f"{value} ", f" {value}", f"{value}\t"):
            with HTTP2(battle.site.place) as connection:
                exchange = connection.ask(list((good | {name: form}).items()), b'{"aps":{}}', 5)
                answer = exchange.status or (error_name(exchange.reset) if exchange.reset is not None else "closed")
                found[f"{name} {form[0]!r}{form[-1]!r}"] = answer
                battle.expect(answer != 200, f"{name} with {form[0]!r} at its start and {form[-1]!r} at its end was accepted")
    battle.note(answers=dict(collections.Counter(found.values())))


# Finding 13: frames on closed streams

def closed_by_reset(connection):
    stream = connection.open(request("POST", "/v1/acks"), ends=False)
    connection.write(reset(stream))
    return stream


def closed_by_end(connection):
    stream = connection.open(request("GET", "/v1/nothing"))
    connection.wait(lambda: connection.streams[stream].is_over)
    return stream


def data_after_reset(connection):
    stream = closed_by_reset(connection)
    connection.write(frame(DATA, END_STREAM, stream, b"test"))


def fields_after_reset(connection):
    stream = closed_by_reset(connection)
    connection.write(frame(HEADERS, END_HEADERS | END_STREAM, stream, block(request("GET", "/"))))


def data_after_end(connection):
    stream = closed_by_end(connection)
    connection.write(frame(DATA, END_STREAM, stream, b"test"))
    return stream


def fields_after_end(connection):
    stream = closed_by_end(connection)
    connection.write(frame(HEADERS, END_HEADERS | END_STREAM, stream, block(request("GET", "/"))))
    return stream


def lower_stream(connection):
    connection.next_stream = 5
    closed_by_end(connection)
    connection.write(frame(HEADERS, END_HEADERS | END_STREAM, 3, block(request("GET", "/"))))


@attack("13")
def closed_streams(battle, _):
    """Sends frames on closed streams, and opens a stream below the last one: errors in RFC 9113, sections 5.1 and
    5.1.1."""
    found = {}
    for case in (data_after_reset, fields_after_reset, data_after_end, fields_after_end, lower_stream):
        with HTTP2(battle.site.place) as connection:
            case(connection)
            connection.wait(lambda: connection.goaways or connection.is_closed
                            or any(one.reset for one in connection.streams.values()), 2)
            tally = connection.tally()
            found[case.__name__] = " ".join(name for name in tally if not name.isdigit()) or "nothing"
            battle.expect(connection.goaways or connection.is_closed or tally["STREAM_CLOSED"] or tally["PROTOCOL_ERROR"],
                          f"{case.__name__} was answered with {dict(tally) or 'nothing'}")
    battle.note(answers=found)
    # The server still accepts frames that were on their way to a stream that it has reset itself.
    with HTTP2(battle.site.place) as connection:
        exchange = connection.ask(push(battle.token, "org.example.Honest", battle.provider_token), b'{"aps":{}}')
        battle.expect(exchange.status == 200, f"a notification was answered with {exchange.status}")
