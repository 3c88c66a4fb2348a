// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The target of an admin API request: the words of its path after `/v1/`, and the parameters after `?`.
struct AdminTarget: Equatable {
    /// The words after `/v1/`, with percent escapes decoded; at least one.
    let words: [String]
    /// The parameters in the order of the text, with percent escapes decoded.
    let parameters: [Parameter]

    struct Parameter: Equatable {
        let name: String
        let value: String
    }

    /// The reason why a path is not a target.
    enum Problem: Error {
        /// The path does not start with `/v1/`.
        case isElsewhere
        /// A percent sign is not followed by a byte, or the bytes are not UTF-8.
        case isNoText
    }

    /// Parses the value of `:path`.
    ///
    /// - Parameter path: Any bytes.
    /// - Throws: The problem with the path.
    init(_ path: ArraySlice<UInt8>) throws(Problem) {
        let parts = path.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let bare = parts.first, bare.starts(with: "/v1/".utf8) else { throw .isElsewhere }
        var words: [String] = []
        for word in bare.dropFirst("/v1/".utf8.count).split(separator: 0x2F, omittingEmptySubsequences: false) {
            words.append(try Self.text(word))
        }
        var parameters: [Parameter] = []
        for parameter in (parts.count > 1 ? parts[1] : []).split(separator: UInt8(ascii: "&")) {
            let halves = parameter.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            parameters.append(
                Parameter(name: try Self.text(halves[0]), value: try halves.count > 1 ? Self.text(halves[1]) : ""))
        }
        self.words = words
        self.parameters = parameters
    }

    /// Decodes percent escapes.
    ///
    /// - SeeAlso: RFC 3986, section 2.1
    private static func text(_ escaped: ArraySlice<UInt8>) throws(Problem) -> String {
        var bytes: [UInt8] = []
        var rest = escaped
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = Array(rest.prefix(2))
            guard digits.count == 2, let resolved = Hex.decode(digits.span) else { throw .isNoText }
            bytes += resolved
            rest = rest.dropFirst(2)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .isNoText }
        return text
    }
}
