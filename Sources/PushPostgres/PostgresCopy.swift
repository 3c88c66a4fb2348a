// SPDX-License-Identifier: Apache-2.0

package import PushSQL

/// The rows of a running `COPY … FROM STDIN (FORMAT binary)`.
///
/// Release it only after `finish`: without the end of the COPY, the connection is unusable, and the transaction is
/// rolled back when it closes.
package final class PostgresCopyIn {
    private static let partByteCount = 64 << 10

    private let handle: PostgresHandle
    private let text: String
    private var encoder: CopyEncoder
    private var isFinished = false

    /// Continues a COPY that has begun.
    init(_ text: String, _ columns: [CopyColumn], on handle: PostgresHandle) {
        self.handle = handle
        self.text = text
        encoder = CopyEncoder(columns)
    }

    deinit { if !isFinished { handle.abandon() } }

    /// Adds a row; its values have the types of the columns.
    package func append(_ row: [SQLValue]) throws(SQLError) {
        encoder.append(row)
        if encoder.byteCount >= Self.partByteCount { try send() }
    }

    /// Ends the COPY.
    ///
    /// - Returns: The number of rows that the server stored.
    /// - Throws: The error of the first row that the server refused.
    package func finish() throws(SQLError) -> Int {
        encoder.appendEnd()
        try send()
        isFinished = true
        return try handle.endCopyIn(text)
    }

    private func send() throws(SQLError) {
        do throws(SQLError) { try handle.putCopyData(encoder.take(), about: text) } catch {
            // A server that refused a row has ended the COPY, and the connection can still be used.
            isFinished = true
            throw error
        }
    }
}

/// The rows of a running `COPY … TO STDOUT (FORMAT binary)`.
///
/// Release it only after the last row: before, the connection becomes unusable.
package final class PostgresCopyOut {
    private let handle: PostgresHandle
    private let text: String
    private var decoder: CopyDecoder
    private var isFinished = false

    /// Continues a COPY that has begun.
    init(_ text: String, _ columns: [CopyColumn], on handle: PostgresHandle) {
        self.handle = handle
        self.text = text
        decoder = CopyDecoder(columns)
    }

    deinit { if !isFinished { handle.abandon() } }

    /// Returns the next row; nil after the last one.
    package func next() throws(SQLError) -> [SQLValue]? {
        while !isFinished {
            do throws(CopyDecoder.Malformed) {
                if let row = try decoder.next() { return row }
            } catch {
                throw SQLError(kind: .refused, code: "08P01", message: error.what, subject: text)
            }
            do throws(SQLError) {
                guard let more = try handle.copyData(about: text) else {
                    isFinished = true
                    break
                }
                decoder.append(more)
            } catch {
                isFinished = true
                throw error
            }
        }
        guard decoder.isComplete else {
            throw SQLError(kind: .refused, code: "08P01", message: "the end of the rows is missing", subject: text)
        }
        return nil
    }
}

extension PostgresConnection {
    /// Begins a COPY from this program to a table.
    ///
    /// - Parameters:
    ///   - text: `COPY … FROM STDIN (FORMAT binary)`.
    ///   - columns: The types of the columns.
    /// - Returns: The receiver of the rows.
    /// - Throws: The error that the server returned.
    package func copyIn(_ text: String, _ columns: [CopyColumn]) throws(SQLError) -> PostgresCopyIn {
        try handle.beginCopy(text)
        return PostgresCopyIn(text, columns, on: handle)
    }

    /// Begins a COPY from a table or a query to this program.
    ///
    /// - Parameters:
    ///   - text: `COPY … TO STDOUT (FORMAT binary)`.
    ///   - columns: The types of the columns.
    /// - Returns: The source of the rows.
    /// - Throws: The error that the server returned.
    package func copyOut(_ text: String, _ columns: [CopyColumn]) throws(SQLError) -> PostgresCopyOut {
        try handle.beginCopy(text)
        return PostgresCopyOut(text, columns, on: handle)
    }
}
