# SPDX-License-Identifier: Apache-2.0
"""A: provider tokens."""
import time

import tokens
from catalogue import ACCEPTED, Answer, case, expect, expect_answer
from stack import UNKNOWN_TOKEN

MISSING, INVALID = Answer(403, "MissingProviderToken"), Answer(403, "InvalidProviderToken")
EXPIRED, UNRELATED = Answer(403, "ExpiredProviderToken"), Answer(403, "UnrelatedKeyIdInToken")


def signed(id, request, wanted, note="", **options):
    """Registers a case whose provider token is signed with these options."""
    @case(id, request, wanted, note)
    def _(stack):
        return stack.push(authorization=f"bearer {stack.key.sign(**options)}")


@case("A-01", "no authorization header", MISSING)
def _(stack):
    return stack.push(without=["authorization"])


@case("A-02", "`authorization: bearer` without a token", MISSING)
def _(stack):
    return stack.push(authorization="bearer")


@case("A-03", "`authorization: basic …`", MISSING)
def _(stack):
    return stack.push(authorization="basic YTpi")


@case("A-04", "`Bearer` with a capital B", ACCEPTED)
def _(stack):
    return stack.push(authorization=f"Bearer {stack.provider_token}")


@case("A-05", "`bearer abc`", INVALID)
def _(stack):
    return stack.push(authorization="bearer abc")


@case("A-06", "a broken signature", INVALID)
def _(stack):
    signed_part, _, signature = stack.provider_token.rpartition(".")
    return stack.push(authorization=f"bearer {signed_part}.{signature[::-1]}")


@case("A-07", "signed with another P-256 key", INVALID)
def _(stack):
    return stack.push(authorization=f"bearer {stack.key.sign(signing_key=tokens.stranger())}")


signed("A-08", "unknown kid", INVALID, header={"kid": "ZZZZZZZZZZ"})
signed("A-09", "no kid", INVALID, without=["kid"])
signed("A-10", "iss is not the key's team", INVALID, claims={"iss": "ZZZZZZZZZZ"})
signed("A-11", "no iss", INVALID, without=["iss"])
signed("A-12", "no iat", INVALID, without=["iat"])
signed("A-13", "iat 3700 s ago", EXPIRED, age=3700)
signed("A-14", "iat 3300 s ago", ACCEPTED, age=3300)
signed("A-15", "iat 60 s in the future", ACCEPTED, age=-60)
signed("A-16", "iat 2 h in the future", EXPIRED, age=-7200)


@case("A-17", "iat as a decimal string", ACCEPTED)
def _(stack):
    return stack.push(authorization=f"bearer {stack.key.sign(claims={'iat': str(int(time.time()))})}")


@case("A-18", "iat with a fraction", ACCEPTED)
def _(stack):
    return stack.push(authorization=f"bearer {stack.key.sign(claims={'iat': time.time()})}")


signed("A-19", "signature in DER", ACCEPTED, form="der")
signed("A-20", "standard base64 with padding", ACCEPTED, encode=tokens.standard_base64)
signed("A-21", "standard base64 and DER, as a2 sends them", ACCEPTED, form="der", encode=tokens.standard_base64)
signed("A-22", "`typ: JWT`, pretty-printed JSON, kid and exp among the claims", ACCEPTED, header={"typ": "JWT"},
       claims={"kid": "ZZZZZZZZZZ", "exp": 4102444800}, indent=4)
signed("A-23", "ES512 with the P-256 key, as pushok sends it", ACCEPTED, algorithm="ES512")


@case("A-24", "alg none", INVALID)
def _(stack):
    return stack.push(authorization=f"bearer {stack.key.unsigned()}")


@case("A-25", "HS256 with the public key as the secret", INVALID)
def _(stack):
    return stack.push(authorization=f"bearer {stack.key.signed_with_public_key()}")


@case("A-26", "ten different provider tokens of one key on one connection",
      "five updates are accepted, the sixth gets 429 `TooManyProviderTokenUpdates`; accepted tokens stay valid")
def _(stack):
    # Each token is from another second, whatever the clock does meanwhile.
    now = int(time.time())
    provider_tokens = [stack.key.sign(claims={"iat": now - age}) for age in range(10, 20)]
    with stack.peer() as peer:
        answers = [stack.push(peer=peer, authorization=f"bearer {token}") for token in provider_tokens]
        got = [(answer.status, answer.reason) for answer in answers]
        expect(got == [(200, None)] * 6 + [(429, "TooManyProviderTokenUpdates")] * 4, got)
        expect_answer(stack.push(peer=peer, authorization=f"bearer {provider_tokens[5]}"), ACCEPTED)


@case("A-27", "two provider tokens of one key on two connections", "200 on both")
def _(stack):
    for age in (5, 6):
        stack.accepted(authorization=f"bearer {stack.key.sign(age=age)}")


@case("A-28", "one provider token 50 times on one connection", "all 200")
def _(stack):
    with stack.peer() as peer:
        for _ in range(50):
            stack.accepted(peer=peer)


@case("A-29", "a valid provider token after a 403 on the same connection", ACCEPTED)
def _(stack):
    with stack.peer() as peer:
        expect_answer(stack.push(peer=peer, authorization="bearer abc"), INVALID)
        return stack.push(peer=peer)


def second(stack, key, first=None, **fields):
    """Sends with one key, and on the same connection with another."""
    with stack.peer() as peer:
        stack.accepted(peer=peer, authorization=f"bearer {(first or stack.key).sign()}")
        return stack.push(peer=peer, authorization=f"bearer {key.sign()}", **fields)


@case("A-30", "key of another team on an authenticated connection", INVALID)
def _(stack):
    key = tokens.Key(stack["APNS_TEAM2_KEY"], stack["APNS_TEAM2_KEY_ID"], stack["APNS_TEAM2"])
    return second(stack, key)


@case("A-31", "unrelated topic-specific key on an authenticated connection", UNRELATED)
def _(stack):
    return second(stack, stack.other_key("APNS_KEY2"))


@case("A-32", "key of the other environment", Answer(403, "BadEnvironmentKeyInToken"))
def _(stack):
    return stack.push(authorization=f"bearer {stack.other_key('APNS_KEY_ENV').sign()}")


@case("A-33", "topic-specific key, topic not in its list", Answer(400, "TopicDisallowed"))
def _(stack):
    key = stack.other_key("APNS_KEY_TOPIC")
    stack.accepted(authorization=f"bearer {key.sign()}")
    return stack.push(authorization=f"bearer {key.sign()}", token=stack["APNS_OTHER_TOKEN"],
                      apns_topic=stack["APNS_OTHER_TOPIC"])


@case("A-34", "revoked key", INVALID)
def _(stack):
    return stack.push(authorization=f"bearer {stack.other_key('APNS_REVOKED_KEY').sign()}")


@case("A-35", "no credentials and a bad device token", MISSING)
def _(stack):
    return stack.push(without=["authorization"], token=UNKNOWN_TOKEN)


@case("A-36", "expired provider token and a bad device token", EXPIRED)
def _(stack):
    return stack.push(authorization=f"bearer {stack.key.sign(age=7200)}", token=UNKNOWN_TOKEN)
