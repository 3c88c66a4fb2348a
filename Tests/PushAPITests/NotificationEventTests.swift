// SPDX-License-Identifier: Apache-2.0

@testable import PushAPI
import PushCore
import TestSupport
import Testing

struct NotificationEventTests {
    private static let payload = #"{"aps":{"alert":"Hi"}}"#

    private static func pending(
        sequence: Int64 = 42, pushType: PushType? = .alert, priority: UInt8? = 10, expiration: Timestamp? = .unixEpoch,
        collapseID: [UInt8]? = bytes("inbox"), payload: String = payload,
        uniqueID: UniqueID = UniqueID(high: 1, low: 2), suffixedTopic: String = "com.example.Mail.voip"
    ) -> PendingNotification {
        let notification = Notification(
            address: DeviceTokenContents(device: DeviceID(rawValue: 1), topic: TopicID(rawValue: 2), generation: 3),
            apnsID: bytes("123E4567-E89B-12D3-A456-4266554400A0"), uniqueID: uniqueID,
            suffixedTopic: suffixedTopic, pushType: pushType, priority: priority,
            expiration: expiration, collapseID: collapseID, payload: bytes(payload),
            acceptedAt: Timestamp(unixMilliseconds: 1_790_000_000_000))
        return PendingNotification(sequence: sequence, notification: notification)
    }

    @Test func `an event has three lines, the payload last and unchanged`() {
        var output: [UInt8] = []
        NotificationEvent.append(Self.pending(), app: "com.example.Mail", to: &output)
        let text = """
            event: notification
            id: 42
            data: {"id":42,"unique-id":"00000000-0000-0001-0000-000000000002","topic":"com.example.Mail.voip",\
            "app":"com.example.Mail","apns-id":"123E4567-E89B-12D3-A456-4266554400A0","push-type":"alert","priority":10,\
            "expiration":0,"collapse-id":"inbox","accepted-at":1790000000000,"payload":{"aps":{"alert":"Hi"}}}


            """
        #expect(String(decoding: output, as: UTF8.self) == text)
    }

    @Test func `omitted headers are left out`() throws {
        let pending = Self.pending(pushType: nil, priority: nil, expiration: nil, collapseID: nil)
        let received = try roundTrip(pending, app: nil)
        #expect(received.app == nil)
        #expect(received.pushType == nil)
        #expect(received.priority == nil)
        #expect(received.expiration == nil)
        #expect(received.collapseID == nil)
        #expect(received.payload == bytes(Self.payload))
    }

    @Test(arguments: [
        "{}", "{ \"a\" : 1.50e+3 , \"a\" : [ ] }", "{\n  \"a\": \"b\"\n}", "{\r\n}", "{\r}", "\t{\"\\n\":\"\\u000d\"} ",
        "{\"é\":\"😀\u{2028}\"}",
        "{\"payload\":{\"payload\":1}}", "{\"id\":7}",
    ])
    func `a payload arrives byte for byte`(payload: String) throws {
        #expect(try roundTrip(Self.pending(payload: payload)).payload == bytes(payload))
    }

    @Test(arguments: 1..<20, ["\n", "\r", "\t", " "])
    func `a payload is encoded in base64 only if it contains line ends`(offset: Int, blank: String) throws {
        let payload =
            "{" + String(repeating: " ", count: offset - 1) + blank + String(repeating: " ", count: 19 - offset) + "}"
        let pending = Self.pending(payload: payload)
        var output: [UInt8] = []
        NotificationEvent.append(pending, to: &output)
        #expect(output.count { $0 == UInt8(ascii: "\n") } == 4 && !output.contains(UInt8(ascii: "\r")))
        #expect(String(decoding: output, as: UTF8.self).contains("payload-base64") == (blank == "\n" || blank == "\r"))
        #expect(try roundTrip(pending).payload == bytes(payload))
    }

    @Test func `a payload nested up to the limit arrives`() throws {
        let depth = Limits.jsonDepthMax - 1
        let payload = "{\"a\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
        try JSONValidator.validateObject(bytes(payload).span)
        #expect(try roundTrip(Self.pending(payload: payload)).payload == bytes(payload))
    }

    @Test(arguments: [bytes("a"), bytes("\"\\\n"), bytes("é"), [0xFF], [0x00], [UInt8](repeating: 0xFE, count: 64)])
    func `a collapse ID arrives byte for byte, UTF-8 or not`(collapseID: [UInt8]) throws {
        #expect(try roundTrip(Self.pending(collapseID: collapseID)).collapseID == collapseID)
    }

