# SPDX-License-Identifier: Apache-2.0
"""Attacks in which one team or device harms another or acts in its name, and counts that must be correct."""
import collections
import json
import time

from battle import attack
from server import Webhook, push
from wire import DATA, END_HEADERS, END_STREAM, HEADERS, HTTP2, WebSocket, block, frame, masked, request


def send_all(place, requests):
    """Sends requests (fields, body) at once on one connection, and returns the exchanges."""
    with HTTP2(place) as connection:
        connection.wait(lambda: connection.has_settings, 5)
        streams = []
        for fields, body in requests:
            stream = connection.open(fields, ends=not body)
            if body:
                connection.send_body(stream, body)
            streams.append(stream)
        connection.wait(lambda: all(connection.streams[one].is_over for one in streams))
        return [connection.streams[one] for one in streams]


def payload(number):
    return json.dumps({"aps": {"alert": "text"}, "n": number}).encode()


def receive(site, device, count, seconds=10, outcome=None):
    """Reads and acknowledges a device's stream. Returns the notifications, at most one for each sequence."""
    events = {}
    with WebSocket(site.place, device.secret) as stream:
        deadline = time.monotonic() + seconds
        while len(events) < count and time.monotonic() < deadline and not stream.is_closed:
            stream.pump(0.1)
            acknowledgements = []
            while stream.texts:
                event = json.loads(stream.texts.popleft()).get("notification")
                if event:
                    events[event["id"]] = event
                    acknowledgements.append({"id": event["id"], "outcome": outcome or "delivered"})
            if acknowledgements:
                stream.write(masked(1, json.dumps({"acks": acknowledgements}).encode()))
        stream.write(masked(9, b"read?"))
        stream.wait(lambda: stream.pong_count, 5)
    return events


# Finding 9

def tenants_prepare(battle):
    site = battle.site
    shared = site.add_device("shared")
    site.add_app("org.example.Victim", team="VICTIMTEAM")
    victim = site.add_key("VICTIMTEAM").token(), shared.register("org.example.Victim")
    hostile = site.add_key("HOSTILETEA").token()
    addresses = []
    for number in range(10):
        topic = f"org.example.Hostile{number}"
        site.add_app(topic, team="HOSTILETEA")
        addresses.append((topic, shared.register(topic)))
    return shared, victim, hostile, addresses


@attack("9", prepare=tenants_prepare)
def foreign_queue(battle, prepared):
    """Fills a device's queue with ten apps of one team. Notifications that another team stored there must stay."""
    device, (victim_token, victim_address), hostile_token, addresses = prepared
    answers = send_all(battle.site.place, [
        (push(victim_address, "org.example.Victim", victim_token), payload(number)) for number in range(5)])
    battle.expect(all(one.status == 200 for one in answers), "the victim's notifications were refused")
    answers = collections.Counter()
    for topic, address in addresses:
        answers.update(str(one.status) for one in send_all(battle.site.place, [
            (push(address, topic, hostile_token), payload(number)) for number in range(100)]))
    battle.note(hostile_answers=dict(answers))
    events = receive(battle.site, device, 1005, seconds=8)
    mine = [event for event in events.values() if event["topic"] == "org.example.Victim"]
    battle.note(victim_delivered=len(mine), hostile_delivered=len(events) - len(mine))
    battle.expect(len(mine) == 5, f"{len(mine)} of 5 stored notifications of another team were delivered")


# Finding 10

def broadcast_prepare(battle):
    site, topic = battle.site, "org.example.Live"
    battle.webhook = battle.cleanup.enter_context(Webhook())
    site.add_app(topic, team="BROADCASTS", broadcasts=True)
    site.admin("PUT", f"/v1/apps/{topic}/webhook", {"url": battle.webhook.url})
    site.admin("PUT", "/v1/apps/org.example.Honest/webhook", {"url": battle.webhook.url})
    subscriber, stranger = site.add_device("subscriber"), site.add_device("stranger")
    subscriber.register(topic)
    channel = site.add_channel(topic)
    subscriber.subscribe(topic, [channel])
    return site.add_key("BROADCASTS").token(), channel, subscriber, stranger


def broadcast(channel, token, topic="org.example.Live", expiration=None):
    """Returns the request of a broadcast."""
    expiration = int(time.time()) + 3600 if expiration is None else expiration
    fields = request("POST", f"/4/broadcasts/apps/{topic}", extra=[
        ("authorization", f"bearer {token}"), ("apns-channel-id", channel), ("apns-push-type", "liveactivity"),
        ("apns-expiration", str(expiration))])
    return fields, b'{"aps":{"timestamp":1685952000,"event":"update","content-state":{"goals":1}}}'


