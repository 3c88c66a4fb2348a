// SPDX-License-Identifier: Apache-2.0

/// An answer.
package struct HTTPResponse: Sendable {
    /// From 200; interim answers are skipped.
    package var status: Int
    /// Names in lower case, values without surrounding blanks; bytes that are no UTF-8 are replaced.
    package var fields: [(String, String)]
    /// Empty for a stream, whose pieces went to `onBody`.
    package var body: [UInt8]
    /// False for HTTP/1.
    package var isHTTP2: Bool
    /// Connections that were opened for it: 0 when one was used again.
    package var newConnectionCount: Int

    /// Joins the parts.
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

    /// The first value of a field, by its name in lower case.
    package func value(of name: String) -> String? {
        fields.first { $0.0.utf8.elementsEqual(name.utf8) }?.1
    }
}