    @Test(arguments: seeds)
    func `a notification arrives as it was accepted`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var payload: [UInt8] = []
        let texts = (0..<4).map { _ in JSONValue.string(generator.text(countMax: 32)) }
        JSONWriter.append(.object([.init(key: "a", value: .array(texts))]), to: &payload)
        let pending = Self.pending(
            sequence: Int64.random(in: 0 ... .max, using: &generator),
            pushType: PushType.allCases.randomElement(using: &generator),
            priority: [nil, 1, 5, 10].randomElement(using: &generator) ?? nil,
            expiration: Bool.random(using: &generator)
                ? nil : Timestamp(unixSeconds: Int64.random(in: 0...1_000_000_000_000, using: &generator)),
            collapseID: Bool.random(using: &generator) ? nil : generator.bytes(countMax: 63) + [1],
            payload: String(decoding: payload, as: UTF8.self),
            uniqueID: UniqueID(high: generator.next(), low: generator.next()),
            suffixedTopic: generator.text(countMax: 20))
        let app = TopicName(generator.text(countMax: 10))
        let expected = ReceivedNotification(
            sequence: pending.sequence, uniqueID: pending.notification.uniqueID,
            suffixedTopic: pending.notification.suffixedTopic,
            app: app, apnsID: "123E4567-E89B-12D3-A456-4266554400A0", pushType: pending.notification.pushType,
            priority: pending.notification.priority, expiration: pending.notification.expiration,
            collapseID: pending.notification.collapseID,
            acceptedAt: pending.notification.acceptedAt, payload: payload)
        #expect(try roundTrip(pending, app: app) == expected)
    }

    // MARK: Refused events

    private static let members: [(key: String, value: String)] = [
        ("id", "1"), ("unique-id", "\"00000000-0000-0001-0000-000000000002\""), ("topic", "\"t\""),
        ("apns-id", "\"i\""),
        ("accepted-at", "5"), ("payload", "{}"),
    ]

    private static func data(replacing key: String, by value: String?) -> [UInt8] {
        let kept = members.filter { $0.key != key } + (value.map { [(key, $0)] } ?? [])
        return bytes("{" + kept.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}")
    }

    @Test func `the smallest event is accepted, with unknown members`() throws {
        let received = try NotificationEvent.decode(data: Self.data(replacing: "colour", by: "\"red\""))
        #expect(received.sequence == 1)
        #expect(received.apnsID == "i")
        #expect(received.payload == bytes("{}"))
    }

    @Test(arguments: members.map(\.key))
    func `an event without a required member is refused`(key: String) {
        #expect(throws: NotificationEventError.lacks(member: key)) {
            try NotificationEvent.decode(data: Self.data(replacing: key, by: nil))
        }
    }

    @Test(arguments: [
        ("id", "-1"), ("id", "1.0"), ("id", "\"1\""), ("id", "null"), ("id", "9223372036854775808"),
        ("unique-id", "\"x\""),
        ("unique-id", "1"), ("topic", "1"), ("topic", "null"), ("app", "[]"), ("apns-id", "{}"),
        ("push-type", "\"bogus\""),
        ("push-type", "1"), ("priority", "7"), ("priority", "-5"), ("priority", "266"), ("expiration", "-1"),
        ("expiration", "\"0\""), ("collapse-id", "\"\""), ("collapse-id", "1"),
        ("collapse-id", "\"\(String(repeating: "x", count: 65))\""), ("accepted-at", "true"),
    ])
    func `a member with the wrong type or range is refused`(key: String, value: String) {
        #expect(throws: NotificationEventError.malformed(member: key)) {
            try NotificationEvent.decode(data: Self.data(replacing: key, by: value))
        }
    }

    @Test(arguments: ["", "null", "[]", "{", "{\"id\":1", "{\"id\":}", "{}x"])
    func `input that is not a JSON object is refused`(text: String) {
        let error = #expect(throws: NotificationEventError.self) { try NotificationEvent.decode(data: bytes(text)) }
        guard case .notJSON = error else {
            Issue.record("It is \(String(describing: error)) instead.")
            return
        }
    }

    @Test(arguments: ["\"e30\"", "\"e30=\""])
    func `a payload in base64 is decoded`(value: String) throws {
        let data = bytes("{\"payload-base64\":\(value),") + Self.data(replacing: "payload", by: nil).dropFirst()
        #expect(try NotificationEvent.decode(data: data).payload == bytes("{}"))
    }

    @Test(arguments: ["\"e3\"", "\"?\"", "1"])
    func `a payload in malformed base64 is refused`(value: String) {
        let data = bytes("{\"payload-base64\":\(value),") + Self.data(replacing: "payload", by: nil).dropFirst()
        #expect(throws: NotificationEventError.malformed(member: "payload-base64")) {
            try NotificationEvent.decode(data: data)
        }
    }

    /// Writes an event to a stream, parses the stream, and reads the event.
    private func roundTrip(_ pending: PendingNotification, app: TopicName? = "app") throws -> ReceivedNotification {
        var output: [UInt8] = []
        NotificationEvent.append(pending, app: app, to: &output)
        var parser = EventStreamParser()
        var events: [EventStreamEvent] = []
        try parser.receive(output.span) { events.append($0) }
        guard case .event(NotificationEvent.name, "\(pending.sequence)", let data) = events.first, events.count == 1
        else {
            throw UnexpectedEvents(events: events)
        }
        return try NotificationEvent.decode(data: data)
    }

    private struct UnexpectedEvents: Error {
        var events: [EventStreamEvent]
    }
}