@attack("10", prepare=broadcast_prepare)
def foreign_outcomes(battle, prepared):
    """Reports `shown` and `viewed` for broadcasts without a subscription, and for the notifications of others."""
    token, channel, subscriber, stranger = prepared
    answers = send_all(battle.site.place, [broadcast(channel, token) for _ in range(20)])
    battle.expect(all(one.status == 200 for one in answers), f"broadcasts were answered {[one.status for one in answers]}")
    before = battle.site.counts()["outcomes"]
    for outcome in ("shown", "viewed", "closed"):
        acks = [{"id": number, "outcome": outcome} for number in range(1, 1000)]
        exchange = send_all(battle.site.place, [
            (request("POST", "/v1/acks", stranger.secret), json.dumps({"acks": acks}).encode())])[0]
        battle.expect(exchange.status in (204, 429), f"acknowledgements were answered {exchange.status}")
    # The subscriber's own outcome follows the stranger's, so its arrival shows that those were processed.
    events = receive(battle.site, subscriber, 1, outcome="closed")
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and not battle.webhook.named("closed"):
        time.sleep(0.05)
    after = battle.site.counts()["outcomes"]
    grown = {name: after[name] - before.get(name, 0) for name in ("viewed", "closed") if name in after}
    battle.note(outcomes=grown, delivered_broadcasts=len(events), webhook_events=len(battle.webhook.events))
    battle.expect(grown.get("viewed", 0) == 0, f"{grown.get('viewed')} outcomes of a stranger were counted")
    battle.expect(grown.get("closed", 0) <= len(events), f"{grown.get('closed')} outcomes were counted for one broadcast")
    told = [one for one in battle.webhook.named("shown", "viewed", "closed")
            if one["topic"] == "org.example.Live"]
    battle.expect(len(told) <= len(events), f"the webhook was told of {len(told)} outcomes")
    named = [one for one in battle.site.trace(app="org.example.Live") if one.get("device_id") == stranger.id]
    battle.expect(not named, f"the trace names the stranger in {len(named)} events")


# Finding 11

def lists_prepare(battle):
    site = battle.site
    for topic, team, count in [("org.example.Loud", "HOSTILETEA", battle.choose(200, 2000)),
                               ("org.example.Quiet", "VICTIMTEAM", 3)]:
        site.add_app(topic, team=team, broadcasts=True)
        for _ in range(count):
            site.add_channel(topic)
    return site.add_key("HOSTILETEA").token(), site.add_key("VICTIMTEAM").token()


@attack("11", prepare=lists_prepare)
def foreign_lists(battle, prepared):
    """Requests lists of all channels with a closed window, on 16 connections. Another team's lists must be answered."""
    hostile, victim = prepared
    fields = block(request("GET", "/1/apps/org.example.Loud/all-channels", extra=[("authorization", f"bearer {hostile}")]))
    connections = [HTTP2(battle.site.place, {4: 0}) for _ in range(16)]
    for connection in connections:
        streams = [connection.take_stream() for _ in range(2)]
        connection.write(b"".join(frame(HEADERS, END_HEADERS | END_STREAM, one, fields) for one in streams))
    found, deadline = collections.Counter(), time.monotonic() + battle.choose(3, 12)
    while time.monotonic() < deadline:
        with HTTP2(battle.site.place, source="127.0.0.2") as connection:
            exchange = connection.ask(request("GET", "/1/apps/org.example.Quiet/all-channels", extra=[
                ("authorization", f"bearer {victim}")]))
            found[exchange.status] += 1
        for connection in connections:
            connection.pump(0)
        time.sleep(0.1)
    battle.note(victim_answers=dict(found),
                hostile_answers=dict(sum((one.tally() for one in connections), collections.Counter())))
    battle.expect(set(found) == {200}, f"another team's lists were answered {dict(found)}")
    for connection in connections:
        connection.close()


# Finding 12: information in error texts

@attack("12")
def key_probing(battle, _):
    """Checks that an unknown key and a wrong signature of a known key get the same answer."""
    answers = []
    for token in (battle.key.token(spoils=1), battle.key.token(key_id="ABCDEFGHIJ", spoils=1)):
        with HTTP2(battle.site.place) as connection:
            exchange = connection.ask(push(battle.token, "org.example.Honest", token), b'{"aps":{}}')
        fields = {name: value for name, value in exchange.fields.items() if name not in ("apns-id", "date")}
        answers.append(json.dumps([exchange.status, fields, exchange.body.decode(errors="replace")]))
    known, unknown = (text.replace(battle.key.id, "KID").replace("ABCDEFGHIJ", "KID") for text in answers)
    battle.note(answer=unknown)
    battle.expect(known == unknown, f"a stranger hears whether a key exists: {known} and {unknown}")


