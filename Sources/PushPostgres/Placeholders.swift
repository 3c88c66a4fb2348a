// SPDX-License-Identifier: Apache-2.0

/// An SQL text whose placeholders have PostgreSQL's form.
///
/// As in SQLite, `?` stands for the parameter after the largest one so far, and `?2` for the second one. Quoted texts,
/// quoted names and comments stay as they are.
struct Placeholders {
    /// The text with `$1`, `$2` and so on.
    let text: String
    /// The number of the largest parameter.
    let parameterCount: Int

    /// Translates a text.
    init(_ sql: String) {
        var reader = PlaceholderReader(bytes: Array(sql.utf8))
        reader.readAll()
        text = String(decoding: reader.output, as: UTF8.self)
        parameterCount = reader.parameterCount
    }
}

private struct PlaceholderReader {
    let bytes: [UInt8]
    var output: [UInt8] = []
    var parameterCount = 0
    private var index = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
        output.reserveCapacity(bytes.count + 16)
    }

    mutating func readAll() {
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "?"): readPlaceholder()
            // A doubled quotation mark ends one quoted text and begins the next one.
            case UInt8(ascii: "'"): copy(through: [UInt8(ascii: "'")])
            case UInt8(ascii: "\""): copy(through: [UInt8(ascii: "\"")])
            case UInt8(ascii: "-") where follows(UInt8(ascii: "-")): copy(through: [UInt8(ascii: "\n")])
            case UInt8(ascii: "/") where follows(UInt8(ascii: "*")): copy(through: Array("*/".utf8))
            default: copyOne()
            }
        }
    }

    private mutating func readPlaceholder() {
        index += 1
        var number = 0
        var hasDigits = false
        while index < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) {
            number = number * 10 + Int(bytes[index] - UInt8(ascii: "0"))
            precondition(number <= Int(UInt16.max), "the number of a parameter is too large")
            hasDigits = true
            index += 1
        }
        precondition(!hasDigits || number > 0, "parameters are counted from 1")
        let parameter = hasDigits ? number : parameterCount + 1
        parameterCount = max(parameterCount, parameter)
        output.append(contentsOf: Array("$\(parameter)".utf8))
    }

    /// Copies up to and including the next occurrence of some bytes, or to the end.
    private mutating func copy(through end: [UInt8]) {
        copyOne()
        while index < bytes.count {
            let isEnd = bytes[index...].starts(with: end)
            copyOne()
            guard isEnd else { continue }
            for _ in end.dropFirst() { copyOne() }
            return
        }
    }

    private mutating func copyOne() {
        output.append(bytes[index])
        index += 1
    }

    private func follows(_ byte: UInt8) -> Bool { index + 1 < bytes.count && bytes[index + 1] == byte }
}
