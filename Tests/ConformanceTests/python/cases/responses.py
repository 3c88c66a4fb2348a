# SPDX-License-Identifier: Apache-2.0
"""R: the format of answers. `answers.faults` checks every case, and these cases show that its checks work."""
from answers import is_uuid
from catalogue import case, expect
from stack import UNKNOWN_TOKEN, new_id, sized


@case("R-01", "valid alert without apns-id", "200 with a new UUID in apns-id")
def _(stack):
    expect(is_uuid(stack.accepted()), "no UUID")


@case("R-02", "two valid alerts without apns-id", "two different apns-id")
def _(stack):
    first, second = stack.accepted(), stack.accepted()
    expect(first != second, first)


def refusals(stack, **fields):
    """Returns one refusal of each kind."""
    wrong = [
        {"token": UNKNOWN_TOKEN}, {"body": sized(5000)}, {"apns_priority": "7"}, {"without": ["apns-topic"]},
        {"path": "/x"}, {"method": "GET", "body": b""}, {"without": ["authorization"]}, {"token": stack["APNS_GONE"]}]
    return [stack.push(**fields | change) for change in wrong]


@case("R-03", "every refusal", "has the request's apns-id")
def _(stack):
    given = new_id()
    expect([answer.field("apns-id") for answer in refusals(stack, apns_id=given)] == [given] * 8, "others")


@case("R-04", "400 `BadMessageId`", "has a new UUID in apns-id")
def _(stack):
    answer = stack.push(apns_id="not-a-uuid")
    expect(is_uuid(answer.field("apns-id")), answer.fields)


@case("R-05", "body of a refusal", "one object with only reason, and timestamp with 410; under 1024 bytes")
def _(stack):
    for answer in refusals(stack):
        members = ["reason", "timestamp"] if answer.status == 410 else ["reason"]
        expect(list(answer.json) == members and len(answer.body) < 1024, answer.body)


@case("R-06", "refusal", "content-type: application/json")
def _(stack):
    got = {answer.field("content-type") for answer in refusals(stack)}
    expect(got == {"application/json"}, got)


@case("R-07", "valid alert", "apns-unique-id, which the device receives, too",
      note="in both environments; Apple sends it in development only")
def _(stack):
    device = stack.device()
    token = device.register()
    with device.stream() as stream:
        answer = stack.push(token=token)
        unique_id = answer.field("apns-unique-id")
        expect(is_uuid(unique_id) and stream.next()["unique-id"] == unique_id, answer.fields)


@case("R-09", "names of all response fields", "lowercase, no connection-specific fields")
def _(stack):
    names = {name for answer in [stack.push(), *refusals(stack)] for name, _ in answer.fields}
    known = {"apns-id", "apns-unique-id", "content-type", "date", "content-length", "posthorn-detail",
             "posthorn-warning", "allow", "server"}
    expect(names <= known, names - known)
