// SPDX-License-Identifier: Apache-2.0

/// Validation of DNS host names.
enum HostName {
    private static let byteCountMax = 253
    private static let labelByteCountMax = 63

    /// Returns whether a text is a host name in ASCII, optionally with an asterisk as its first label.
    ///
    /// - Parameters:
    ///   - name: The text in ASCII.
    ///   - allowsWildcard: Whether the first label may be an asterisk.
    /// - Returns: Whether the text is valid.
    ///
    /// - SeeAlso: RFC 1123, section 2.1
    static func isValid(_ name: some Collection<UInt8>, allowingWildcard allowsWildcard: Bool = false) -> Bool {
        let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard name.count <= byteCountMax, let first = labels.first else { return false }
        let isWildcard = allowsWildcard && first.elementsEqual("*".utf8) && labels.count > 1
        return labels.dropFirst(isWildcard ? 1 : 0).allSatisfy { label in
            (1...labelByteCountMax).contains(label.count) && label.allSatisfy(isNameByte)
                && label.first != UInt8(ascii: "-") && !label.suffix(1).elementsEqual("-".utf8)
        }
    }

    /// Returns the name in lower case without a trailing dot; nil if it is not a host name.
    static func normalized(_ given: some Collection<UInt8>) -> String? {
        let name = given.dropLast(given.count > 1 && given.suffix(1).elementsEqual(".".utf8) ? 1 : 0)
        guard isValid(name) else { return nil }
        let isUpperCase = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return String(decoding: name.map { isUpperCase.contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
