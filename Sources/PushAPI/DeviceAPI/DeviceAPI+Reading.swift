// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// The reason why the body of a device's request is invalid.
package enum DeviceBodyError: Error, Equatable, Sendable {
    /// The body is not one JSON object.
    case notJSON(JSONError)
    /// A member is missing or of the wrong type; the text begins with its name.
    case malformed(String)
    /// The list is longer than `countMax`.
    case tooMany(countMax: Int)
}

extension DeviceAPI.Acknowledgements {
    /// Reads the body of `POST /v1/acks` in one pass; keeps at most `Limits.acknowledgementBatchCountMax`.
    ///
    /// - Parameter text: One JSON object; unknown members are ignored.
    /// - Throws: `DeviceBodyError`.
    package init(reading text: Span<UInt8>) throws(DeviceBodyError) {
        var reader = AcknowledgementReader()
        do throws(JSONError) { try reader.readMessage(text) } catch { throw .notJSON(error) }
        if case .tooManyAcknowledgements = reader.refusal {
            throw .tooMany(countMax: Limits.acknowledgementBatchCountMax)
        }
        guard reader.isFound, reader.refusal == nil else { throw .malformed(reader.defect) }
        self.init(acks: reader.acknowledgements)
    }
}

extension DeviceAPI.Filter {
    /// Reads the body of `PUT /v1/filter` in one pass; keeps at most `Limits.filterTopicCountMax` topics.
    ///
    /// - Parameter text: One JSON object; unknown members are ignored.
    /// - Throws: `DeviceBodyError`.
    package init(reading text: Span<UInt8>) throws(DeviceBodyError) {
        var reader = FilterReader()
        do throws(JSONError) { try reader.read(text) } catch { throw .notJSON(error) }
        if let refusal = reader.refusal { throw refusal }
        guard let topics = reader.topics else { throw .malformed("refused_topics is missing.") }
        self.init(refusedTopics: topics)
    }
}

/// Parses the body of `PUT /v1/filter`.
private struct FilterReader {
    var topics: [TopicName]?
    /// The defect of a syntactically valid body.
    ///
    /// Parsing continues after such a defect, because a syntax error takes precedence.
    var refusal: DeviceBodyError?
    private var scanner = JSONScanner()

    mutating func read(_ text: Span<UInt8>) throws(JSONError) {
        scanner.skipBlanks(text)
        guard scanner.peek(text) == UInt8(ascii: "{") else { throw scanner.failure(.isNotObject, text) }
        var isMore = scanner.enterContainer(text, closingBracket: UInt8(ascii: "}"))
        while isMore {
            let name = try scanner.skipName(text)
            if text.extracting(name).equals("refused_topics") {
                try readTopics(text)
            } else {
                try scanner.skipValue(text, outerDepth: 1)
            }
            isMore = try scanner.skipSeparator(text, closingBracket: UInt8(ascii: "}"))
        }
        scanner.skipBlanks(text)
        guard scanner.peek(text) == nil else { throw scanner.failure(.hasMoreBehind, text) }
    }

    private mutating func readTopics(_ text: Span<UInt8>) throws(JSONError) {
        guard scanner.peek(text) == UInt8(ascii: "[") else {
            refuse(.malformed("refused_topics must be a list."))
            return try scanner.skipValue(text, outerDepth: 1)
        }
        var list: [TopicName] = []
        var index = 0
        var isMore = scanner.enterContainer(text, closingBracket: UInt8(ascii: "]"))
        while isMore {
            if index >= Limits.filterTopicCountMax { refuse(.tooMany(countMax: Limits.filterTopicCountMax)) }
            if refusal == nil, scanner.peek(text) == UInt8(ascii: "\"") {
                list.append(TopicName(try scanner.readString(text)))
            } else {
                if scanner.peek(text) != UInt8(ascii: "\"") {
                    refuse(.malformed("refused_topics[\(index)] must be a string."))
                }
                try scanner.skipValue(text, outerDepth: 2)
            }
            index += 1
            isMore = try scanner.skipSeparator(text, closingBracket: UInt8(ascii: "]"))
        }
        topics = list
    }

    private mutating func refuse(_ error: DeviceBodyError) { refusal = refusal ?? error }
}
