# SPDX-License-Identifier: Apache-2.0
"""Attacks that cost the server's loops and its writer more time than they cost the attacker."""
import collections
import json
import random
import time

from battle import attack
from server import Webhook, push
from wire import (
    DATA, END_HEADERS, END_STREAM, HEADERS, HTTP2, PING, WebSocket, block, frame, masked, request, reset)

REFUSALS = ("429", "REFUSED_STREAM", "GOAWAY", "closed")
#: The number of pending requests that an attacker keeps on a connection.
UNDER_WAY = 16


def flood(battle, fields, body, seconds, connections=1, make=None):
    """Repeats a request over several connections, and counts each status, reset and GOAWAY.

    `make` builds the fields and the body from a request's number.
    """
    found, deadline = collections.Counter(), time.monotonic() + seconds

    def work(worker):
        number = worker
        while time.monotonic() < deadline and battle.site.end is None:
            try:
                with HTTP2(battle.site.place) as connection:
                    connection.wait(lambda: connection.has_settings, 2)
                    number = repeat(connection, number)
                    found.update({name: count for name, count in connection.tally().items() if not name.isdigit()})
            except OSError:
                found["closed"] += 1
                time.sleep(0.02)

    def repeat(connection, number):
        waiting = collections.deque()
        while time.monotonic() < deadline and not connection.is_closed and not connection.goaways:
            these, text = make(number) if make else (fields, body)
            stream = connection.open(these, ends=not text)
            number += connections
            if text:
                connection.send_body(stream, text)
            waiting.append(stream)
            while len(waiting) >= UNDER_WAY:
                stream = waiting.popleft()
                connection.wait(lambda: connection.streams[stream].is_over, max(0, deadline - time.monotonic()))
                exchange = connection.streams.pop(stream)
                found[str(exchange.status)] += exchange.status is not None
                found["REFUSED_STREAM"] += exchange.reset == 7
        return number

    battle.threads(work, range(connections))
    return +found


# Finding 4: acknowledgements

def acknowledgements(numbers, outcome="viewed"):
    return json.dumps({"acks": [{"id": number, "outcome": outcome} for number in numbers]},
                      separators=(",", ":")).encode()


def junk_prepare(battle):
    """Prepares an attacker whose app got five notifications, and webhooks that subscribe to every event."""
    battle.webhook = battle.cleanup.enter_context(Webhook())
    for number in range(battle.choose(2, 20)):
        topic = f"org.example.Hook{number}"
        battle.site.add_app(topic, team="HOOKTEAM00")
        battle.site.admin("PUT", f"/v1/apps/{topic}/webhook", {"url": battle.webhook.url})
    battle.site.admin("PUT", "/v1/apps/org.example.Honest/webhook", {"url": battle.webhook.url})
    topic = "org.example.Own"
    battle.site.add_app(topic, team="HOSTILETEA")
    device, key = battle.site.add_device("attacker"), battle.site.add_key("HOSTILETEA")
    token, provider_token = device.register(topic), key.token()
    with HTTP2(battle.site.place) as provider:
        for _ in range(5):
            provider.ask(push(token, topic, provider_token), b'{"aps":{"alert":"own"}}')
    with WebSocket(battle.site.place, device.secret) as stream:
        stream.wait(lambda: len(stream.texts) >= 5)
        device.own = [json.loads(text)["notification"]["id"] for text in stream.texts]
        stream.write(masked(1, acknowledgements(device.own, "delivered")))
        stream.wait(lambda: battle.site.counts()["acknowledged"] >= 5)
    return device


def forged(battle, before, device):
    """Checks that only outcomes of the attacker's own five notifications were counted."""
    viewed = battle.site.counts()["outcomes"].get("viewed", 0) - before["outcomes"].get("viewed", 0)
    battle.note(viewed=viewed, database_growth_mib=round((battle.site.data_byte_count() - battle.database) / 2**20, 1))
    battle.expect(viewed <= len(device.own), f"{viewed} forged outcomes were counted")
    told = battle.webhook.named("viewed")
    battle.expect(not told, f"webhooks were told of {len(told)} forged outcomes")


def junk(battle, device, make_numbers, seconds):
    before, battle.database = battle.site.counts(), battle.site.data_byte_count()
    fields = request("POST", "/v1/acks", device.secret)
    found = flood(battle, None, None, seconds, make=lambda number: (fields, acknowledgements(make_numbers(number))))
    forged(battle, before, device)
    return found


