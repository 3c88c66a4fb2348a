# SPDX-License-Identifier: Apache-2.0
"""Q: deliveries to a device. Deliveries come in order, so a later marker shows that a notification does not arrive."""
import contextlib
import json

from answers import is_uuid
from cases.device_tokens import ended
from catalogue import case, expect
from stack import ALERT, UPDATE
from server import EphemeralServer, InstalledServer

WAKE_UP = b'{"aps":{"content-available":1}}'


def body(text):
    return json.dumps({"aps": {"alert": text}}).encode()


def texts(events):
    return [event["payload"]["aps"]["alert"] for event in events]


def before_marker(stack, stream, token, **fields):
    """Returns the deliveries before one more notification, which must arrive too."""
    return stream.up_to(stack.accepted(body("marker"), token=token, **fields))


@case("Q-01", "device connected, priority 10", "delivered immediately and once, with the payload unchanged")
def _(stack):
    device = stack.device()
    token = device.register()
    payload = b'{ "aps" : {"alert":"caf\\u00e9 \xe2\x98\x95"},\t"n":1.50 }'
    with device.stream() as stream:
        apns_id = stack.accepted(payload, token=token, apns_priority="10")
        got = before_marker(stack, stream, token)
        expect([event["apns-id"] for event in got] == [apns_id], got)
        expect(got[0]["priority"] == 10, got)
        # The text is compared, because parsed JSON would not show that a server rewrote the payload.
        expect(b'"payload":' + payload in got[0].text.encode(), got[0].text)


@case("Q-02", "device offline, no apns-expiration; it connects later", "delivered when it connects")
def _(stack):
    device = stack.device()
    token = device.register()
    stack.accepted(body("A"), token=token)
    with device.stream() as stream:
        expect(texts(before_marker(stack, stream, token)) == ["A"], "others")


@case("Q-03", "device offline, apns-expiration 0; it connects later", "neither stored nor delivered")
def _(stack):
    device = stack.device()
    token = device.register()
    stack.accepted(body("A"), token=token, apns_expiration="0")
    expect(pending(stack, device) == 0, "it is kept")
    with device.stream() as stream:
        got = before_marker(stack, stream, token)
        expect(not got, got)


def pending(stack, device):
    return stack.admin.ask("GET", f"/v1/devices/{device.id}")["pending_count"]


@case("Q-04", "device offline, apns-expiration in ten minutes; it connects after five or after fifteen",
      "delivered after five, not after fifteen")
def _(_):
    with EphemeralServer() as server:
        stack = server.stack
        for waited, wanted in ((300, ["A"]), (900, [])):
            device = stack.device()
            token = device.register()
            stack.accepted(body("A"), token=token, apns_expiration=server.clock.unix_seconds + 600)
            server.clock.forward(waited)
            with device.stream() as stream:
                got = texts(before_marker(stack, stream, token))
                expect(got == wanted, f"{got} after {waited} s")


@case("Q-05", "device offline, A, B and C to one app",
      "all three, in order; only C with `pending_per_topic = 1`, as at Apple",
      note="Apple stores one notification for each app and device")
def _(stack):
    def keep(stack):
        device = stack.device()
        token = device.register()
        for text in "ABC":
            stack.accepted(body(text), token=token)
        with device.stream() as stream:
            return texts(before_marker(stack, stream, token))

    got = keep(stack)
    expect(got == ["A", "B", "C"], got)
    with InstalledServer("--pending-per-topic", "1") as server:
        got = keep(server.stack)
        expect(got == ["C"], got)


@case("Q-06", "device offline, a notification to each of two apps", "both are delivered")
def _(stack):
    device = stack.device()
    token, other = device.register(), device.register(stack["APNS_OTHER_TOPIC"])
    stack.accepted(body("A"), token=token)
    stack.accepted(body("B"), token=other, apns_topic=stack["APNS_OTHER_TOPIC"])
    with device.stream() as stream:
        expect(texts(before_marker(stack, stream, token)) == ["A", "B"], "others")


