# SPDX-License-Identifier: Apache-2.0
"""E: server extensions beyond Apple's documents: environments by name and port, detail texts, payload checks."""
import time

from catalogue import ACCEPTED, Answer, case, expect, expect_answer
from stack import ALERT, UPDATE, new_id, sized
from tokens import Key

BAD_TOKEN = Answer(400, "BadDeviceToken")
BADGE_AS_TEXT = b'{"aps":{"alert":{"title":"Lunch?","body":"The usual place at noon."},"badge":"3"}}'


def named(id, server_name, is_development):
    """Registers a case that connects by a name, as DNS would resolve it, and tries a token of either environment."""
    good, bad = ("APNS_SANDBOX_TOKEN", "APNS_TOKEN") if is_development else ("APNS_TOKEN", "APNS_SANDBOX_TOKEN")

    @case(id, f"server name {server_name} (SNI) on a port for both environments",
          f"200 for {'development' if is_development else 'production'} tokens, 400 `BadDeviceToken` for others")
    def _(stack):
        with stack.peer(server_name=server_name) as peer:
            stack.accepted(peer=peer, token=stack[good])
            expect_answer(stack.push(peer=peer, token=stack[bad]), BAD_TOKEN)


named("E-01", "api.sandbox.push.apple.com", True)
named("E-02", "api.development.push.apple.com", True)
named("E-03", "api.push.apple.com", False)


@case("E-04", "the development port, with any server name", "200 for development tokens and keys")
def _(stack):
    key = stack.other_key("APNS_KEY_ENV")
    options = {"port": int(stack["APNS_PORT_DEV"]), "server_name": "api.push.apple.com"}
    expect_answer(stack.push(options=options, token=stack["APNS_SANDBOX_TOKEN"]), ACCEPTED)
    answer = stack.push(options=options, token=stack["APNS_SANDBOX_TOKEN"], authorization=f"bearer {key.sign()}")
    expect_answer(answer, ACCEPTED)
    expect_answer(stack.push(options=options), BAD_TOKEN)


@case("E-05", "one app of one device registers in production, then in development", "another token; the first "
      "gets 410 `Unregistered`", note="a registration has one environment")
def _(stack):
    device = stack.device()
    old, new = device.register(), device.register(environment="development")
    expect(old != new, "the same token")
    expect(stack.push(token=old).reason == "Unregistered", "another answer")
    expect_answer(stack.push(token=new, options={"port": int(stack["APNS_PORT_DEV"])}), ACCEPTED)


@case("E-06", "production channel, read on the development port for channels", Answer(400, "ChannelNotRegistered"))
def _(stack):
    channel = stack.create_channel()
    with stack.peer(port=int(stack["APNS_MANAGE_PORT_DEV"])) as peer:
        return stack.checked(peer.ask([
            (":method", "GET"), (":scheme", "https"), (":path", f"/1/apps/{stack.topic}/channels"),
            (":authority", stack.host), ("authorization", f"bearer {stack.provider_token}"),
            ("apns-channel-id", channel)]))


@case("E-07", "key revoked while a connection uses it", "403 `Forbidden` from then on")
def _(stack):
    made = stack.admin.ask("POST", "/v1/keys", {"team_id": stack.key.team_id})
    key = Key.from_pem(made["private_key"], made["key_id"], made["team_id"])
    with stack.peer() as peer:
        provider_token = f"bearer {key.sign()}"
        stack.accepted(peer=peer, authorization=provider_token)
        stack.admin.ask("DELETE", f"/v1/keys/{key.id}")
        for _ in range(2):
            expect_answer(stack.push(peer=peer, authorization=provider_token), Answer(403, "Forbidden"))


@case("E-08", "certificate revoked while a connection uses it", "403 `BadCertificate` from then on")
def _(stack):
    made = stack.admin.ask("POST", "/v1/certificates", {"topic": stack.topic})
    with stack.temporary_file(made["certificate"] + made["private_key"]) as file:
        with stack.peer(certificate=file) as peer:
            stack.accepted(peer=peer, without=["authorization"])
            stack.admin.ask("DELETE", f"/v1/certificates/{made['fingerprint']}")
            for _ in range(2):
                answer = stack.push(peer=peer, without=["authorization"])
                expect_answer(answer, Answer(403, "BadCertificate"))


def told(id, request, wanted, words, body=ALERT, **fields):
    """Registers a case whose refusal contains these words in `posthorn-detail`."""
    @case(id, request, f"{wanted}, and `posthorn-detail` names {' and '.join(words)}")
    def _(stack):
        values = {name: value(stack) if callable(value) else value for name, value in fields.items()}
        answer = stack.push(body, **values)
        expect_answer(answer, wanted)
        detail = answer.field("posthorn-detail")
        expect(all(word in detail for word in words), detail)


told("E-09", "payload with a missing quote", Answer(400, "PayloadEmpty"), ["byte 24"], b'{"aps":{"alert":"Hello}}')
told("E-10", "payload of 5000 bytes", Answer(413, "PayloadTooLarge"), ["5000", "4096"], sized(5000))
told("E-11", "device token that contains a space", BAD_TOKEN, ["position 11", "spaces"],
     token=lambda stack: f"{stack.token[:10]}%20{stack.token[10:]}")
