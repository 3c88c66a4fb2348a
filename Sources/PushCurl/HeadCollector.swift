// SPDX-License-Identifier: Apache-2.0

/// Parses the head of a response from the lines that libcurl delivers.
///
///     status line ──▶ fields ──empty line──▶ done            (trailers are ignored)
///          ▲             │
///          └── 1xx ──────┘
struct HeadCollector: ~Copyable {
    /// The maximum size of a head in bytes.
    static let headByteCountMax = 256 * 1024

    /// The state of the head after a line.
    enum Progress { case more, done, malformed }

    private enum State {
        case awaitingStatus
        case fields(HTTPResponse)
        case done
    }

    private var state = State.awaitingStatus
    private var byteCount = 0
    /// The head; nil until it is complete.
    private(set) var response: HTTPResponse?

    /// Parses a line including its line end.
    mutating func receive(line: Span<UInt8>) -> Progress {
        byteCount += line.count
        guard byteCount <= Self.headByteCountMax else { return .malformed }
        let text = Self.trimmed(line)
        switch state {
        case .awaitingStatus:
            guard let head = Self.statusLine(text) else { return .malformed }
            state = .fields(head)
            return .more
        case .fields(var head):
            guard text.isEmpty else {
                Self.append(field: text, to: &head)
                state = .fields(head)
                return .more
            }
            guard head.status >= 200 else {
                state = .awaitingStatus
                return .more
            }
            response = head
            state = .done
            return .done
        case .done:
            return .more
        }
    }

    /// Parses a status line such as `HTTP/2 200` or `HTTP/1.1 200 OK`.
    private static func statusLine(_ text: ArraySlice<UInt8>) -> HTTPResponse? {
        let parts = text.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard parts.count >= 2, parts[0].starts(with: "HTTP/".utf8), parts[1].count == 3 else { return nil }
        var status = 0
        for byte in parts[1] {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            status = status * 10 + Int(byte - UInt8(ascii: "0"))
        }
        guard status >= 100 else { return nil }
        return HTTPResponse(status: status, isHTTP2: parts[0].elementsEqual("HTTP/2".utf8))
    }

    private static func append(field text: ArraySlice<UInt8>, to head: inout HTTPResponse) {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = text[..<colon].map { (65...90).contains($0) ? $0 + 32 : $0 }
        let value = text[(colon + 1)...].drop { $0 == 32 || $0 == 9 }
        head.fields.append((String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
    }

    /// Returns the line without trailing whitespace and line ends.
    private static func trimmed(_ line: Span<UInt8>) -> ArraySlice<UInt8> {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(line.count)
        for index in line.indices { bytes.append(line[index]) }
        var end = bytes.count
        while end > 0, [9, 10, 13, 32].contains(bytes[end - 1]) { end -= 1 }
        return bytes[..<end]
    }
}