@case("Q-07", "device offline, A then B with one collapse ID", "only B")
def _(stack):
    device = stack.device()
    token = device.register()
    for text in "AB":
        stack.accepted(body(text), token=token, apns_collapse_id="score")
    with device.stream() as stream:
        expect(texts(before_marker(stack, stream, token)) == ["B"], "others")


@case("Q-08", "device connected, A then B with one collapse ID",
      "both, with the collapse ID, so that B replaces A on the screen")
def _(stack):
    device = stack.device()
    token = device.register()
    with device.stream() as stream:
        got = []
        for text in "AB":
            stack.accepted(body(text), token=token, apns_collapse_id="score")
            got.append(stream.next())
            stream.acknowledge(got[-1])
        expect(texts(got) == ["A", "B"] and {event["collapse-id"] for event in got} == {"score"}, got)


@case("Q-09", "device connected, A and B with different collapse IDs", "both, each with its own collapse ID")
def _(stack):
    device = stack.device()
    token = device.register()
    with device.stream() as stream:
        for text in "AB":
            stack.accepted(body(text), token=token, apns_collapse_id=text)
        got = before_marker(stack, stream, token)
        expect([event["collapse-id"] for event in got] == ["A", "B"], got)


def with_priority(stack, priority, push_type="alert", payload=ALERT):
    device = stack.device()
    token = device.register()
    with device.stream() as stream:
        stack.accepted(payload, token=token, apns_priority=priority, apns_push_type=push_type)
        return before_marker(stack, stream, token)


@case("Q-10", "priority 5 to a device that has not announced power saving", "delivered with its priority",
      note="for a device that saves power, the server delays it by up to `gather_seconds`")
def _(stack):
    expect([event["priority"] for event in with_priority(stack, "5")] == [5], "others")


@case("Q-11", "priority 1 to a connected and to a sleeping device",
      "delivered with its priority, to the sleeping device when it reconnects",
      note="a sleeping Linux machine has no connection that could wake it")
def _(stack):
    expect([event["priority"] for event in with_priority(stack, "1")] == [1], "others")
    device = stack.device()
    token = device.register()
    stack.accepted(token=token, apns_priority="1")
    with device.stream() as stream:
        expect([event["priority"] for event in before_marker(stack, stream, token)] == [1], "others")


@case("Q-12", "four background notifications in an hour", "all four are delivered: there is no throttling",
      note="Apple may throttle after two or three; with a collapse ID, a newer one replaces a pending one")
def _(stack):
    device = stack.device()
    token = device.register()
    ids = [stack.accepted(WAKE_UP, token=token, apns_push_type="background", apns_priority="5") for _ in range(4)]
    with device.stream() as stream:
        expect([event["apns-id"] for event in before_marker(stack, stream, token)] == ids, "others")


@case("Q-13", "app removed on the device, then a notification", "410 `Unregistered` with the timestamp, immediately")
def _(stack):
    device = stack.device()
    token = device.register()
    stack.accepted(token=token)
    device.unregister()
    ended(stack.push(token=token), "Unregistered")


@case("Q-14", "user turns off an app, then a notification", "200, and it is discarded")
def _(stack):
    device = stack.device()
    token = device.register()
    device.refuse(stack.topic)
    stack.accepted(body("A"), token=token)
    expect(pending(stack, device) == 0, "it waits")
    device.refuse()
    with device.stream() as stream:
        got = before_marker(stack, stream, token)
        expect(not got, got)


@case("Q-15", "device enrols again", "a new token; the old one is 410 `Unregistered`")
def _(stack):
    device = stack.device()
    old = device.register()
    device.leave()
    new = stack.device().register()
    expect(new != old, "the same token")
    ended(stack.push(token=old), "Unregistered")
    stack.accepted(token=new)


