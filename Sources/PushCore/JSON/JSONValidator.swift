// SPDX-License-Identifier: Apache-2.0

/// Checks that bytes are one JSON text, in one pass and without an allocation.
///
/// Strict: valid UTF-8 without a byte order mark, no escaped half of a surrogate pair, at most `Limits.jsonDepthMax`
/// arrays and objects in each other, nothing but blanks around the value. A name that comes twice in an object is
/// allowed, because providers' notifications are passed on as they are.
///
/// - SeeAlso: RFC 8259
package enum JSONValidator {
    /// Checks a text whose outermost value is an object.
    package static func validateObject(_ bytes: Span<UInt8>) throws(JSONError) {
        var scanner = JSONScanner()
        scanner.skipBlanks(bytes)
        guard scanner.peek(bytes) == UInt8(ascii: "{") else { throw scanner.failure(.isNotObject, bytes) }
        try validateRest(bytes, &scanner)
    }

    /// Checks a text with any value.
    package static func validate(_ bytes: Span<UInt8>) throws(JSONError) {
        var scanner = JSONScanner()
        scanner.skipBlanks(bytes)
        try validateRest(bytes, &scanner)
    }

    /// Checks one value and that nothing but blanks is behind it.
    @inline(__always)
    private static func validateRest(_ bytes: Span<UInt8>, _ scanner: inout JSONScanner) throws(JSONError) {
        try scanner.skipValue(bytes)
        scanner.skipBlanks(bytes)
        guard scanner.peek(bytes) == nil else { throw scanner.failure(.hasMoreBehind, bytes) }
    }
}
