// SPDX-License-Identifier: Apache-2.0

/// Why a device's message cannot be followed.
package enum StreamMessageError: Error, Equatable, Sendable {
    /// It is not one JSON object.
    case notJSON(JSONError)
    /// It has no member that says what it is.
    case unknownKind
    /// An acknowledgement, counted from 0, lacks a number or an outcome, or has a wrong one, or a reason that is no text.
    case malformedAcknowledgement(index: Int)
    /// There are more acknowledgements than in one message may be.
    case tooManyAcknowledgements

    /// What to do, for the person who writes the device's program; at most 123 bytes, which fit into a close frame.
    package var advice: String {
        switch self {
        case .notJSON(let error): "send one JSON object a message; byte \(error.offset) is wrong"
        case .unknownKind: "send {\"acks\":[{\"id\":ID,\"outcome\":\"delivered\"}]}"
        case .malformedAcknowledgement(let index):
            "acks[\(index)] needs a number as id, delivered, shown, viewed, closed or suppressed as outcome; reason is text"
        case .tooManyAcknowledgements: "send at most \(Limits.acknowledgementBatchCountMax) acks in a message"
        }
    }
}

/// What a server sends.
package enum ServerMessage: Equatable, Sendable {
    /// The data of a notification, for `NotificationEvent.decode`.
    case notification(data: [UInt8])
    /// The server's policies have this version.
    case policy(PolicyNotice)
    /// The server ends the stream.
    case goodbye(StreamGoodbye)
    /// Something that later servers may send.
    case unknown
}

extension StreamMessage {
    /// Reads what a server sent.
    ///
    /// - Parameter text: One message.
    /// - Returns: What it says.
    /// - Throws: Where it is not JSON.
    package static func fromServer(_ text: Span<UInt8>) throws(JSONError) -> ServerMessage {
        for (key, range) in try JSONValue.memberRanges(in: text) {
            if key.utf8.elementsEqual(Key.notification.utf8) {
                var data: [UInt8] = []
                data.append(text.extracting(range))
                return .notification(data: data)
            }
            if key.utf8.elementsEqual(Key.policy.utf8) {
                return PolicyNotice(data: text.extracting(range)).map { .policy($0) } ?? .unknown
            }
            if key.utf8.elementsEqual(Key.goodbye.utf8) { return .goodbye(StreamGoodbye(data: text.extracting(range))) }
        }
        return .unknown
    }

    /// Reads what a device acknowledges, in one pass; allocates the list alone, and reasons where there are any.
    ///
    /// - Parameter text: One message; members that are not known are ignored.
    /// - Returns: In the order of the message.
    /// - Throws: What is wrong, with `advice`.
    package static func fromDevice(_ text: Span<UInt8>) throws(StreamMessageError) -> [DeviceAPI.Acknowledgement] {
        var reader = AcknowledgementReader()
        do {
            try reader.readMessage(text)
        } catch {
            throw .notJSON(error)
        }
        if let refusal = reader.refusal { throw refusal }
        guard reader.isFound else { throw .unknownKind }
        return reader.acknowledgements
    }
}

/// Walks over a device's message.
private struct AcknowledgementReader {
    var acknowledgements: [DeviceAPI.Acknowledgement] = []
    /// There was a list, however short.
    var isFound = false
    /// What is wrong with JSON that is right; the walk goes on, so that wrong JSON is what the device hears of first.
    var refusal: StreamMessageError?
    private var scanner = JSONScanner()

    /// Reads one object with nothing but blanks around it.
    mutating func readMessage(_ text: Span<UInt8>) throws(JSONError) {
        scanner.skipBlanks(text)
        guard scanner.peek(text) == UInt8(ascii: "{") else { throw scanner.failure(.isNotObject, text) }
        var isMore = scanner.enterContainer(text, closingBracket: UInt8(ascii: "}"))
        while isMore {
            let name = try scanner.skipName(text)
            if text.extracting(name).isEqual(to: StreamMessage.Key.acknowledgements),
                scanner.peek(text) == UInt8(ascii: "[")
            {
                try readList(text)
            } else {
                try scanner.skipValue(text, outerDepth: 1)
            }
            isMore = try scanner.skipSeparator(text, closingBracket: UInt8(ascii: "}"))
        }
        scanner.skipBlanks(text)
        guard scanner.peek(text) == nil else { throw scanner.failure(.hasMoreBehind, text) }
    }

    private mutating func readList(_ text: Span<UInt8>) throws(JSONError) {
        isFound = true
        var isMore = scanner.enterContainer(text, closingBracket: UInt8(ascii: "]"))
        while isMore {
            if acknowledgements.count >= Limits.acknowledgementBatchCountMax { refuse(.tooManyAcknowledgements) }
            let acknowledgement = try readAcknowledgement(text)
            if refusal == nil, let acknowledgement { acknowledgements.append(acknowledgement) }
            if acknowledgement == nil { refuse(.malformedAcknowledgement(index: acknowledgements.count)) }
            isMore = try scanner.skipSeparator(text, closingBracket: UInt8(ascii: "]"))
        }
    }

    /// Nil when it is none.
    private mutating func readAcknowledgement(
        _ text: Span<UInt8>
    ) throws(JSONError) -> DeviceAPI.Acknowledgement? {
        guard scanner.peek(text) == UInt8(ascii: "{") else {
            try scanner.skipValue(text, outerDepth: 2)
            return nil
        }
        var (id, outcome): (Int64?, DeviceAPI.Outcome?)
        var reason = JSONValue.null
        var isMore = scanner.enterContainer(text, closingBracket: UInt8(ascii: "}"))
        while isMore {
            let name = text.extracting(try scanner.skipName(text))
            let start = scanner.offset
            try scanner.skipValue(text, outerDepth: 3)
            let value = text.extracting(start..<scanner.offset)
            if name.isEqual(to: "id") {
                id = Decimal.parse(value)
            } else if name.isEqual(to: "outcome") {
                outcome = Self.outcome(value)
            } else if name.isEqual(to: "reason") {
                reason = try JSONValue(parsing: value)
            }
            isMore = try scanner.skipSeparator(text, closingBracket: UInt8(ascii: "}"))
        }
        guard let id, let outcome, reason.isNull || reason.string != nil else { return nil }
        return .init(id: id, outcome: outcome, reason: reason.string)
    }

    private mutating func refuse(_ error: StreamMessageError) { refusal = refusal ?? error }

    private static func outcome(_ value: Span<UInt8>) -> DeviceAPI.Outcome? {
        guard value.count > 2, value[0] == UInt8(ascii: "\"") else { return nil }
        let word = value.extracting(1..<value.count - 1)
        return DeviceAPI.Outcome.allCases.first { word.isEqual(to: $0.rawValue) }
    }
}
