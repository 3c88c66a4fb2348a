// SPDX-License-Identifier: Apache-2.0

/// The fields of a form's body in `multipart/form-data`, as `curl -F` and browsers send it.
///
/// - SeeAlso: RFC 7578; RFC 2046, section 5.1
package enum MultipartForm {
    /// The maximum number of parts.
    private static let partCountMax = 32

    /// Returns the boundary of a content type; nil if it is not that of a form with parts.
    package static func boundary(of contentType: String) -> String? {
        let parts = contentType.split(separator: ";").map { $0.trimmed }
        guard parts.first?.lowercased() == "multipart/form-data" else { return nil }
        for parameter in parts.dropFirst() {
            let halves = parameter.split(separator: "=", maxSplits: 1).map { $0.trimmed }
            guard halves.count == 2, halves[0].lowercased() == "boundary" else { continue }
            let text = halves[1].hasPrefix("\"") ? String(halves[1].dropFirst().prefix { $0 != "\"" }) : halves[1]
            return (1...70).contains(text.utf8.count) ? text : nil
        }
        return nil
    }

    /// Parses a body.
    ///
    /// - Parameters:
    ///   - body: The bytes of the body.
    ///   - boundary: The boundary of its content type.
    /// - Returns: The fields in order, without files.
    /// - Throws: `SendDefect` for a body that is not such a form.
    package static func fields(of body: [UInt8], boundary: String) throws(SendDefect) -> FormFields {
        let delimiter = Array("--\(boundary)".utf8)
        var fields: [FormFields.Field] = []
        guard var start = find(delimiter, in: body, from: 0) else { throw broken }
        for _ in 0..<partCountMax {
            let begin = start + delimiter.count
            if body[begin...].starts(with: "--".utf8) { return FormFields(fields) }
            guard let next = find(delimiter, in: body, from: begin) else { throw broken }
            // A part stands between two line breaks, of which the second belongs to the delimiter.
            guard body[begin...].starts(with: "\r\n".utf8), next >= begin + 4 else { throw broken }
            if let field = try field(body[(begin + 2)..<(next - 2)]) { fields.append(field) }
            start = next
        }
        throw SendDefect("The form has more than \(partCountMax) parts.")
    }

    private static let broken = SendDefect("The body is not a form: its parts do not match the boundary.")

    /// Parses a part; returns nil for a file.
    private static func field(_ part: ArraySlice<UInt8>) throws(SendDefect) -> FormFields.Field? {
        let bytes = Array(part)
        guard let headEnd = find(Array("\r\n\r\n".utf8), in: bytes, from: 0) else { throw broken }
        let head = String(decoding: bytes[..<headEnd], as: UTF8.self)
        let lines = head.split(whereSeparator: \.isNewline)
        guard let disposition = lines.first(where: { $0.lowercased().hasPrefix("content-disposition:") }),
            let name = parameter("name", of: disposition)
        else { throw broken }
        guard parameter("filename", of: disposition) == nil else { return nil }
        return .init(name, String(decoding: bytes[(headEnd + 4)...], as: UTF8.self))
    }

    private static func parameter(_ name: String, of line: Substring) -> String? {
        for part in line.split(separator: ";").dropFirst() {
            let halves = part.split(separator: "=", maxSplits: 1).map { $0.trimmed }
            guard halves.count == 2, halves[0].lowercased() == name else { continue }
            return halves[1].hasPrefix("\"") ? String(halves[1].dropFirst().prefix { $0 != "\"" }) : halves[1]
        }
        return nil
    }

    /// Returns the first position of some bytes at or after an offset.
    private static func find(_ sought: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        guard bytes.count >= sought.count else { return nil }
        var place = start
        while place + sought.count <= bytes.count {
            if bytes[place] == sought[0], bytes[place..<(place + sought.count)].elementsEqual(sought) { return place }
            place += 1
        }
        return nil
    }
}

extension StringProtocol {
    /// The text without spaces and tabs at its ends.
    var trimmed: String {
        var rest = self[...]
        while let first = rest.first, first == " " || first == "\t" { rest = rest.dropFirst() }
        while let last = rest.last, last == " " || last == "\t" { rest = rest.dropLast() }
        return String(rest)
    }
}