@case("Q-16", "one app registers again on one device", "the same token")
def _(stack):
    device = stack.device()
    expect(device.register() == device.register(), "another token")


@case("Q-17", "two apps on one device", "different tokens")
def _(stack):
    device = stack.device()
    expect(device.register() != device.register(stack["APNS_OTHER_TOPIC"]), "one token")


@case("Q-18", "notification that the device shows", "the device receives the apns-unique-id of the answer, and the "
      "server counts accepted, acknowledged and shown",
      note="`posthorn trace` shows the history of each notification, like Apple's console")
def _(_):
    with EphemeralServer() as server:
        stack = server.stack
        device = stack.device()
        token = device.register()
        with device.stream() as stream:
            answer = stack.push(token=token)
            event = stream.next()
            unique_id = answer.field("apns-unique-id")
            expect(is_uuid(unique_id) and event["unique-id"] == unique_id, answer.fields)
            stream.acknowledge(event)
        counts = stack.admin.ask("GET", "/v1/status")["counts"]
        got = (counts["accepted"], counts["acknowledged"], counts["outcomes"].get("shown"), counts["pending"])
        expect(got == (1, 1, 1, 0), counts)


@case("Q-19", "pending notification, then the server is killed and restarted", "delivered")
def _(_):
    with InstalledServer() as server:
        device = server.stack.device()
        token = device.register()
        apns_id = server.stack.accepted(body("A"), token=token)
        server.kill()
        server.start()
        with device.stream() as stream:
            got = stream.next()
            expect(got["apns-id"] == apns_id and texts([got]) == ["A"], got)


@case("Q-20", "device does not acknowledge", "delivered again on each new stream, until it does")
def _(stack):
    device = stack.device()
    token = device.register()
    apns_id = stack.accepted(token=token)
    for _ in range(2):
        with device.stream() as stream:
            expect(stream.next()["apns-id"] == apns_id, "another one")
    with device.stream() as stream:
        stream.acknowledge(stream.next())
    with device.stream() as stream:
        got = before_marker(stack, stream, token)
        expect(not got, got)


@case("Q-21", "broadcast to three subscribed devices, one offline, on a channel that stores broadcasts",
      "two immediately; the third if it connects within 8 hours, but not later")
def _(_):
    with EphemeralServer() as server:
        for waited, wanted in ((8 * 3600 - 60, 1), (8 * 3600 + 60, 0)):
            got = late_broadcasts(server.stack, 1, server.clock.unix_seconds + 86_400, server.clock, waited)
            expect(len(got) == wanted, f"{got} after {waited} s")


@case("Q-22", "the same on a channel that stores nothing", "two immediately; the third never")
def _(_):
    with EphemeralServer() as server:
        got = late_broadcasts(server.stack, 0, 0, server.clock, 0)
        expect(not got, got)


def late_broadcasts(stack, policy, expiration, clock, waited):
    """Broadcasts to three devices. Returns the deliveries to the one that is offline for this number of seconds."""
    channel = stack.create_channel(policy)
    devices = [stack.device(f"device {number}") for number in range(3)]
    tokens = [device.register() for device in devices]
    for device in devices:
        device.subscribe(channel)
    with contextlib.ExitStack() as opened:
        streams = [opened.enter_context(device.stream()) for device in devices[:2]]
        answer = stack.broadcast(channel, apns_expiration=str(expiration))
        expect(answer.status == 200, answer)
        for stream in streams:
            event = stream.next()
            expect(event["payload"] == json.loads(UPDATE) and event["push-type"] == "liveactivity", event)
            expect(event["unique-id"] == answer.field("apns-unique-id"), event)
            stream.acknowledge(event)
    clock.forward(waited)
    # The server considers the old token expired by now.
    stack.provider_token = stack.key.sign(age=-clock.seconds)
    with devices[2].stream() as stream:
        return before_marker(stack, stream, tokens[2])
