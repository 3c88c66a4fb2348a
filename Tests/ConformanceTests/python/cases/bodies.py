# SPDX-License-Identifier: Apache-2.0
"""B: payloads. As at Apple, only a payload that is empty, too large or not a JSON object is refused."""
import gzip
import json

from catalogue import ACCEPTED, Answer, case, expect
from cases.headers import header
from stack import ALERT, UNKNOWN_TOKEN, sized

EMPTY, TOO_LARGE = Answer(400, "PayloadEmpty"), Answer(413, "PayloadTooLarge")

header("B-01", "empty body", EMPTY, b"")
header("B-02", "`{}`, a Wallet update", ACCEPTED, b"{}")
header("B-03", "`hello`", EMPTY, b"hello", note="Apple documents no reason for this case")
header("B-04", "a JSON array", EMPTY, b"[1]")
header("B-05", "no aps, custom keys only", ACCEPTED, b'{"acme":1}')
header("B-06", "4096 bytes", ACCEPTED, sized(4096))
header("B-07", "4097 bytes", TOO_LARGE, sized(4097))
header("B-08", "100 kB", TOO_LARGE, sized(100_000))
header("B-09", "4096 bytes, fewer characters", ACCEPTED,
       sized(4096, '{"alert":"\u00e9\u20ac\U0001F600"}'))
header("B-10", "voip, 5120 bytes", ACCEPTED, sized(5120), apns_push_type="voip",
       apns_topic=lambda stack: stack.topic + ".voip")
header("B-11", "voip, 5121 bytes", TOO_LARGE, sized(5121), apns_push_type="voip",
       apns_topic=lambda stack: stack.topic + ".voip")
header("B-12", "liveactivity to a device, 4097 bytes", TOO_LARGE,
       sized(4097, '{"event":"update","timestamp":1,"content-state":{}}'), apns_push_type="liveactivity",
       apns_topic=lambda stack: stack.topic + ".push-type.liveactivity")


def passed_on(id, request, aps):
    """Registers a payload that must be accepted and arrive byte for byte."""
    @case(id, f"payload: {request}", "200, and the device receives the same bytes")
    def _(stack):
        body = json.dumps({"aps": aps}).encode()
        apns_id = stack.accepted(body)
        arrived = []
        stack.until(lambda: arrived.extend(stack.admin.received(apns_id)) or arrived)
        expect([one["payload"].encode() for one in arrived] == [body], arrived)


passed_on("B-13", "alert as a string", {"alert": "Hi"})
passed_on("B-14", "alert with every key", {"alert": {
    "title": "t", "subtitle": "s", "body": "b", "launch-image": "l.png", "title-loc-key": "K", "title-loc-args": ["a"],
    "subtitle-loc-key": "K", "subtitle-loc-args": ["a"], "loc-key": "K", "loc-args": ["a", "b"],
    "action-loc-key": "PLAY", "summary-arg": "x", "summary-arg-count": 2}})
passed_on("B-15", "badge 0", {"badge": 0})
passed_on("B-16", "badge 9", {"badge": 9})
passed_on("B-17", "sound as a string", {"sound": "bingbong.aiff"})
passed_on("B-18", "sound of a critical alert", {
    "alert": "x", "sound": {"critical": 1, "name": "default", "volume": 0.5}})
passed_on("B-19", "thread-id, category, target-content-id", {
    "alert": "x", "thread-id": "t", "category": "C", "target-content-id": "w"})
passed_on("B-20", "content-available with an alert", {"alert": "x", "content-available": 1})
passed_on("B-21", "mutable-content", {"alert": {"title": "x"}, "mutable-content": 1})
passed_on("B-22", "interruption-level passive", {"alert": "x", "interruption-level": "passive"})
passed_on("B-23", "interruption-level active", {"alert": "x", "interruption-level": "active"})
passed_on("B-24", "interruption-level time-sensitive", {"alert": "x", "interruption-level": "time-sensitive"})
passed_on("B-25", "interruption-level critical", {"alert": "x", "interruption-level": "critical"})
passed_on("B-26", "relevance-score and filter-criteria", {
    "alert": "x", "relevance-score": 0.7, "filter-criteria": "work"})
passed_on("B-27", "a custom key inside aps", {"alert": "x", "acme": 1})

header("B-28", "compressed with gzip", EMPTY, gzip.compress(ALERT), extra=[("content-encoding", "gzip")])
header("B-29", "too large, and a bad device token", TOO_LARGE, sized(5000), token=UNKNOWN_TOKEN)
header("B-30", "empty, and a bad device token", EMPTY, b"", token=UNKNOWN_TOKEN)
