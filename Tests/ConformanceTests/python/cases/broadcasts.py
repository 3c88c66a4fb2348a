# SPDX-License-Identifier: Apache-2.0
"""X: broadcasts to channels."""
import time

from answers import is_uuid
from catalogue import ACCEPTED, Answer, case, expect, expect_answer
from stack import UNKNOWN_CHANNEL, sized

CONTENT = '{"timestamp":1,"event":"update","content-state":{}}'


def broadcast(id, request, wanted, policy=1, note="", **options):
    """Registers a case that broadcasts to its own channel. A value may be a function of the stack."""
    @case(id, request, wanted, note)
    def _(stack):
        values = {name: value(stack) if callable(value) else value for name, value in options.items()}
        return stack.broadcast(stack.create_channel(policy), **values)


@case("X-01", "valid broadcast", "200, no body, apns-request-id and apns-unique-id")
def _(stack):
    answer = stack.broadcast(stack.create_channel())
    expect(answer.status == 200 and is_uuid(answer.field("apns-unique-id")), answer.fields)


@case("X-02", "no apns-channel-id", Answer(400, "MissingChannelId"))
def _(stack):
    return stack.broadcast()


@case("X-03", "an unknown channel", Answer(400, "ChannelNotRegistered"))
def _(stack):
    return stack.broadcast(UNKNOWN_CHANNEL)


@case("X-04", "apns-channel-id that is not base64", Answer(400, "BadChannelId"))
def _(stack):
    return stack.broadcast("!!!")


broadcast("X-05", "no apns-push-type", Answer(400, "MissingPushType"), without=["apns-push-type"])
broadcast("X-06", "apns-push-type alert", Answer(400, "InvalidPushType"), apns_push_type="alert")


@case("X-07", "apns-push-type `Liveactivity` and `LiveActivity`", "200 for both")
def _(stack):
    channel = stack.create_channel()
    for spelling in ("Liveactivity", "LiveActivity"):
        expect_answer(stack.broadcast(channel, apns_push_type=spelling), ACCEPTED)


def in_ten_minutes(_):
    return str(int(time.time()) + 600)


broadcast("X-08", "expiration on a channel that stores nothing", Answer(400, "BadExpirationDate"), policy=0,
          apns_expiration=in_ten_minutes)
broadcast("X-09", "expiration on a channel that stores broadcasts", ACCEPTED, apns_expiration=in_ten_minutes)
broadcast("X-10", "no apns-expiration", Answer(400, "BadExpirationDate"), without=["apns-expiration"])
broadcast("X-11", "no apns-priority", ACCEPTED, without=["apns-priority"],
          note="older versions of node-apn omit priority 10")
broadcast("X-12", "apns-priority 7", Answer(400, "BadPriority"), apns_priority="7")
broadcast("X-13", "5120 bytes", ACCEPTED, body=sized(5120, CONTENT))
broadcast("X-14", "5121 bytes", Answer(413, "PayloadTooLarge"), body=sized(5121, CONTENT))
broadcast("X-15", "empty body", Answer(400, "PayloadEmpty"), body=b"")
broadcast("X-16", "topic with `.push-type.liveactivity`", Answer(400, "TopicDisallowed"),
          topic=lambda stack: f"{stack.topic}.push-type.liveactivity")


@case("X-17", "a deleted channel", Answer(400, "ChannelNotRegistered"))
def _(stack):
    channel = stack.create_channel()
    stack.manage("DELETE", apns_channel_id=channel)
    return stack.broadcast(channel)


@case("X-18", "an app of another team, and an unknown app", Answer(403, "TopicMismatch"))
def _(stack):
    expect_answer(stack.broadcast(stack.create_channel(), topic=stack["APNS_TEAM2_TOPIC"]),
                  Answer(403, "TopicMismatch"))
    return stack.broadcast(stack.create_channel(), topic="com.example.unknown")
