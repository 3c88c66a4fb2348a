# SPDX-License-Identifier: Apache-2.0
"""E: server extensions beyond Apple's documents: environments by name and port, detail texts, payload checks."""
from catalogue import ACCEPTED, Answer, case, expect, expect_answer
from house import ALERT, UPDATE, new_id, sized
from tokens import Key

BAD_TOKEN = Answer(400, "BadDeviceToken")
BADGE_AS_TEXT = b'{"aps":{"alert":{"title":"Lunch?","body":"The usual place at noon."},"badge":"3"}}'


def named(id, server_name, is_development):
    """Registers a case that connects by a name, as DNS would resolve it, and tries a token of either environment."""
    good, bad = ("APNS_SANDBOX_TOKEN", "APNS_TOKEN") if is_development else ("APNS_TOKEN", "APNS_SANDBOX_TOKEN")

    @case(id, f"server name {server_name} (SNI) on a port for both environments",
          f"200 for {'development' if is_development else 'production'} tokens, 400 `BadDeviceToken` for others")
    def _(house):
        with house.peer(server_name=server_name) as peer:
            house.accepted(peer=peer, token=house[good])
            expect_answer(house.push(peer=peer, token=house[bad]), BAD_TOKEN)


named("E-01", "api.sandbox.push.apple.com", True)
named("E-02", "api.development.push.apple.com", True)
named("E-03", "api.push.apple.com", False)


@case("E-04", "the development port, with any server name", "200 for development tokens and keys")
def _(house):
    key = house.other_key("APNS_KEY_ENV")
    options = {"port": int(house["APNS_PORT_DEV"]), "server_name": "api.push.apple.com"}
    expect_answer(house.push(options=options, token=house["APNS_SANDBOX_TOKEN"]), ACCEPTED)
    answer = house.push(options=options, token=house["APNS_SANDBOX_TOKEN"], authorization=f"bearer {key.sign()}")
    expect_answer(answer, ACCEPTED)
    expect_answer(house.push(options=options), BAD_TOKEN)


@case("E-05", "one app of one device registers in production, then in development", "another token; the first "
      "gets 410 `Unregistered`", note="a registration has one environment")
def _(house):
    device = house.device()
    old, new = device.register(), device.register(environment="development")
    expect(old != new, "the same token")
    expect(house.push(token=old).reason == "Unregistered", "another answer")
    expect_answer(house.push(token=new, options={"port": int(house["APNS_PORT_DEV"])}), ACCEPTED)


@case("E-06", "production channel, read on the development port for channels", Answer(400, "ChannelNotRegistered"))
def _(house):
    channel = house.create_channel()
    with house.peer(port=int(house["APNS_MANAGE_PORT_DEV"])) as peer:
        return house.checked(peer.ask([
            (":method", "GET"), (":scheme", "https"), (":path", f"/1/apps/{house.topic}/channels"),
            (":authority", house.host), ("authorization", f"bearer {house.provider_token}"),
            ("apns-channel-id", channel)]))


@case("E-07", "key revoked while a connection uses it", "403 `Forbidden` from then on")
def _(house):
    made = house.admin.ask("POST", "/v1/keys", {"team_id": house.key.team_id})
    key = Key.from_pem(made["private_key"], made["key_id"], made["team_id"])
    with house.peer() as peer:
        provider_token = f"bearer {key.sign()}"
        house.accepted(peer=peer, authorization=provider_token)
        house.admin.ask("DELETE", f"/v1/keys/{key.id}")
        for _ in range(2):
            expect_answer(house.push(peer=peer, authorization=provider_token), Answer(403, "Forbidden"))


@case("E-08", "certificate revoked while a connection uses it", "403 `BadCertificate` from then on")
def _(house):
    made = house.admin.ask("POST", "/v1/certificates", {"topic": house.topic})
    with house.temporary_file(made["certificate"] + made["private_key"]) as file:
        with house.peer(certificate=file) as peer:
            house.accepted(peer=peer, without=["authorization"])
            house.admin.ask("DELETE", f"/v1/certificates/{made['fingerprint']}")
            for _ in range(2):
                answer = house.push(peer=peer, without=["authorization"])
                expect_answer(answer, Answer(403, "BadCertificate"))


