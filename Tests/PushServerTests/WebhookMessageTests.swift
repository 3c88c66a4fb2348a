// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import Testing

@testable import PushServer
@testable import PushStore

@Suite struct WebhookMessageTests {
    private func entry(_ step: TraceStep, _ detail: TraceDetail, hasOrigin: Bool) -> TraceEntry {
        let origin = TraceEvent.Origin(
            topic: TopicID(rawValue: 1), generation: 1, uniqueID: UniqueID(high: 1, low: 2),
            apnsID: UniqueID(high: 3, low: 4))
        let device = DeviceID(rawValue: 9)
        let contents = DeviceTokenContents(device: device, topic: TopicID(rawValue: 1), generation: 1)
        var entry = TraceEntry(
            position: 92,
            event: TraceEvent(
                step, detail, sequence: 5, topic: origin.topic, device: device,
                at: Timestamp(unixMilliseconds: 1_800_000_000_123)))
        if hasOrigin {
            entry.origin = origin
            entry.token = TraceEntry.Token(contents: contents, environment: .production)
        }
        return entry
    }

    @Test func `events are elements of an array, without unknown members`() {
        let entries = [entry(.suppressed, .masterOff, hasOrigin: true), entry(.viewed, .none, hasOrigin: false)]
        let body = WebhookMessage.body(entries, topic: "a\"b") { token in "token of \(token.contents.device.rawValue)" }
        let expected =
            #"[{"id":92,"event":"suppressed","reason":"master-off","at":1800000000123,"topic":"a\"b","#
            + #""device_token":"token of 9","apns-id":"00000000-0000-0003-0000-000000000004","#
            + #""apns-unique-id":"00000000-0000-0001-0000-000000000002"},"#
            + #"{"id":92,"event":"viewed","at":1800000000123,"topic":"a\"b"}]"#
        #expect(String(decoding: body, as: UTF8.self) == expected)
    }

    /// The value is from: printf '1800000000.[]' | openssl mac -digest SHA256 -macopt key:secret HMAC.
    @Test func `a signature covers the time and the body`() {
        let signature = WebhookMessage.signature(
            of: Array("[]".utf8), secret: Array("secret".utf8), now: Timestamp(unixSeconds: 1_800_000_000))
        #expect(
            signature == "t=1800000000,v1=088824cbfb8e3ce035819126da8cb74ef932b6dc1e545cecb534ec071b4160ad")
    }
}