@attack("4", prepare=junk_prepare, options=("--trace-megabytes", "8"))
def junk_acknowledgements(battle, device):
    """Sends a thousand acknowledgements of number 1 per request. A trace of 8 MiB must keep its content."""
    first = battle.site.trace(app="org.example.Honest")
    found = junk(battle, device, lambda number: [1] * 1000, battle.choose(3, 11))
    # device_acks: 50,000 at once and 1000 a second.
    battle.refusals(found, *REFUSALS, allowed=65)
    battle.expect(not first or battle.site.trace(id=first[0].get("apns_id")), "the trace of the honest was evicted")


@attack("4", prepare=junk_prepare)
def repeated_acknowledgements(battle, device):
    """Acknowledges delivered numbers repeatedly. Each outcome must count once."""
    found = junk(battle, device, lambda number: device.own * 200, battle.choose(2, 6))
    battle.note(answers=dict(found))


@attack("4", prepare=junk_prepare)
def random_acknowledgements(battle, device):
    """Acknowledges random numbers, for which each webhook would search the trace."""
    numbers = random.Random(1)
    found = junk(battle, device, lambda number: [numbers.randrange(1, 200_000) for _ in range(1000)],
                 battle.choose(2, 8))
    battle.refusals(found, *REFUSALS, allowed=65)


@attack("4", prepare=junk_prepare)
def junk_over_websocket(battle, device):
    """Sends the same acknowledgements on WebSockets. Each new WebSocket once had an allowance of its own."""
    before, battle.database = battle.site.counts(), battle.site.data_byte_count()
    message, deadline = masked(1, acknowledgements([1] * 1000)), time.monotonic() + battle.choose(3, 8)
    ends, sent = collections.Counter(), 0
    while time.monotonic() < deadline and battle.site.end is None:
        try:
            with WebSocket(battle.site.place, device.secret) as stream:
                if not stream.is_open:
                    ends[str(stream.opened_status)] += 1
                    time.sleep(0.02)
                    continue
                while time.monotonic() < deadline and stream.write(message, deadline) and not stream.is_closed:
                    sent += 1
                ends[str(stream.close_code or "closed")] += 1
        except OSError:
            time.sleep(0.02)
    battle.note(messages=sent, ends=dict(ends))
    forged(battle, before, device)


# Finding 5: lists, filters and policies

def subscribe(battle):
    """Adds a device with many subscriptions, and many policy rules for every device."""
    topic = "org.example.Hostile"
    battle.site.add_app(topic, team="HOSTILETEA", broadcasts=True)
    device = battle.site.add_device("hostile")
    device.register(topic)
    device.subscribe(topic, [battle.site.add_channel(topic) for _ in range(battle.choose(300, 1000))])
    return device


@attack("5", prepare=subscribe)
def lists_of_channels(battle, device):
    """Requests 2,000 lists of channels at once."""
    fields = block(request("GET", "/v1/apps/org.example.Hostile/channels", device.secret))
    found = collections.Counter()
    for _ in range(battle.choose(2, 5)):
        with HTTP2(battle.site.place, acknowledges=False) as connection:
            streams = [connection.take_stream() for _ in range(2000)]
            connection.write(b"".join(frame(HEADERS, END_HEADERS | END_STREAM, one, fields) for one in streams))
            connection.wait(lambda: all(connection.streams[one].is_over for one in streams), 10)
            found += connection.tally()
    battle.refusals(found, *REFUSALS)


def policy_prepare(battle):
    topics = [f"org.example.Policy{number}" for number in range(battle.choose(60, 400))]
    for topic in topics:
        battle.site.add_app(topic)
        battle.site.admin("PUT", f"/v1/policies/*/{topic}/sound", {"value": "off", "locked": True})
    return battle.site.add_device("attacker")


@attack("5", prepare=policy_prepare)
def policies(battle, device):
    """Requests the policy with many rules as often as one connection permits."""
    found = flood(battle, request("GET", "/v1/policy", device.secret), b"", battle.choose(2, 6))
    battle.note(answers=dict(found))


def add_attacker(battle):
    return battle.site.add_device("attacker")


@attack("5", prepare=add_attacker)
def filters(battle, device):
    """Sends filters of a thousand topics, 16 at a time."""
    body = json.dumps({"refused_topics": [f"org.example.t{number}" for number in range(1000)]}).encode()
    found = flood(battle, request("PUT", "/v1/filter", device.secret), body, battle.choose(3, 8))
    battle.refusals(found, *REFUSALS)


# Finding 6: bodies of strangers

