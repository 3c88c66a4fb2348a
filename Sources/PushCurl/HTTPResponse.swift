// SPDX-License-Identifier: Apache-2.0

/// A response to a request.
package struct HTTPResponse: Sendable {
    /// The status, 200 or higher; interim responses are skipped.
    package var status: Int
    /// The fields, with lowercase names and trimmed values; invalid UTF-8 is replaced.
    package var fields: [(String, String)]
    /// The body; empty for a stream, whose pieces went to `onBody`.
    package var body: [UInt8]
    /// Whether the response came over HTTP/2; false for HTTP/1.
    package var isHTTP2: Bool
    /// The number of connections that were opened for the response: 0 if one was reused.
    var newConnectionCount: Int

    package init(
        status: Int, fields: [(String, String)] = [], body: [UInt8] = [], isHTTP2: Bool = false,
        newConnectionCount: Int = 0
    ) {
        self.status = status
        self.fields = fields
        self.body = body
        self.isHTTP2 = isHTTP2
        self.newConnectionCount = newConnectionCount
    }

    /// Returns the first value of a field; the name must be in lower case.
    package func value(of name: String) -> String? {
        fields.first { $0.0.utf8.elementsEqual(name.utf8) }?.1
    }
}
