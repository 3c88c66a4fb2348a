// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// The reason why a device's message is invalid.
package enum StreamMessageError: Error, Equatable, Sendable {
    /// The message is not one JSON object.
    case notJSON(JSONError)
    /// No member identifies the kind of message.
    case unknownKind
    /// An acknowledgement is invalid; `index` counts from 0.
    ///
    /// Its ID or outcome is missing or invalid, or its reason is not a string.
    case malformedAcknowledgement(index: Int)
    /// The message has more acknowledgements than the limit.
    case tooManyAcknowledgements

    /// The remedy for the author of the device's program; at most 123 bytes, the capacity of a close frame.
    package var advice: String {
        switch self {
        case .notJSON(let error): "send one JSON object per message; syntax error at byte \(error.offset)"
        case .unknownKind: "send {\"acks\":[{\"id\":ID,\"outcome\":\"delivered\"}]}"
        case .malformedAcknowledgement(let index):
            "acks[\(index)]: id is a number, outcome is delivered, shown, viewed, closed or suppressed, "
                + "reason is a string"
        case .tooManyAcknowledgements: "send at most \(Limits.acknowledgementBatchCountMax) acks per message"
        }
    }
}

/// A message from the server.
package enum ServerMessage: Equatable, Sendable {
    /// The data of a notification, for `NotificationEvent.decode`.
    case notification(data: [UInt8])
    /// The version of the server's policies, or of the authorities that it announces.
    case version(VersionNotice)
    /// The end of the stream.
    case goodbye(StreamGoodbye)
    /// A message of a later version of the server.
    case unknown
}

extension StreamMessage {
    /// Parses a message from the server.
    ///
    /// - Parameter text: One message.
    /// - Returns: The parsed message.
    /// - Throws: `JSONError`, when the message is not JSON.
    package static func fromServer(_ text: Span<UInt8>) throws(JSONError) -> ServerMessage {
        for (key, range) in try JSONValue.memberRanges(in: text) {
            if key.utf8.elementsEqual(Key.notification.utf8) {
                var data: [UInt8] = []
                data.append(text.extracting(range))
                return .notification(data: data)
            }
            if let kind = VersionNotice.Kind.allCases.first(where: { key.utf8.elementsEqual($0.rawValue.utf8) }) {
                return VersionNotice(kind, data: text.extracting(range)).map { .version($0) } ?? .unknown
            }
            if key.utf8.elementsEqual(Key.goodbye.utf8) { return .goodbye(StreamGoodbye(data: text.extracting(range))) }
        }
        return .unknown
    }

    /// Parses a device's acknowledgements in one pass; allocates only the list and the reasons.
    ///
    /// - Parameter text: One message; unknown members are ignored.
    /// - Returns: The acknowledgements, in the order of the message.
    /// - Throws: `StreamMessageError`, with `advice`.
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

/// Parses a device's message, or the body of `POST /v1/acks`.
struct AcknowledgementReader {
    var acknowledgements: [DeviceAPI.Acknowledgement] = []
    /// Whether the message contains a list, even an empty one.
    var isFound = false
    /// The defect of a syntactically valid message.
    ///
    /// Parsing continues after such a defect, because a syntax error takes precedence.
    var refusal: StreamMessageError?
    /// The invalid member and its defect, for the response to a request; a close frame is too small for it.
    private(set) var defect = "acks is missing."
    private var scanner = JSONScanner()

    /// Reads one object that only whitespace may surround.
    mutating func readMessage(_ text: Span<UInt8>) throws(JSONError) {
        scanner.skipBlanks(text)
        guard scanner.peek(text) == UInt8(ascii: "{") else { throw scanner.failure(.isNotObject, text) }
        var isMore = scanner.enterContainer(text, closingBracket: UInt8(ascii: "}"))
        while isMore {
            let isList = try skipName(text)
            if isList, scanner.peek(text) == UInt8(ascii: "[") {
                try readList(text)
            } else {
                let start = scanner.offset
                try scanner.skipValue(text, outerDepth: 1)
                if isList {
                    let isNull = text.extracting(start..<scanner.offset).equals("null")
                    defect = isNull ? "acks must be a list, not null." : "acks must be a list."
                }
            }
            isMore = try scanner.skipSeparator(text, closingBracket: UInt8(ascii: "}"))
        }
        scanner.skipBlanks(text)
        guard scanner.peek(text) == nil else { throw scanner.failure(.hasMoreBehind, text) }
    }