# Finding 14

def burst_prepare(battle):
    device = battle.site.add_device("burst")
    battle.site.add_app("org.example.Burst", team="BURSTTEAM0", broadcasts=True)
    channel = battle.site.add_channel("org.example.Burst", policy=0)
    address = device.register("org.example.Burst")
    device.subscribe("org.example.Burst", [channel])
    return device, battle.site.add_key("BURSTTEAM0").token(), address, channel


def gap(counts):
    """Returns the difference between accepted and ended notifications: docs/explanation/delivery-guarantees.md."""
    ends = ("acknowledged", "collapsed", "expired", "dropped", "unregistered", "pending")
    return counts["accepted"] - sum(counts[name] for name in ends)


def acknowledge_numbers(stream, received):
    """Adds a stream's notifications to `received` by number, acknowledges them, and returns whether any arrived."""
    acknowledgements = []
    while stream.texts:
        event = json.loads(stream.texts.popleft()).get("notification")
        if event and "n" in event["payload"]:
            received[event["payload"]["n"]] = event
            acknowledgements.append({"id": event["id"], "outcome": "shown"})
    if acknowledgements:
        stream.write(masked(1, json.dumps({"acks": acknowledgements}).encode()))
    return bool(acknowledgements)


def send_burst(place, requests, stream):
    """Writes all requests at once, so that one transaction of the store contains many of them.

    Returns the number of accepted requests, and the stream's notifications until it was quiet for two seconds.
    """
    received, streams, data = {}, [], b""
    with HTTP2(place) as provider:
        provider.wait(lambda: provider.has_settings, 5)
        for fields, body in requests:
            streams.append(provider.take_stream())
            data += frame(HEADERS, END_HEADERS, streams[-1], block(fields)) + frame(DATA, END_STREAM, streams[-1], body)
        provider.write(data)
        quiet_since = time.monotonic()
        while time.monotonic() < quiet_since + 2 and len(received) < len(requests):
            provider.pump(0)
            stream.pump(0.02)
            if acknowledge_numbers(stream, received):
                quiet_since = time.monotonic()
        provider.wait(lambda: all(provider.streams[one].is_over for one in streams), 5)
        return sum(provider.streams[one].status == 200 for one in streams), received


@attack("14", prepare=burst_prepare)
def burst(battle, prepared):
    """Sends 200 notifications at once to a connected device. Counts and trace must record them correctly."""
    device, token, address, channel = prepared
    before = battle.site.counts()
    with WebSocket(battle.site.place, device.secret) as stream:
        requests = [(push(address, "org.example.Burst", token), payload(number)) for number in range(200)]
        accepted, received = send_burst(battle.site.place, requests, stream)
        # The server answers frames in order. After the pong it has read the acknowledgements.
        stream.write(masked(9, b"read?"))
        stream.wait(lambda: stream.pong_count, 5)
        judge_burst(battle, before, received, accepted)
        # These broadcasts are for immediate delivery only, and their subscriber is connected.
        answers = send_all(battle.site.place, [broadcast(channel, token, "org.example.Burst", 0) for _ in range(4)])
        battle.expect(all(one.status == 200 for one in answers), f"{[one.status for one in answers]} for broadcasts")
        stream.wait(lambda: len(stream.texts) >= 4, 5)
    battle.dismiss_honest()
    deadline = time.monotonic() + 5
    while gap(battle.site.counts()) and time.monotonic() < deadline:
        time.sleep(0.1)
    counts = battle.site.counts()
    battle.note(gap=gap(counts))
    battle.expect(gap(counts) == 0, f"the counts do not add up by {gap(counts)}: {counts}")


def judge_burst(battle, before, received, accepted):
    dropped = battle.site.counts()["dropped"] - before["dropped"]
    traced = collections.Counter()
    for event in received.values():
        traced.update({one["event"] for one in battle.site.trace(id=event["unique-id"])} & {"dropped", "acknowledged"})
    battle.note(accepted=accepted, received=len(received), dropped=dropped, trace=dict(traced))
    battle.expect(dropped == accepted - len(received),
                  f"{len(received)} of {accepted} came, and {dropped} count as dropped")
    battle.expect(traced["dropped"] == 0, f"the trace says of {traced['dropped']} that came that they were dropped")
