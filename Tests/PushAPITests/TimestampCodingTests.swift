// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import PushAPI
internal import PushCore
internal import Testing

/// Checks the units of times in the JSON of the APIs.
struct TimestampCodingTests {
    private static let time = Timestamp(unixMilliseconds: 1_800_000_000_999)

    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    @Test func `a time is UNIX seconds, and a missing one is absent`() throws {
        let code = CredentialAPI.UnusedCode(id: "a", createdAt: .unixEpoch, expiresAt: Self.time)
        let text = try json(code)
        #expect(text == #"{"created_at":0,"expires_at":1800000000,"id":"a"}"#)
        let read = try JSONDecoder().decode(CredentialAPI.UnusedCode.self, from: Data(text.utf8))
        #expect(read.expiresAt == Self.time.roundedDownToSeconds)
        #expect(try json(TraceAPI.Webhook(url: "b")) == #"{"url":"b"}"#)
        #expect(try json(TraceAPI.Webhook(url: "b", failingSince: Self.time)).contains(#""failing_since":1800000000,"#))
    }

    @Test func `the times of the trace are UNIX milliseconds`() throws {
        let event = TraceAPI.Event(event: "sent", at: Self.time, sequence: 1)
        let text = try json(TraceAPI.Trace(events: [event], oldestAt: Self.time))
        #expect(
            text == #"{"events":[{"at":1800000000999,"event":"sent","sequence":1}],"oldest_at":1800000000999}"#)
        let read = try JSONDecoder().decode(TraceAPI.Trace.self, from: Data(text.utf8))
        #expect(read.oldestAt == Self.time && read.events.map(\.at) == [Self.time])
        #expect(try json(TraceAPI.Trace(events: [])) == #"{"events":[]}"#)
    }

    @Test func `a notification of the test mode has UNIX milliseconds`() throws {
        let received = TestModeAPI.ReceivedNotification(
            topic: "t", token: "", deviceID: "", headers: [:], payload: "", receivedAt: Self.time)
        #expect(try json(received).contains(#""received_at":1800000000999,"#))
    }

    @Test(arguments: ["1.5", "\"1\"", "null", "9223372036854775808"])
    func `a time that is not an integer is refused`(number: String) {
        let text = #"{"created_at":\#(number),"expires_at":0,"id":"a"}"#
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(CredentialAPI.UnusedCode.self, from: Data(text.utf8))
        }
    }
}
