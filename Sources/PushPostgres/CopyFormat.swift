// SPDX-License-Identifier: Apache-2.0

internal import PushSQL

/// The type of a column in the binary format of COPY, which does not contain the types.
package enum CopyColumn: Sendable {
    /// A number of type bigint.
    case bigint
    /// A number of type integer.
    case integer
    case text
    case bytea
}

/// The binary format of COPY, as described in PostgreSQL's manual, page COPY, section "Binary Format".
///
/// ```
/// signature (11)  flags (4)  length of the extension (4), extension
/// each row: number of columns (2), then for each column: length (4), bytes; length -1 for NULL
/// end: -1 (2)
/// ```
/// Numbers are big-endian.
enum CopyFormat {
    static let signature: [UInt8] = Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0]
    static let headerByteCount = 19
    /// The number of columns that stands for the end.
    static let end: Int16 = -1
}

/// Writes rows in the binary format of COPY.
struct CopyEncoder {
    private let columns: [CopyColumn]
    /// The bytes that were not taken yet.
    private var bytes: [UInt8]

    /// Creates an encoder, which begins with the header.
    init(_ columns: [CopyColumn]) {
        self.columns = columns
        bytes = CopyFormat.signature + Array(repeating: 0, count: 8)
    }

    var byteCount: Int { bytes.count }

    /// Adds a row; U+FFFD replaces each NUL in a text, because PostgreSQL does not store NUL.
    mutating func append(_ row: [SQLValue]) {
        precondition(row.count == columns.count, "the row has \(row.count) values for \(columns.count) columns")
        append(Int16(columns.count))
        for (value, column) in zip(row, columns) {
            switch (value, column) {
            case (.null, _): append(Int32(-1))
            case (.number(let number), .bigint):
                append(Int32(8))
                append(number)
            case (.number(let number), .integer):
                guard let short = Int32(exactly: number) else { preconditionFailure("\(number) is no integer") }
                append(Int32(4))
                append(short)
            case (.text(let text), .text): append(Array(PostgresText.storable(text).utf8))
            case (.bytes(let bytes), .bytea): append(bytes)
            case (.number, _), (.text, _), (.bytes, _): preconditionFailure("\(value) is no value of type \(column)")
            }
        }
    }

    /// Adds the end.
    mutating func appendEnd() { append(CopyFormat.end) }

    /// Returns the bytes, and forgets them.
    mutating func take() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    private mutating func append(_ value: [UInt8]) {
        guard let byteCount = Int32(exactly: value.count) else { preconditionFailure("\(value.count) bytes") }
        append(byteCount)
        bytes.append(contentsOf: value)
    }
}

/// Reads rows in the binary format of COPY, which arrive in parts of any size.
struct CopyDecoder {
    /// The reason why bytes are not in the format of the columns.
    struct Malformed: Error, Equatable {
        var what: String
    }

    private let columns: [CopyColumn]
    private var bytes: [UInt8] = []
    private var place = 0
    private var hasHeader = false
    /// Whether the end was read.
    private(set) var isComplete = false

    init(_ columns: [CopyColumn]) { self.columns = columns }

    /// Adds bytes that arrived.
    mutating func append(_ more: [UInt8]) {
        bytes.removeFirst(place)
        place = 0
        bytes.append(contentsOf: more)
    }

    /// Returns the next row; nil if its bytes have not all arrived, and after the last row.
    mutating func next() throws(Malformed) -> [SQLValue]? {
        guard !isComplete, try readHeader() else { return nil }
        var cursor = place
        guard let count: Int16 = number(at: &cursor) else { return nil }
        guard count != CopyFormat.end else {
            isComplete = true
            place = cursor
            return nil
        }
        guard Int(count) == columns.count else {
            throw Malformed(what: "a row has \(count) columns instead of \(columns.count)")
        }
        var row: [SQLValue] = []
        row.reserveCapacity(columns.count)
        for column in columns {
            guard let byteCount: Int32 = number(at: &cursor) else { return nil }
            guard byteCount >= 0 else {
                row.append(.null)
                continue
            }
            guard bytes.count - cursor >= Int(byteCount) else { return nil }
            row.append(try value(column, cursor..<cursor + Int(byteCount)))
            cursor += Int(byteCount)
        }
        place = cursor
        return row
    }

    /// Skips the header; returns false if it has not arrived.
    private mutating func readHeader() throws(Malformed) -> Bool {
        guard !hasHeader else { return true }
        var cursor = CopyFormat.headerByteCount - 4
        guard let extensionByteCount: Int32 = number(at: &cursor) else { return false }
        guard bytes.starts(with: CopyFormat.signature), extensionByteCount >= 0 else {
            throw Malformed(what: "the header is unknown")
        }
        guard bytes.count - cursor >= Int(extensionByteCount) else { return false }
        place = cursor + Int(extensionByteCount)
        hasHeader = true
        return true
    }

    private func value(_ column: CopyColumn, _ range: Range<Int>) throws(Malformed) -> SQLValue {
        var cursor = range.lowerBound
        switch (column, range.count) {
        case (.bigint, 8):
            guard let number: Int64 = number(at: &cursor) else { break }
            return .number(number)
        case (.integer, 4):
            guard let number: Int32 = number(at: &cursor) else { break }
            return .number(Int64(number))
        case (.text, _): return .text(String(decoding: bytes[range], as: UTF8.self))
        case (.bytea, _): return .bytes(Array(bytes[range]))
        case (.bigint, _), (.integer, _): break
        }
        throw Malformed(what: "a number has \(range.count) bytes")
    }

    /// Reads a number; returns nil if it has not arrived.
    private func number<Number: FixedWidthInteger>(at cursor: inout Int) -> Number? {
        let byteCount = Number.bitWidth / 8
        guard bytes.count - cursor >= byteCount else { return nil }
        var number: Number = 0
        for byte in bytes[cursor..<cursor + byteCount] { number = number << 8 | Number(truncatingIfNeeded: byte) }
        cursor += byteCount
        return number
    }
}

/// The texts that PostgreSQL stores.
package enum PostgresText {
    /// Returns a text in which U+FFFD replaces each NUL.
    package static func storable(_ text: String) -> String {
        guard text.utf8.contains(0) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value == 0 ? "\u{FFFD}" : $0 }))
    }
}
