# SPDX-License-Identifier: Apache-2.0
"""Rules for every answer of the provider API, whatever the request. Real clients fail when they are violated."""
import json
import re

UUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")

#: Apple's reasons and their status. Clients map the words to classes, and fail on an unknown one.
STATUS = {
    reason: status for status, reasons in {
        400: "BadCollapseId BadDeviceToken BadExpirationDate BadMessageId BadPriority BadTopic DeviceTokenNotForTopic "
             "DuplicateHeaders IdleTimeout InvalidPushType MissingDeviceToken MissingTopic PayloadEmpty "
             "TopicDisallowed FeatureNotEnabled MissingChannelId BadChannelId ChannelNotRegistered BadRequestParams "
             "BadRequestPayload MissingPushType CannotCreateChannelConfig",
        403: "BadCertificate BadCertificateEnvironment ExpiredProviderToken Forbidden InvalidProviderToken "
             "MissingProviderToken UnrelatedKeyIdInToken BadEnvironmentKeyInToken TopicMismatch",
        404: "BadPath", 405: "MethodNotAllowed", 410: "ExpiredToken Unregistered", 413: "PayloadTooLarge",
        429: "TooManyProviderTokenUpdates TooManyRequests", 500: "InternalServerError",
        503: "ServiceUnavailable Shutdown",
    }.items() for reason in reasons.split()
}

#: RFC 9113, section 8.2.2: the connection-specific fields that HTTP/2 forbids.
CONNECTION_FIELDS = {"connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"}


def is_uuid(text):
    return bool(UUID.fullmatch(text or ""))


def faults(exchange):
    """Returns all defects in the form of an answer. Empty for a valid one."""
    found = list(_faults_of_fields(exchange))
    if exchange.status in (200, 201, 204):
        found += _faults_of_success(exchange)
    else:
        found += _faults_of_refusal(exchange)
    return found


def _faults_of_fields(exchange):
    names = [name for name, _ in exchange.fields]
    for name in names:
        if name != name.lower():
            yield f"{name} is not in lowercase"
        if name in CONNECTION_FIELDS:
            yield f"{name} is forbidden in HTTP/2"
    for name in set(names):
        if name != "posthorn-warning" and names.count(name) > 1:
            yield f"{name} occurs {names.count(name)} times"
    if "content-encoding" in names:
        yield "the answer is compressed"
    # A channel request has a request ID, and all others an apns-id. A client waits for exactly its own ID. An unknown
    # path may have either.
    has_request_id = exchange.is_of_channels if exchange.status != 404 else exchange.field("apns-request-id")
    own = "apns-request-id" if has_request_id else "apns-id"
    if not is_uuid(exchange.field(own)):
        yield f"{own} is {exchange.field(own)!r}"
    asked = exchange.asked(own)
    if is_uuid(asked) and exchange.count_asked(own) == 1 and exchange.field(own) != asked:
        yield f"{own} is {exchange.field(own)}, but the request's is {asked}"


def _faults_of_success(exchange):
    if exchange.method == "GET":
        return
    if exchange.ended_by != "headers" or exchange.data:
        yield f"a success has a body: {exchange.data!r}, ended by {exchange.ended_by}"


def _faults_of_refusal(exchange):
    detail = exchange.field("posthorn-detail") or ""
    if not detail or not all(" " <= character <= "~" for character in detail):
        yield f"posthorn-detail is {detail!r}"
    if exchange.method == "HEAD":
        if exchange.data:
            yield "the answer to HEAD has a body"
        return
    # Pushy drops a DATA frame that does not end the stream, and aioapns parses each frame as a separate document.
    if len(exchange.data) != 1 or exchange.ended_by != "data":
        yield f"{len(exchange.data)} DATA frames, ended by {exchange.ended_by}"
    if exchange.field("content-type") != "application/json":
        yield f"content-type is {exchange.field('content-type')!r}"
    yield from _faults_of_body(exchange)


def _faults_of_body(exchange):
    if len(exchange.body) >= 1024:
        yield f"the body has {len(exchange.body)} bytes: APNSwift stops at 1024"
    try:
        body = json.loads(exchange.body)
    except ValueError:
        yield f"the body is not JSON: {exchange.body!r}"
        return
    if STATUS.get(body.get("reason")) != exchange.status:
        yield f"{exchange.status} with the reason {body.get('reason')!r}"
    members = {"reason", "timestamp"} if exchange.status == 410 else {"reason"}
    if set(body) != members:
        yield f"the body has the members {sorted(body)}"
    if exchange.status == 410 and type(body.get("timestamp")) is not int:
        yield f"the timestamp is {body.get('timestamp')!r}"