@attack("6")
def stranger_json(battle, _):
    """Sends acknowledgements of 62 KB with an unknown secret, over two connections."""
    body = acknowledgements(range(1000, 2700), "delivered")
    body += b" " * (62000 - len(body))
    found = flood(battle, request("POST", "/v1/acks", "A" * 43), body, battle.choose(3, 8), connections=2)
    battle.note(answers=dict(found), body_byte_count=len(body))
    known = {"401", "413", "429", "REFUSED_STREAM", "closed"}
    odd = {name for name in found if name not in known and not name.startswith("GOAWAY")}
    battle.expect(not odd, f"a stranger's body was answered with {odd}: it was read before the secret")


# Finding 12: guesses

@attack("12")
def enrolment_guessing(battle, _):
    """Guesses enrolment codes at random. Guesses must be slowed down and logged."""
    numbers = random.Random(2)

    def guess(number):
        digits = "".join(numbers.choice("0123456789ABCDEFGHJKMNPQRSTVWXYZ") for _ in range(12))
        code = "-".join([digits[:4], digits[4:8], digits[8:]])
        return request("POST", "/v1/devices"), json.dumps({"code": code, "name": "x", "platform": "linux"}).encode()

    found = flood(battle, None, None, battle.choose(2, 6), make=guess)
    battle.expect(not found.get("201"), "a guessed code was taken")
    battle.refusals(found, *REFUSALS)
    battle.expect("enrol" in battle.site.log().lower(), "guessed codes are not logged")


@attack("12")
def reset_guesses(battle, _):
    """Guesses device secrets, and resets each request before its answer. A guess must count even if it is reset."""
    # The budget has 2,000 guesses at once, and 20 a second. A connection ends after about 20 of them.
    for first in range(0, 600 * 30, 30):
        with HTTP2(battle.site.place) as connection:
            connection.wait(lambda: connection.has_settings)
            frames = []
            for number in range(first, first + 30):
                stream = connection.take_stream()
                fields = block(request("GET", "/v1/policy", f"guess-{number}"))
                frames += [frame(HEADERS, END_HEADERS | END_STREAM, stream, fields), reset(stream)]
            connection.write(b"".join(frames))
            connection.write(frame(PING, 0, 0, bytes(8)))
            connection.wait(lambda: connection.ping_count or connection.is_closed or connection.goaways, 5)
        if first % 1500 == 0:
            with HTTP2(battle.site.place) as connection:
                status = connection.ask(request("GET", "/v1/policy", "last guess")).status
            if status == 429:
                break
    battle.expect(status == 429, f"after thousands of wrong secrets, the next one was answered with {status}")


@attack("12", prepare=lambda battle: battle.site.admin("POST", "/v1/enrolment-codes")["code"])
def repeated_enrolments(battle, code):
    """Repeats one enrolment many times. The server allows few repetitions, for lost answers, and creates a new secret for
    each."""
    body = json.dumps({"code": code, "name": "x", "platform": "linux", "request_id": "r" * 32}).encode()
    fields = request("POST", "/v1/devices")
    with HTTP2(battle.site.place) as connection:
        connection.wait(lambda: connection.has_settings)
        found = collections.Counter()
        while not connection.is_closed and not connection.goaways and found.total() < 400:
            streams = [connection.open(fields, ends=False) for _ in range(10)]
            for one in streams:
                connection.write(frame(DATA, END_STREAM, one, body))
            connection.wait(lambda: all(connection.streams[one].is_over for one in streams) or connection.goaways)
            found += connection.tally()
            connection.streams.clear()
    battle.note(answers=dict(found))
    battle.expect(0 < found["201"] <= 40, f"{found['201']} enrolments with one code succeeded")


@attack("12", options=("--open-enrolment", "yes"))
def open_enrolment(battle, _):
    """Enrols endless devices on a server that requires no code."""
    before = battle.site.counts()["devices"]
    body = json.dumps({"name": "x", "platform": "linux"}).encode()
    found = flood(battle, request("POST", "/v1/devices"), body, battle.choose(2, 5))
    battle.note(made=battle.site.counts()["devices"] - before)
    # stranger_enrolments: 1000 at once and 10 a second.
    battle.refusals(found, *REFUSALS, allowed=1100)


@attack("12")
def bad_signatures(battle, _):
    """Sends provider tokens of a known key with a wrong signature, each one new."""
    tokens = [battle.key.token(spoils=number) for number in range(64)]

    def make(number):
        # A changed digit makes it another token, at no cost for the attacker.
        text = f"{number:08d}".translate(str.maketrans("0123456789", "ABCDEFGHIJ"))
        token = tokens[number % 64]
        return push(battle.token, "org.example.Honest", token[:-12] + text + token[-4:]), b'{"aps":{}}'

    found = flood(battle, None, None, battle.choose(2, 6), make=make)
    battle.expect(not found.get("200"), "a wrong signature was taken")
    battle.refusals(found, *REFUSALS)
