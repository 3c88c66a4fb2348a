// SPDX-License-Identifier: Apache-2.0

/// Names of hosts as DNS has them.
enum HostName {
    private static let byteCountMax = 253
    private static let labelByteCountMax = 63

    /// Whether a text is one, in ASCII, perhaps with a star as its first label.
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

    /// The name in lower case, without the dot that may end it; nil when it is none.
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
