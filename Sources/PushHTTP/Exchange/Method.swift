// SPDX-License-Identifier: Apache-2.0

/// The method of a request, as far as anyone here tells methods apart.
package enum Method: Sendable {
    /// `GET`
    case get
    /// `HEAD`
    case head
    /// `POST`
    case post
    /// `PUT`
    case put
    /// `PATCH`
    case patch
    /// `DELETE`
    case delete
    /// Any other; methods are case-sensitive, so `get` is one of these.
    case other

    /// Reads a method's name; case counts.
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
