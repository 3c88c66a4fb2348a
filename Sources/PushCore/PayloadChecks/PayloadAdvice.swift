// SPDX-License-Identifier: Apache-2.0

/// Says to people what is wrong with a payload that is no JSON.
package enum PayloadAdvice {
    /// One sentence about an error: where it is, what was expected, and the key around it if APNs knows that key.
    ///
    /// - Parameters:
    ///   - error: What the scanner found.
    ///   - payload: The bytes in which it was found.
    /// - Returns: Printable ASCII, at most 200 bytes, with nothing of the payload's own text.
    package static func sentence(for error: JSONError, in payload: Span<UInt8>) -> String {
        "byte \(error.offset): \(error.problem.sentence)"
    }
}
