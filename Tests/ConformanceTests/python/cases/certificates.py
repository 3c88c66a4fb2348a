# SPDX-License-Identifier: Apache-2.0
"""C: client certificates instead of provider tokens."""
from catalogue import ACCEPTED, Answer, case, expect_answer
from stack import ALERT

NOT_SIGNED = ["authorization"]


def certified(stack, variable, body=ALERT, **fields):
    return stack.push(body, options={"certificate": stack[variable]}, **fields)


@case("C-01", "single-topic certificate, no apns-topic, no authorization", ACCEPTED)
def _(stack):
    return certified(stack, "APNS_CLIENT_CERT", without=["authorization", "apns-topic"])


@case("C-02", "certificate and an invalid authorization header", ACCEPTED)
def _(stack):
    return certified(stack, "APNS_CLIENT_CERT", authorization="bearer garbage")


@case("C-03", "certificate, apns-topic of another app", Answer(400, "TopicDisallowed"))
def _(stack):
    return certified(stack, "APNS_CLIENT_CERT", without=NOT_SIGNED, apns_topic=stack["APNS_OTHER_TOPIC"])


@case("C-04", "multi-topic certificate, no apns-topic", Answer(400, "MissingTopic"))
def _(stack):
    return certified(stack, "APNS_CLIENT_CERT_MULTI", without=["authorization", "apns-topic"])


@case("C-05", "multi-topic certificate, topic in its extension 1.2.840.113635.100.6.3.6", ACCEPTED)
def _(stack):
    return certified(stack, "APNS_CLIENT_CERT_MULTI", without=NOT_SIGNED)


@case("C-06", "certificate, push type location, which requires a provider token", Answer(400, "InvalidPushType"))
def _(stack):
    return certified(stack, "APNS_CLIENT_CERT", without=NOT_SIGNED, apns_push_type="location",
                     apns_topic=f"{stack.topic}.location-query")


@case("C-07", "certificate of the other environment", Answer(403, "BadCertificateEnvironment"))
def _(stack):
    return certified(stack, "APNS_CLIENT_CERT_ENV", without=NOT_SIGNED)


@case("C-08", "revoked certificate", Answer(403, "BadCertificate"))
def _(stack):
    return certified(stack, "APNS_CLIENT_CERT_REVOKED", without=NOT_SIGNED)


@case("C-09", "neither certificate nor authorization", "the handshake succeeds; 403 `MissingProviderToken`")
def _(stack):
    expect_answer(stack.push(without=NOT_SIGNED), Answer(403, "MissingProviderToken"))
