# SPDX-License-Identifier: Apache-2.0
"""M: channel management."""
import base64
import os
import subprocess
import tempfile

from answers import is_uuid
from catalogue import Answer, case, expect, expect_answer
from stack import UNKNOWN_CHANNEL, new_id

CREATED = Answer(201)
STORING = b'{"message-storage-policy":1,"push-type":"LiveActivity"}'
NOT_STORING = b'{"message-storage-policy":0,"push-type":"LiveActivity"}'
NOT_REGISTERED = Answer(400, "ChannelNotRegistered")
MISSING_ID = Answer(400, "MissingChannelId")


@case("M-01", "create a channel that stores broadcasts", "201, no body, apns-channel-id in base64, apns-request-id")
def _(stack):
    answer = stack.manage("POST", body=STORING)
    expect_answer(answer, CREATED)
    expect(base64.b64decode(answer.field("apns-channel-id"), validate=True), answer.fields)


@case("M-02", "create a channel that stores nothing", CREATED)
def _(stack):
    return stack.manage("POST", body=NOT_STORING)


@case("M-03", "create with apns-request-id", "201 with the same bytes")
def _(stack):
    given = "123E4567-e89b-12d3-a456-426655440000"
    answer = stack.manage("POST", body=STORING, apns_request_id=given)
    expect(answer.status == 201 and answer.field("apns-request-id") == given, answer.fields)


def creation(id, request, wanted, body, note="", **options):
    """Registers a case that requests a channel."""
    @case(id, request, wanted, note)
    def _(stack):
        return stack.manage("POST", body=body, **options)


creation("M-04", "create with policy 2", Answer(400, "BadRequestParams"),
         b'{"message-storage-policy":2,"push-type":"LiveActivity"}')
creation("M-05", "create with an unknown member", Answer(400, "BadRequestParams"), STORING[:-1] + b',"acme":1}')
creation("M-06", "create with a body that is not JSON", Answer(400, "BadRequestPayload"), b"{nope")
creation("M-07", "create without push-type", Answer(400, "MissingPushType"), b'{"message-storage-policy":1}')
creation("M-08", "create with push-type alert", Answer(400, "InvalidPushType"),
         b'{"message-storage-policy":1,"push-type":"alert"}')
creation("M-09", "create without a body", Answer(400, "PayloadEmpty"), b"")
creation("M-10", "create without credentials", Answer(403, "MissingProviderToken"), STORING, without=["authorization"])
@case("M-11", "create for an app of another team, and for an unknown app", Answer(403, "TopicMismatch"))
def _(stack):
    expect_answer(stack.manage("POST", body=STORING, topic=stack["APNS_TEAM2_TOPIC"]), Answer(403, "TopicMismatch"))
    return stack.manage("POST", body=STORING, topic="com.example.unknown")


@case("M-12", "create for the topic with `.push-type.liveactivity`", Answer(400, "TopicDisallowed"))
def _(stack):
    return stack.manage("POST", body=STORING, topic=f"{stack.topic}.push-type.liveactivity")


@case("M-13", "create for an app whose broadcasts are off", Answer(400, "FeatureNotEnabled"))
def _(stack):
    return stack.manage("POST", body=STORING, topic=stack["APNS_NOBROADCAST_TOPIC"])


@case("M-14", "read a channel", "200 with policy and push type")
def _(stack):
    for policy in (0, 1):
        answer = stack.manage("GET", apns_channel_id=stack.create_channel(policy))
        expect(answer.status == 200, answer)
        expect(answer.json == {"message-storage-policy": policy, "push-type": "LiveActivity"}, answer.body)


@case("M-15", "read without apns-channel-id", MISSING_ID)
def _(stack):
    return stack.manage("GET")


@case("M-16", "read with an apns-channel-id that is not base64", Answer(400, "BadChannelId"))
def _(stack):
    return stack.manage("GET", apns_channel_id="!!!")


@case("M-17", "read an unknown channel", NOT_REGISTERED)
def _(stack):
    return stack.manage("GET", apns_channel_id=UNKNOWN_CHANNEL)


@case("M-18", "delete a channel, then read it", "204, no body; then 400 `ChannelNotRegistered`")
def _(stack):
    channel = stack.create_channel()
    expect_answer(stack.manage("DELETE", apns_channel_id=channel), Answer(204))
    expect_answer(stack.manage("GET", apns_channel_id=channel), NOT_REGISTERED)


@case("M-19", "delete without apns-channel-id", MISSING_ID)
def _(stack):
    return stack.manage("DELETE")


@case("M-20", "list the channels", "200 `{\"channels\":[…]}`, with a new channel and without a deleted one")
def _(stack):
    kept, deleted = stack.create_channel(), stack.create_channel()
    stack.manage("DELETE", apns_channel_id=deleted)
    answer = stack.manage("GET", "all-channels")
    expect(answer.status == 200 and list(answer.json) == ["channels"], answer)
    expect(kept in answer.json["channels"] and deleted not in answer.json["channels"], answer.body)


@case("M-21", "PUT", Answer(405, "MethodNotAllowed"))
def _(stack):
    return stack.manage("PUT", body=b"{}")


@case("M-22", "GET of another resource", Answer(404, "BadPath"))
def _(stack):
    return stack.manage("GET", "nothing")


@case("M-23", "every refusal", "has apns-request-id and a reason")
def _(stack):
    for answer in (stack.manage("GET"), stack.manage("GET", "nothing"), stack.manage("POST", body=b"{nope")):
        expect(is_uuid(answer.field("apns-request-id")) and answer.reason, answer.fields)


@case("M-24", "create channel 10,001 of an app", Answer(400, "CannotCreateChannelConfig"), slow=True)
def _(stack):
    topic = f"org.example.{new_id()}"
    stack.admin.ask("POST", "/v1/apps", {"topic": topic, "team_id": stack.key.team_id, "broadcasts": True})
    create_many(stack, topic, 10_000)
    answer = stack.manage("GET", "all-channels", topic=topic)
    expect(len(set(answer.json["channels"])) == 10_000, f"{len(answer.json['channels'])} channels")
    return stack.manage("POST", body=STORING, topic=topic)


def create_many(stack, topic, count):
    """Creates channels with h2load, because there are many."""
    with tempfile.NamedTemporaryFile() as body:
        body.write(STORING)
        body.flush()
        host, port = stack.variables.get("APNS_MANAGE_HOST", stack.host), stack["APNS_MANAGE_PORT"]
        result = subprocess.run(
            [os.environ.get("POSTHORN_H2LOAD", "h2load"), "-n", str(count), "-c", "1", "-m", "100", "-d", body.name,
             "-H", f"authorization: bearer {stack.provider_token}", f"https://{host}:{port}/1/apps/{topic}/channels"],
            capture_output=True, text=True, timeout=120)
    expect(f"{count} 2xx" in result.stdout, result.stdout + result.stderr)


creation("M-25", "create as in node-apn's README: the policy as a string, push-type in lowercase, an unrelated header",
         CREATED, b'{"message-storage-policy":"1","push-type":"liveactivity"}', apns_priority="10")


@case("M-26", "read with a body and unrelated headers", "200; they are ignored")
def _(stack):
    answer = stack.manage("GET", body=b'{"a":1}', apns_channel_id=stack.create_channel(), apns_priority="10",
                          apns_expiration="0")
    expect(answer.status == 200, answer)
