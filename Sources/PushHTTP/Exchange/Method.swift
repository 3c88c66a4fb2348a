// SPDX-License-Identifier: Apache-2.0

/// The method of a request, with one case for each method that the program distinguishes.
package enum Method: Sendable {
    case get
    case head
    case post
    case put
    case patch
    case delete
    /// Any other method; methods are case-sensitive, so `get` is one of these.
    case other

    /// Parses a method's name, case-sensitively.
    ///
    /// - SeeAlso: RFC 9110, section 9.1
    init(_ name: Span<UInt8>) {
        self =
            if name.equals("POST") {
                .post
            } else if name.equals("GET") {
                .get
            } else if name.equals("PUT") {
                .put
            } else if name.equals("DELETE") {
                .delete
            } else if name.equals("PATCH") {
                .patch
            } else if name.equals("HEAD") {
                .head
            } else {
                .other
            }
    }
}