    /// Skips a member's name; returns whether it is the name of the list.
    private mutating func skipName(_ text: Span<UInt8>) throws(JSONError) -> Bool {
        // The agent writes the name of the list in this form, without whitespace.
        if scanner.take(#""acks":"#, text) {
            scanner.skipBlanks(text)
            return true
        }
        return text.extracting(try scanner.skipName(text)).equals(StreamMessage.Key.acknowledgements)
    }

    private mutating func readList(_ text: Span<UInt8>) throws(JSONError) {
        isFound = true
        var isMore = scanner.enterContainer(text, closingBracket: UInt8(ascii: "]"))
        while isMore {
            if acknowledgements.count >= Limits.acknowledgementBatchCountMax { refuse(.tooManyAcknowledgements) }
            let acknowledgement = try readAcknowledgement(text)
            if refusal == nil { take(acknowledgement) }
            isMore = try scanner.skipSeparator(text, closingBracket: UInt8(ascii: "]"))
        }
    }

    private mutating func take(_ acknowledgement: DeviceAPI.Acknowledgement?) {
        if let acknowledgement { return acknowledgements.append(acknowledgement) }
        defect = "acks[\(acknowledgements.count)]\(defect)"
        refuse(.malformedAcknowledgement(index: acknowledgements.count))
    }

    /// Reads an acknowledgement in the form that the agent writes; the offset stays if it has another form.
    ///
    /// Nearly all messages of a connected device have this form. Reading any other takes five times the instructions.
    ///
    /// - Parameter text: The message.
    /// - Returns: The acknowledgement; nil if it has another form or is invalid.
    private mutating func takeCompact(_ text: Span<UInt8>) -> DeviceAPI.Acknowledgement? {
        var ahead = scanner
        guard ahead.take(#"{"id":"#, text), let id = ahead.takePositiveInteger(text),
            ahead.take(#","outcome":""#, text)
        else { return nil }
        for outcome in DeviceAPI.Outcome.allCases where ahead.take(outcome.literal, text) {
            guard ahead.take(#""}"#, text) else { return nil }
            scanner = ahead
            return .init(id: id, outcome: outcome)
        }
        return nil
    }

    /// Reads one acknowledgement; returns nil if it is invalid, and stores the reason in `defect`.
    private mutating func readAcknowledgement(
        _ text: Span<UInt8>
    ) throws(JSONError) -> DeviceAPI.Acknowledgement? {
        if let compact = takeCompact(text) { return compact }
        guard scanner.peek(text) == UInt8(ascii: "{") else {
            try scanner.skipValue(text, outerDepth: 2)
            defect = " must be an object."
            return nil
        }
        var (id, outcome): (Int64?, DeviceAPI.Outcome?)
        var (hasID, hasOutcome) = (false, false)
        var reason = JSONValue.null
        var isMore = scanner.enterContainer(text, closingBracket: UInt8(ascii: "}"))
        while isMore {
            let name = text.extracting(try scanner.skipName(text))
            let start = scanner.offset
            try scanner.skipValue(text, outerDepth: 3)
            let value = text.extracting(start..<scanner.offset)
            if name.equals("id") {
                (id, hasID) = (Decimal.parse(value), true)
            } else if name.equals("outcome") {
                (outcome, hasOutcome) = (Self.outcome(value), true)
            } else if name.equals("reason") {
                reason = try JSONValue(parsing: value)
            }
            isMore = try scanner.skipSeparator(text, closingBracket: UInt8(ascii: "}"))
        }
        guard let id, let outcome, reason.isNull || reason.string != nil else {
            defect =
                id == nil
                ? (hasID ? ".id must be a whole number." : ".id is missing.")
                : outcome == nil
                    ? (hasOutcome ? ".outcome is invalid: see the device protocol." : ".outcome is missing.")
                    : ".reason must be a string."
            return nil
        }
        return .init(id: id, outcome: outcome, reason: reason.string)
    }

    private mutating func refuse(_ error: StreamMessageError) { refusal = refusal ?? error }

    private static func outcome(_ value: Span<UInt8>) -> DeviceAPI.Outcome? {
        guard value.count > 2, value[0] == UInt8(ascii: "\"") else { return nil }
        let word = value.extracting(1..<value.count - 1)
        return DeviceAPI.Outcome.allCases.first { word.equals($0.literal) }
    }
}

extension DeviceAPI.Outcome {
    /// The raw value as a literal, which is compared without the overhead of a `String`.
    fileprivate var literal: StaticString {
        switch self {
        case .delivered: "delivered"
        case .shown: "shown"
        case .viewed: "viewed"
        case .closed: "closed"
        case .suppressed: "suppressed"
        }
    }
}
