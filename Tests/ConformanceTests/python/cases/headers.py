# SPDX-License-Identifier: Apache-2.0
"""H: the other request headers."""
import time

from catalogue import ACCEPTED, Answer, case, expect
from stack import ALERT, new_id

BAD_TOPIC, BAD_PRIORITY = Answer(400, "BadTopic"), Answer(400, "BadPriority")
BAD_EXPIRATION, BAD_COLLAPSE_ID = Answer(400, "BadExpirationDate"), Answer(400, "BadCollapseId")
BAD_ID, DUPLICATE = Answer(400, "BadMessageId"), Answer(400, "DuplicateHeaders")
WAKE_UP = b'{"aps":{"content-available":1}}'


def header(id, request, wanted, body=ALERT, note="", **fields):
    """Registers a case that changes header fields. A value may be a function of the stack."""
    @case(id, request, wanted, note)
    def _(stack):
        return stack.push(body, **{
            name: value(stack) if callable(value) else value for name, value in fields.items()})


header("H-01", "no apns-topic", Answer(400, "MissingTopic"), without=["apns-topic"])
header("H-02", "empty apns-topic", Answer(400, "MissingTopic"), apns_topic="")
header("H-03", "apns-topic `com example!`", BAD_TOPIC, apns_topic="com example!")
header("H-04", "apns-topic of an unknown app", Answer(400, "TopicDisallowed"), apns_topic="com.example.unknown")
header("H-05", "apns-topic of another app of the team", Answer(400, "DeviceTokenNotForTopic"),
       apns_topic=lambda stack: stack["APNS_OTHER_TOPIC"])
header("H-06", "no apns-push-type", ACCEPTED, without=["apns-push-type"])
header("H-07", "apns-push-type: bogus", Answer(400, "InvalidPushType"), apns_push_type="bogus")
header("H-08", "apns-push-type: ALERT", ACCEPTED, apns_push_type="ALERT")
header("H-09", "background with priority 5, content-available alone", ACCEPTED, WAKE_UP, apns_push_type="background",
       apns_priority="5")
header("H-10", "background with priority 10", ACCEPTED, WAKE_UP, apns_push_type="background", apns_priority="10",
       note="an error according to Apple's documentation, but Apple was observed to accept it")
header("H-11", "background without apns-priority", ACCEPTED, WAKE_UP, apns_push_type="background")

for number, (push_type, suffix, body) in enumerate([
        ("voip", ".voip", ALERT), ("complication", ".complication", b'{"aps":{}}'),
        ("fileprovider", ".pushkit.fileprovider", b'{"container-identifier":"root","domain":"d"}'),
        ("location", ".location-query", b'{"aps":{}}'), ("pushtotalk", ".voip-ptt", b'{"aps":{}}'),
        ("liveactivity", ".push-type.liveactivity", b'{"aps":{"timestamp":1,"event":"update","content-state":{}}}'),
        ("controls", ".push-type.controls", b'{"aps":{"content-changed":true}}'),
        ("widgets", ".push-type.widgets", b'{"aps":{"content-changed":true}}')], 12):
    header(f"H-{number}", f"{push_type}, the app's topic with `{suffix}`", ACCEPTED, body, apns_push_type=push_type,
           apns_topic=lambda stack, suffix=suffix: stack.topic + suffix)

header("H-20", "voip with the plain topic", BAD_TOPIC, apns_push_type="voip")
header("H-21", "mdm with an unknown topic", Answer(400, "TopicDisallowed"), b'{"mdm":"magic"}', apns_push_type="mdm",
       apns_topic="com.apple.mgmt.External.00000000-0000-0000-0000-000000000000")