told("E-12", "device token of the other environment", BAD_TOKEN, ["development", "production"],
     token=lambda stack: stack["APNS_SANDBOX_TOKEN"])
told("E-13", "key of another team with this team's ID", Answer(403, "InvalidProviderToken"), ["iss", "team"],
     authorization=lambda stack: f"bearer {stack.other_key('APNS_TEAM2_KEY').sign()}")
told("E-14", "a provider token that is two hours old", Answer(403, "ExpiredProviderToken"), ["seconds behind", "clock"],
     authorization=lambda stack: f"bearer {stack.key.sign(age=7200)}")
told("E-15", "apns-topic twice", Answer(400, "DuplicateHeaders"), ["apns-topic"],
     extra=lambda stack: [("apns-topic", stack.topic)])
told("E-16", "voip with the plain topic", Answer(400, "BadTopic"), ["apns-topic", ".voip"], apns_push_type="voip")


def judged(stack, checks):
    """Sends a badge that is a string to an app with these checks."""
    topic = f"org.example.{new_id()}"
    stack.admin.ask("POST", "/v1/apps", {"topic": topic, "team_id": stack.key.team_id, "checks": checks})
    return stack.push(BADGE_AS_TEXT, apns_topic=topic, token=stack.device().register(topic))


@case("E-17", "a badge that is a string, to an app with `checks = off`", "200 without a warning")
def _(stack):
    answer = judged(stack, "off")
    expect(answer.status == 200 and not answer.field("posthorn-warning"), answer.fields)


@case("E-18", "a badge that is a string, to an app with `checks = warn`", "200, and `posthorn-warning` names the badge")
def _(stack):
    answer = judged(stack, "warn")
    expect(answer.status == 200 and "aps.badge" in (answer.field("posthorn-warning") or ""), answer.fields)


@case("E-19", "a badge that is a string, to an app with `checks = strict`",
      "400 `PayloadEmpty`, and `posthorn-detail` names the badge")
def _(stack):
    answer = judged(stack, "strict")
    expect_answer(answer, Answer(400, "PayloadEmpty"))
    expect("aps.badge" in answer.field("posthorn-detail"), answer.fields)


@case("E-20", "broadcast to a channel that one of two devices subscribed to", "only that device receives it")
def _(stack):
    channel = stack.create_channel()
    subscriber, other = stack.device(), stack.device()
    tokens = [device.register() for device in (subscriber, other)]
    subscriber.subscribe(channel)
    with subscriber.stream() as stream, other.stream() as others:
        answer = stack.broadcast(channel, UPDATE)
        expect(stream.next()["unique-id"] == answer.field("apns-unique-id"), "another one")
        got = others.up_to(stack.accepted(token=tokens[1]))
        expect(not got, got)


@case("E-21", "20 concurrent requests for all channels",
      "two get the list, the others 429 `TooManyRequests`; later requests succeed", alone=True)
def _(stack):
    path = f"/1/apps/{stack.topic}/all-channels"
    fields = [(":method", "GET"), (":scheme", "https"), (":path", path), (":authority", stack.host),
              ("authorization", f"bearer {stack.provider_token}")]
    with stack.channels_peer() as peer:
        exchanges = []
        for _ in range(20):
            exchange = peer.begin(fields)
            peer.connection.send_headers(exchange.stream, fields, end_stream=True)
            exchanges.append(exchange)
        peer.flush()
        peer.wait_all(exchanges)
        answers = [(exchange.status, exchange.reason) for exchange in exchanges]
        expect(answers.count((200, None)) == 2 and answers.count((429, "TooManyRequests")) == 18, answers)
        for exchange in exchanges:
            stack.checked(exchange)
        expect(stack.checked(peer.ask(fields)).status == 200, "afterwards")


@case("E-22", "25 notifications with a badge that is a string, to an app with `checks = warn`",
      "20 answers have `posthorn-warning`, then only those to requests with `posthorn-lint: 1`")
def _(stack):
    # Each hour has its own sample, so another attempt follows if the hour changes.
    while True:
        hour = time.time() // 3600
        topic = f"org.example.{new_id()}"
        stack.admin.ask("POST", "/v1/apps", {"topic": topic, "team_id": stack.key.team_id, "checks": "warn"})
        fields = {"apns_topic": topic, "token": stack.device().register(topic)}
        with stack.peer() as peer:
            answers = [stack.push(BADGE_AS_TEXT, peer=peer, **fields) for _ in range(25)]
            asked = stack.push(BADGE_AS_TEXT, peer=peer, extra=[("posthorn-lint", "1")], **fields)
        if time.time() // 3600 == hour:
            break
    warned = [bool(answer.field("posthorn-warning")) for answer in answers]
    expect(warned == [True] * 20 + [False] * 5, warned)
    expect("aps.badge" in (asked.field("posthorn-warning") or ""), asked.fields)
