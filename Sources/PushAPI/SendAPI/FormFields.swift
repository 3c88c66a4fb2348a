// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The names and values of a query, or of a form's body.
///
/// - SeeAlso: WHATWG URL, section 5 (application/x-www-form-urlencoded)
package struct FormFields: Equatable, Sendable {
    package struct Field: Equatable, Sendable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package var fields: [Field]

    package init(_ fields: [Field] = []) { self.fields = fields }

    /// Parses `name=value&…`; a broken escape stays as it is.
    ///
    /// Returns nil for more than `Limits.sendParameterCountMax` fields, because decoding them takes too long.
    package init?(urlEncoded bytes: ArraySlice<UInt8>) {
        guard bytes.count(where: { $0 == UInt8(ascii: "&") }) < Limits.sendParameterCountMax else { return nil }
        fields = bytes.split(separator: UInt8(ascii: "&")).map { part in
            let halves = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return Field(Self.decoded(halves[0]), halves.count > 1 ? Self.decoded(halves[1]) : "")
        }
    }

    /// Returns the value of the first field with one of these names, regardless of case.
    package subscript(names: String...) -> String? { first(of: names) }

    /// Returns the value of the first field with one of these names, regardless of case.
    package func first(of names: [String]) -> String? {
        fields.first { field in names.contains { $0.utf8.elementsEqual(field.name.lowercased().utf8) } }?.value
    }

    private static func decoded(_ escaped: ArraySlice<UInt8>) -> String {
        var bytes: [UInt8] = []
        var rest = escaped
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = Array(rest.prefix(2))
                if digits.count == 2, let resolved = Hex.decode(digits.span) {
                    bytes += resolved
                    rest = rest.dropFirst(2)
                } else {
                    bytes.append(byte)
                }
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