def told(id, request, wanted, words, body=ALERT, **fields):
    """Registers a case whose refusal contains these words in `posthorn-detail`."""
    @case(id, request, f"{wanted}, and `posthorn-detail` names {' and '.join(words)}")
    def _(house):
        values = {name: value(house) if callable(value) else value for name, value in fields.items()}
        answer = house.push(body, **values)
        expect_answer(answer, wanted)
        detail = answer.field("posthorn-detail")
        expect(all(word in detail for word in words), detail)


told("E-09", "payload with a missing quote", Answer(400, "PayloadEmpty"), ["byte 24"], b'{"aps":{"alert":"Hello}}')
told("E-10", "payload of 5000 bytes", Answer(413, "PayloadTooLarge"), ["5000", "4096"], sized(5000))
told("E-11", "device token that contains a space", BAD_TOKEN, ["position 11", "spaces"],
     token=lambda house: f"{house.token[:10]}%20{house.token[10:]}")
told("E-12", "device token of the other environment", BAD_TOKEN, ["development", "production"],
     token=lambda house: house["APNS_SANDBOX_TOKEN"])
told("E-13", "key of another team with this team's id", Answer(403, "InvalidProviderToken"), ["iss", "team"],
     authorization=lambda house: f"bearer {house.other_key('APNS_TEAM2_KEY').sign()}")
told("E-14", "a provider token that is two hours old", Answer(403, "ExpiredProviderToken"), ["seconds behind", "clock"],
     authorization=lambda house: f"bearer {house.key.sign(age=7200)}")
told("E-15", "apns-topic twice", Answer(400, "DuplicateHeaders"), ["apns-topic"],
     extra=lambda house: [("apns-topic", house.topic)])
told("E-16", "voip with the plain topic", Answer(400, "BadTopic"), ["apns-topic", ".voip"], apns_push_type="voip")


def judged(house, checks):
    """Sends a badge that is a string to an app with these checks."""
    topic = f"org.example.{new_id()}"
    house.admin.ask("POST", "/v1/apps", {"topic": topic, "team_id": house.key.team_id, "checks": checks})
    return house.push(BADGE_AS_TEXT, apns_topic=topic, token=house.device().register(topic))


@case("E-17", "a badge that is a string, to an app with `checks = off`", "200 without a warning")
def _(house):
    answer = judged(house, "off")
    expect(answer.status == 200 and not answer.field("posthorn-warning"), answer.fields)


@case("E-18", "a badge that is a string, to an app with `checks = warn`", "200, and `posthorn-warning` names the badge")
def _(house):
    answer = judged(house, "warn")
    expect(answer.status == 200 and "aps.badge" in (answer.field("posthorn-warning") or ""), answer.fields)


@case("E-19", "a badge that is a string, to an app with `checks = strict`",
      "400 `PayloadEmpty`, and `posthorn-detail` names the badge")
def _(house):
    answer = judged(house, "strict")
    expect_answer(answer, Answer(400, "PayloadEmpty"))
    expect("aps.badge" in answer.field("posthorn-detail"), answer.fields)


@case("E-20", "broadcast to a channel that one of two devices subscribed to", "only that device receives it")
def _(house):
    channel = house.create_channel()
    subscriber, other = house.device(), house.device()
    tokens = [device.register() for device in (subscriber, other)]
    subscriber.subscribe(channel)
    with subscriber.stream() as stream, other.stream() as others:
        answer = house.broadcast(channel, UPDATE)
        expect(stream.next()["unique-id"] == answer.field("apns-unique-id"), "another one")
        got = others.up_to(house.accepted(token=tokens[1]))
        expect(not got, got)


@case("E-21", "20 concurrent requests for all channels",
      "two get the list, the others 429 `TooManyRequests`; later requests succeed", alone=True)
def _(house):
    path = f"/1/apps/{house.topic}/all-channels"
    fields = [(":method", "GET"), (":scheme", "https"), (":path", path), (":authority", house.host),
              ("authorization", f"bearer {house.provider_token}")]
    with house.channels_peer() as peer:
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
            house.checked(exchange)
        expect(house.checked(peer.ask(fields)).status == 200, "afterwards")
