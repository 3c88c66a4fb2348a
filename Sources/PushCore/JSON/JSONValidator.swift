// SPDX-License-Identifier: Apache-2.0

/// Validates a JSON text in one pass without allocation.
///
/// The text must be valid UTF-8 without a byte order mark. Escaped surrogates must be paired. At most
/// `Limits.jsonDepthMax` containers may nest. Only whitespace may surround the value. Duplicate names in an object are
/// allowed, because the server passes providers' payloads on unchanged.
///
/// - SeeAlso: RFC 8259
package enum JSONValidator {
    /// Validates a text whose outermost value is an object.
    package static func validateObject(_ bytes: Span<UInt8>) throws(JSONError) {
        var scanner = JSONScanner()
        scanner.skipBlanks(bytes)
        guard scanner.peek(bytes) == UInt8(ascii: "{") else { throw scanner.failure(.isNotObject, bytes) }
        try validateRest(bytes, &scanner)
    }

    /// Validates a text with any value.
    package static func validate(_ bytes: Span<UInt8>) throws(JSONError) {
        var scanner = JSONScanner()
        scanner.skipBlanks(bytes)
        try validateRest(bytes, &scanner)
    }

    /// Validates one value and checks that only whitespace follows it.
    @inline(__always)
    private static func validateRest(_ bytes: Span<UInt8>, _ scanner: inout JSONScanner) throws(JSONError) {
        try scanner.skipValue(bytes)
        scanner.skipBlanks(bytes)
        guard scanner.peek(bytes) == nil else { throw scanner.failure(.hasMoreBehind, bytes) }
    }
}