header("H-22", "apns-priority: 1", ACCEPTED, apns_priority="1")
header("H-23", "apns-priority: 5", ACCEPTED, apns_priority="5")
header("H-24", "apns-priority: 10", ACCEPTED, apns_priority="10")
header("H-25", "apns-priority: 7", BAD_PRIORITY, apns_priority="7")
header("H-26", "apns-priority: 0", BAD_PRIORITY, apns_priority="0")
header("H-27", "apns-priority: high", BAD_PRIORITY, apns_priority="high")
header("H-28", "apns-priority: 10.0", BAD_PRIORITY, apns_priority="10.0")
header("H-29", "apns-expiration: 0", ACCEPTED, apns_expiration="0")
header("H-30", "apns-expiration in an hour", ACCEPTED, apns_expiration=lambda _: int(time.time()) + 3600)
header("H-31", "apns-expiration in the past", ACCEPTED, apns_expiration="1000000000")
header("H-32", "apns-expiration: soon", BAD_EXPIRATION, apns_expiration="soon")
header("H-33", "apns-expiration: -1", BAD_EXPIRATION, apns_expiration="-1")
header("H-34", "apns-expiration: 1.5", BAD_EXPIRATION, apns_expiration="1.5")
header("H-35", "apns-expiration in 31 days", ACCEPTED, apns_expiration=lambda _: int(time.time()) + 31 * 86400)
header("H-36", "apns-expiration in milliseconds", ACCEPTED, apns_expiration=lambda _: int(time.time() * 1000))
header("H-37", "apns-collapse-id of 64 bytes", ACCEPTED, apns_collapse_id="c" * 64)
header("H-38", "apns-collapse-id of 65 bytes", BAD_COLLAPSE_ID, apns_collapse_id="c" * 65)
header("H-39", "apns-collapse-id of 33 characters and 66 bytes", BAD_COLLAPSE_ID, apns_collapse_id="\u00e9" * 33)
header("H-40", "empty apns-collapse-id", ACCEPTED, apns_collapse_id="")
header("H-41", "apns-id: not-a-uuid", BAD_ID, apns_id="not-a-uuid")
header("H-42", "apns-id without hyphens", BAD_ID, apns_id="123e4567e89b12d3a4564266554400a0")
header("H-43", "apns-id with a g", BAD_ID, apns_id="123e4567-e89b-12d3-a456-42665544g0a0")


@case("H-44", "apns-id in lowercase", "200 with the same bytes")
def _(stack):
    given = new_id()
    expect(stack.accepted(apns_id=given) == given, "another id")


@case("H-45", "apns-id in uppercase", "200 with the same bytes")
def _(stack):
    given = new_id().upper()
    expect(stack.accepted(apns_id=given) == given, "another id")


@case("H-46", "two notifications with the same apns-id", "200 for both, and both are delivered")
def _(stack):
    given = new_id()
    device = stack.device()
    token = device.register()
    with device.stream() as stream:
        for _ in range(2):
            stack.accepted(token=token, apns_id=given)
        expect([stream.next()["apns-id"] for _ in range(2)] == [given, given], "others")


header("H-47", "apns-topic twice", DUPLICATE, extra=lambda stack: [("apns-topic", stack.topic)])
header("H-48", "apns-id twice, with different values", DUPLICATE,
       extra=lambda _: [("apns-id", new_id()), ("apns-id", new_id())])
header("H-49", "apns-priority twice, with the same value", DUPLICATE, extra=[("apns-priority", "10")] * 2)
header("H-50", "authorization twice", DUPLICATE,
       extra=lambda stack: [("authorization", f"bearer {stack.provider_token}")])
header("H-51", "an unknown header twice", ACCEPTED, extra=[("x-a", "1"), ("x-a", "2")])


@case("H-52", "`Apns-Topic` in capitals on the wire",
      "a stream error (RFC 9113, section 8.2.1); the connection stays usable")
def _(stack):
    with stack.peer() as peer:
        fields = stack.fields(without=["apns-topic"], extra=[("Apns-Topic", stack.topic)])
        exchange = peer.ask(fields, ALERT)
        expect(not exchange.status and exchange.reset == 1, exchange)
        stack.accepted(peer=peer)
