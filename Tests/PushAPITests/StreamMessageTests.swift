// SPDX-License-Identifier: Apache-2.0

@testable import PushAPI
import PushCore
import TestSupport
import Testing

struct StreamMessageTests {
    private static let pending = PendingNotification(
        sequence: 42,
        notification: Notification(
            address: DeviceTokenContents(device: DeviceID(rawValue: 1), topic: TopicID(rawValue: 2), generation: 3),
            apnsID: bytes("A"), uniqueID: UniqueID(high: 1, low: 2), suffixedTopic: "com.example.Mail",
            pushType: .alert,
            priority: 10, expiration: nil, collapseID: nil, payload: bytes(#"{"aps":{}}"#),
            acceptedAt: Timestamp(unixMilliseconds: 5)))

    private static func refusal(_ text: String) -> StreamMessageError? {
        do throws(StreamMessageError) {
            _ = try StreamMessage.fromDevice(text.utf8.span)
            return nil
        } catch {
            return error
        }
    }

    private static func acknowledgements(_ text: String) throws -> [String] {
        try StreamMessage.fromDevice(text.utf8.span).map { "\($0.id) \($0.outcome) \($0.reason ?? "-")" }
    }

    @Test(
        arguments: [
            (#"{"id":42,"outcome":"shown"}"#, "42 shown -"), (#"{"id":1,"outcome":"delivered"}"#, "1 delivered -"),
            (#"{"id":9223372036854775807,"outcome":"closed"}"#, "9223372036854775807 closed -"),
            (#"{"id":0,"outcome":"viewed"}"#, "0 viewed -"),
            (#"{"id":7,"outcome":"suppressed","reason":"filter"}"#, "7 suppressed filter"),
            (#"{"outcome":"shown","id":42}"#, "42 shown -"), (#"{"id":42,"outcome":"shown","more":[1]}"#, "42 shown -"),
            (#"{"id":42,"outcome":"shown","id":43}"#, "43 shown -"), (#"{"id":42 ,"outcome":"shown"}"#, "42 shown -"),
            (#"{"id":42,"outcome": "shown"}"#, "42 shown -"), (#"{ "id":42,"outcome":"shown"}"#, "42 shown -"),
        ])
    func `an acknowledgement is read whatever the order and spacing of its members`(
        text: String, expected: String
    ) throws {
        let spaced = text.replacing(",\"", with: " , \"").replacing("\":", with: "\" : ")
        for list in ["[\(text)]", "[\(spaced)]", " [ \(text) ] ", "[\(text),\(spaced)]"] {
            for message in [#"{"acks":\#(list)}"#, #"{"x":{},"acks":\#(list)}"#, #" { "acks" : \#(list) } "#] {
                #expect(try Set(Self.acknowledgements(message)) == [expected])
            }
        }
    }

    @Test(arguments: [
        #"{"id":01,"outcome":"shown"}"#, #"{"id":,"outcome":"shown"}"#, #"{"id":1,"outcome":"shown""#,
        #"{"id":1,"outcome":"shown"]"#, #"{"id":1,"outcome":"shown}"#,
    ])
    func `an acknowledgement with a syntax error is refused as such`(text: String) {
        guard case .notJSON = Self.refusal(#"{"acks":[\#(text)]}"#) else {
            Issue.record("\(text) was accepted, or refused for another reason.")
            return
        }
    }

    @Test(arguments: [
        #"{"id":9223372036854775808,"outcome":"shown"}"#, #"{"id":1,"outcome":"show"}"#,
        #"{"id":1,"outcome":"shownn"}"#, #"{"id":1.5,"outcome":"shown"}"#, #"{"id":1,"outcome":""}"#,
    ])
    func `an acknowledgement with an invalid value is refused as malformed`(text: String) {
        #expect(Self.refusal(#"{"acks":[\#(text)]}"#) == .malformedAcknowledgement(index: 0))
    }

    @Test func `a notification contains the event's data in a member`() throws {
        var message: [UInt8] = []
        message.append(addingCapacity: StreamMessage.byteCountMax(of: Self.pending)) {
            StreamMessage.append(Self.pending, to: &$0)
        }
        var event: [UInt8] = []
        NotificationEvent.append(Self.pending, to: &event)
        let data = String(decoding: event, as: UTF8.self).split(separator: "\n")[2].dropFirst("data: ".count)
        #expect(String(decoding: message, as: UTF8.self) == #"{"notification":\#(data)}"#)
        #expect(try StreamMessage.fromServer(message.span) == .notification(data: bytes(String(data))))
    }

    @Test(arguments: [1, nil]) func `a goodbye survives writing and reading`(seconds: Int64?) throws {
        let goodbye = StreamGoodbye(reason: "shut\"down", retryAfterSeconds: seconds)
        var message: [UInt8] = []
        StreamMessage.append(goodbye, to: &message)
        #expect(try StreamMessage.fromServer(message.span) == .goodbye(goodbye))
    }

    @Test(arguments: ["{}", #"{"later":{"notification":1}}"#, #" {"x":"goodbye"} "#])
    func `an unknown message of a later server is read as unknown`(text: String) throws {
        #expect(try StreamMessage.fromServer(text.utf8.span) == .unknown)
    }

    @Test(arguments: ["", "[]", "{", #"{"notification":{}} x"#, #"{"notification":}"#])
    func `a message that is not an object is refused`(text: String) {
        #expect(throws: JSONError.self) { try StreamMessage.fromServer(text.utf8.span) }
    }

    @Test func `acknowledgements survive writing and reading`() throws {
        let acknowledgements = DeviceAPI.Outcome.allCases.enumerated().map { index, outcome in
            DeviceAPI.Acknowledgement(
                id: index == 0 ? .max : Int64(index), outcome: outcome,
                reason: index == 1 ? "a \"reason\" \u{1F600}" : nil)
        }
        var message: [UInt8] = []
        StreamMessage.append(acknowledgements, to: &message)
        let read = try StreamMessage.fromDevice(message.span)
        #expect(read.map(\.id) == acknowledgements.map(\.id))
        #expect(read.map(\.outcome) == acknowledgements.map(\.outcome))
        #expect(read.map(\.reason) == acknowledgements.map(\.reason))
    }

    @Test(arguments: [
        (#"{"acks":[]}"#, 0), (#" { "acks" : [ { "outcome" : "shown" , "id" : 1 } ] } "#, 1),
        (#"{"later":[[{}]],"acks":[{"id":0,"outcome":"shown","later":[1]}],"acks":[{"id":2,"outcome":"viewed"}]}"#, 2),
        (#"{"acks":[{"id":1,"id":2,"outcome":"shown","reason":null}]}"#, 1),
    ])
    func `whitespace, order and unknown members do not matter`(text: String, count: Int) throws {
        #expect(try StreamMessage.fromDevice(text.utf8.span).count == count)
    }

    @Test(arguments: [
        ("{}", StreamMessageError.unknownKind), (#"{"acks":1}"#, .unknownKind), (#"{"acks":{}}"#, .unknownKind),
        (#"{"acks":[1]}"#, .malformedAcknowledgement(index: 0)),
        (#"{"acks":[{}]}"#, .malformedAcknowledgement(index: 0)),
        (#"{"acks":[{"id":1,"outcome":"shown"},{"id":1.0,"outcome":"shown"}]}"#, .malformedAcknowledgement(index: 1)),
        (#"{"acks":[{"id":9223372036854775808,"outcome":"shown"}]}"#, .malformedAcknowledgement(index: 0)),
        (#"{"acks":[{"id":"1","outcome":"shown"}]}"#, .malformedAcknowledgement(index: 0)),
        (#"{"acks":[{"id":1,"outcome":"shown","reason":5}]}"#, .malformedAcknowledgement(index: 0)),
        (#"{"acks":[{"id":1,"outcome":"shown","reason":["a"]}]}"#, .malformedAcknowledgement(index: 0)),
        (#"{"acks":[{"id":1,"outcome":shown}]}"#, .notJSON(JSONError(offset: 27, problem: .isNotValue))),
        (#"{"acks":[{"id":1,"outcome":"x"}]"#, .notJSON(JSONError(offset: 32, problem: .endsEarly))),
        ("", .notJSON(JSONError(offset: 0, problem: .endsEarly))),
    ])
    func `an invalid message has advice that fits into a close frame`(text: String, expected: StreamMessageError) {
        let refusal = Self.refusal(text)
        #expect(refusal == expected)
        #expect((refusal?.advice.utf8.count ?? 999) <= 123)
    }

    @Test func `the longest advice fits into a close frame`() {
        let last = Limits.acknowledgementBatchCountMax - 1
        #expect(StreamMessageError.malformedAcknowledgement(index: last).advice.utf8.count <= 123)
    }

    @Test func `a batch has a maximum size`() {
        let batch = { (count: Int) in
            #"{"acks":["# + Array(repeating: #"{"id":1,"outcome":"shown"}"#, count: count).joined(separator: ",") + "]}"
        }
        #expect(Self.refusal(batch(Limits.acknowledgementBatchCountMax)) == nil)
        #expect(Self.refusal(batch(Limits.acknowledgementBatchCountMax + 1)) == .tooManyAcknowledgements)
    }
}
