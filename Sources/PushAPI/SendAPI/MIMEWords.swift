// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Header values with characters outside ASCII, `=?UTF-8?B?…?=`.
///
/// - SeeAlso: RFC 2047
package enum MIMEWords {
    /// Decodes the encoded words of a header value; what is no valid word in UTF-8 stays as it is.
    package static func decode(_ value: String) -> String {
        var output = ""
        var rest = value[...]
        var endsWithWord = false
        while let start = rest.range(of: "=?") {
            guard let word = EncodedWord(rest[start.lowerBound...]) else {
                output += rest[..<start.upperBound]
                rest = rest[start.upperBound...]
                endsWithWord = false
                continue
            }
            let before = rest[..<start.lowerBound]
            // Space between two encoded words is no part of the text.
            if !endsWithWord || !before.allSatisfy(\.isWhitespace) { output += before }
            output += word.text
            rest = word.rest
            endsWithWord = true
        }
        return output + rest
    }

    private struct EncodedWord {
        let text: String
        let rest: Substring

        /// Reads a word at the start of a text.
        init?(_ source: Substring) {
            let parts = source.dropFirst(2).split(separator: "?", maxSplits: 3, omittingEmptySubsequences: false)
            guard parts.count == 4, parts[0].lowercased() == "utf-8", parts[3].first == "=" else { return nil }
            let bytes: [UInt8]?
            switch parts[1].lowercased() {
            case "b": bytes = Base64.decode(Array(parts[2].utf8).span)
            case "q": bytes = Self.unquoted(parts[2])
            default: bytes = nil
            }
            guard let bytes, let text = String(validating: bytes, as: UTF8.self) else { return nil }
            self.text = text
            rest = parts[3].dropFirst()
        }

        private static func unquoted(_ text: Substring) -> [UInt8]? {
            var bytes: [UInt8] = []
            var rest = Array(text.utf8)[...]
            while let byte = rest.popFirst() {
                switch byte {
                case UInt8(ascii: "_"): bytes.append(UInt8(ascii: " "))
                case UInt8(ascii: "="):
                    guard let decoded = Hex.decode(Array(rest.prefix(2)).span), decoded.count == 1 else { return nil }
                    bytes += decoded
                    rest = rest.dropFirst(2)
                default: bytes.append(byte)
                }
            }
            return bytes
        }
    }
}

extension Substring {
    /// Returns the first range of another text.
    fileprivate func range(of other: String) -> Range<Index>? {
        var place = startIndex
        while place < endIndex {
            if self[place...].hasPrefix(other) { return place..<index(place, offsetBy: other.count) }
            place = index(after: place)
        }
        return nil
    }
}
