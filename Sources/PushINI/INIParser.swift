// SPDX-License-Identifier: Apache-2.0

internal import CINIH
internal import Glibc

/// One run of inih over the bytes of a file.
///
/// Debian's build of inih does not report the line of an entry. It also silently splits a long line in two and
/// truncates a long section name. So this parser passes one line per call, and counts the lines. If inih cannot hold a
/// line, this parser passes only the name of the entry, or an empty comment.
final class INIParser {
    private enum Problem {
        case syntax
        case tooLong(byteCountMax: Int)
    }

    private let bytes: [UInt8]
    /// The beginning of the next line.
    private var offset = 0
    /// The number of the line that inih is processing, from 1.
    private var line = 0
    /// The value in the line that inih is processing; nil if inih got the whole line.
    private var longValue: String?
    private var entries: [INIEntry] = []
    /// The error in the line that inih is processing; nothing is read after it.
    private var problem: Problem?

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        // inih skips a byte order mark too, but only after the checks here have seen it.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
    }

    /// Returns the entries of a file, parsed by `ini_parse_stream`.
    @safe
    static func parse(_ bytes: [UInt8], path: String) throws(INIError) -> [INIEntry] {
        let parser = INIParser(bytes)
        let firstBadLine = withExtendedLifetime(parser) {
            let context = unsafe Unmanaged.passUnretained(parser).toOpaque()
            return unsafe Int(ini_parse_stream(readLine, context, takeEntry, context))
        }
        guard firstBadLine >= 0 else { throw .cannotRead(path: path, code: ENOMEM) }
        // inih continues after its first error, so an error of its own precedes one that stopped the reading here.
        if firstBadLine > 0 { throw .syntax(path: path, line: firstBadLine) }
        switch parser.problem {
        case .syntax: throw .syntax(path: path, line: parser.line)
        case .tooLong(let byteCountMax):
            throw .tooLong(path: path, line: parser.line, byteCountMax: byteCountMax)
        case nil: return parser.entries
        }
    }

    /// Returns the next line without leading spaces, which would make it continue the previous line.
    ///
    /// - Parameter byteCountMax: The longest line in bytes that inih can hold, line feed included.
    /// - Returns: The line with its line feed; nil at the end of the file, and for a line that inih must not see.
    fileprivate func nextLine(byteCountMax: Int) -> ArraySlice<UInt8>? {
        guard problem == nil, offset < bytes.count else { return nil }
        line += 1
        let end = bytes[offset...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
        let text = bytes[offset..<end].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        offset = end
        longValue = nil
        guard !text.contains(0), (try? UTF8Span(validating: text.span)) != nil else {
            problem = .syntax
            return nil
        }
        let line = text.count > byteCountMax && text.count <= INIFile.lineByteCountMax ? shortened(text) : text
        problem = Self.problem(in: line, byteCountMax: byteCountMax)
        return problem == nil ? line : nil
    }

    /// Returns a comment without its text, or an entry without its value, which `longValue` keeps.
    private func shortened(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let (space, semicolon) = (UInt8(ascii: " "), UInt8(ascii: ";"))
        if let first = text.first, [UInt8(ascii: "#"), semicolon].contains(first) { return [first] }
        guard text.first != UInt8(ascii: "["),
            let separator = text.firstIndex(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ":") })
        else { return text }
        func isSpace(_ byte: UInt8) -> Bool { byte == space || (9...13).contains(byte) }
        var value = text[(separator + 1)...]
        // As in a short line, a semicolon after a space begins a comment.
        let comment = zip(value.indices, value.dropFirst()).first { isSpace(value[$0.0]) && $0.1 == semicolon }
        if let comment { value = value[..<comment.0] }
        value = value.drop(while: isSpace)
        while value.last.map(isSpace) ?? false { value.removeLast() }
        longValue = String(decoding: value, as: UTF8.self)
        return text[...separator]
    }

    /// Adds an entry from the current line; returns whether it is valid.
    fileprivate func take(section: String, name: String, value: String) -> Bool {
        guard !name.isEmpty else { return false }
        entries.append(INIEntry(section: section, name: name, value: longValue ?? value, line: line))
        return true
    }

    /// Returns the error in a line that inih would misread, or nil if inih reads the line correctly.
    private static func problem(in text: ArraySlice<UInt8>, byteCountMax: Int) -> Problem? {
        // MAX_SECTION in ini.c, which is not configurable, is 50 including the zero byte.
        let sectionByteCountMax = 49
        guard text.count <= byteCountMax else {
            let isEntry = text.count > INIFile.lineByteCountMax
            return .tooLong(byteCountMax: isEntry ? INIFile.lineByteCountMax - 1 : byteCountMax - 1)
        }
        guard text.first == UInt8(ascii: "["), let end = text.firstIndex(of: UInt8(ascii: "]")) else { return nil }
        return end - text.startIndex - 1 > sectionByteCountMax ? .tooLong(byteCountMax: sectionByteCountMax) : nil
    }
}

/// Implements inih's `ini_reader`, which works like `fgets`.
private func readLine(
    _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int32, _ context: UnsafeMutableRawPointer?
) -> UnsafeMutablePointer<CChar>? {
    guard let buffer = unsafe buffer, let context = unsafe context else { return nil }
    let parser = unsafe Unmanaged<INIParser>.fromOpaque(context).takeUnretainedValue()
    guard let line = parser.nextLine(byteCountMax: Int(capacity) - 1) else { return nil }
    for (index, byte) in line.enumerated() {
        unsafe buffer[index] = CChar(bitPattern: byte)
    }
    unsafe buffer[line.count] = 0
    return unsafe buffer
}

/// Implements inih's `ini_handler` for entries.
private func takeEntry(
    _ context: UnsafeMutableRawPointer?, _ section: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?,
    _ value: UnsafePointer<CChar>?
) -> Int32 {
    guard let context = unsafe context, let section = unsafe section, let name = unsafe name, let value = unsafe value
    else { return 0 }
    let parser = unsafe Unmanaged<INIParser>.fromOpaque(context).takeUnretainedValue()
    let isGood = unsafe parser.take(
        section: String(cString: section), name: String(cString: name), value: String(cString: value))
    return isGood ? 1 : 0
}
