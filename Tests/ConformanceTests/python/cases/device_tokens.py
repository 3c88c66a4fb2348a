# SPDX-License-Identifier: Apache-2.0
"""D: device tokens."""
import time

from catalogue import ACCEPTED, Answer, case, expect
from cases.headers import header
from stack import ALERT, UNKNOWN_TOKEN

BAD = Answer(400, "BadDeviceToken")

header("D-01", "64 hexadecimal digits that are no token of this server", BAD, token=UNKNOWN_TOKEN)
header("D-02", "64 characters that are not hexadecimal digits", BAD, token="z" * 64)
header("D-03", "an odd number of digits", BAD, token="a" * 63)
header("D-04", "four digits", BAD, token="abcd")
header("D-05", "200 digits", BAD, token="ab" * 100)
header("D-06", "the valid token in uppercase", ACCEPTED, token=lambda stack: stack.token.upper())
header("D-07", "the valid token with another last digit", BAD,
       token=lambda stack: f"{stack.token[:-1]}{int(stack.token[-1], 16) ^ 1:x}")


def ended(exchange, reason):
    """Expects a 410 with a past timestamp in milliseconds."""
    expect((exchange.status, exchange.reason) == (410, reason), exchange)
    expect(1_400_000_000_000 < exchange.json["timestamp"] <= time.time() * 1000, exchange.body)


@case("D-08", "token whose app was removed", "410 `Unregistered` with a past timestamp in milliseconds")
def _(stack):
    ended(stack.push(token=stack["APNS_GONE"]), "Unregistered")


@case("D-09", "expired token", "410 `ExpiredToken` with a past timestamp in milliseconds")
def _(stack):
    ended(stack.push(token=stack["APNS_EXPIRED"]), "ExpiredToken")


header("D-10", "token of the other environment", BAD, token=lambda stack: stack["APNS_SANDBOX_TOKEN"])


@case("D-11", "200 requests with status 410 on one connection", "the connection stays open")
def _(stack):
    with stack.peer() as peer:
        for _ in range(200):
            ended(stack.push(peer=peer, token=stack["APNS_GONE"]), "Unregistered")
        stack.accepted(peer=peer)


@case("D-12", "2000 notifications to one token, 100 at a time", "all 200, on one connection")
def _(stack):
    with stack.peer() as peer:
        for _ in range(20):
            exchanges = [peer.open(stack.fields(), ALERT) for _ in range(100)]
            peer.wait_all(exchanges)
            got = [str(exchange) for exchange in exchanges if exchange.status != 200]
            expect(not got, got)
        expect(not peer.goaways, peer.goaways)
