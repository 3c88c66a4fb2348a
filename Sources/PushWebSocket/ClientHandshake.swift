// SPDX-License-Identifier: Apache-2.0

/// The client side of the WebSocket handshake, working on bytes.
///
/// - SeeAlso: RFC 6455, section 4.1
package struct ClientHandshake {
    /// The result of processing some bytes.
    package enum Progress: Sendable, Equatable {
        /// The head of the answer is incomplete.
        case needsMore
        /// The connection is open; `rest` contains the bytes after the head.
        case accepted(rest: [UInt8])
        /// The server answered with a status other than 101, and possibly with `retry-after`.
        case refused(status: Int, retryAfter: String?)
        /// The answer is not a valid WebSocket handshake.
        case broken(String)
    }

    /// The parameters of the handshake request.
    package struct Request: Sendable {
        /// The host and port, as in the URL.
        package var authority: String
        /// The path, which begins with a slash.
        package var path: String
        /// Further fields, which must not contain control characters.
        package var fields: [(String, String)]
        /// The offered subprotocol; any other answer, or none, is an error.
        package var subprotocol: String

        package init(authority: String, path: String, fields: [(String, String)], subprotocol: String) {
            self.authority = authority
            self.path = path
            self.fields = fields
            self.subprotocol = subprotocol
        }
    }

    /// The longest head that is accepted, in bytes.
    private static let headByteCountMax = 16 * 1024

    /// The bytes to send first.
    package let request: [UInt8]
    private let acceptance: [UInt8]
    private let subprotocol: String
    private var head: [UInt8] = []
    /// The answer, once it was accepted.
    private var accepted: Answer?

    /// Prepares a handshake.
    ///
    /// - Parameters:
    ///   - request: The parameters of the request.
    ///   - key: 16 random bytes in base64.
    ///   - base64SHA1: A function that returns the SHA-1 hash in base64.
    package init(_ request: Request, key: [UInt8], base64SHA1: (Span<UInt8>) -> [UInt8]) {
        var lines = [
            "GET \(request.path) HTTP/1.1", "Host: \(request.authority)", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Version: \(WebSocketHandshake.version)",
            "Sec-WebSocket-Protocol: \(request.subprotocol)",
            "Sec-WebSocket-Key: \(String(decoding: key, as: UTF8.self))",
        ]
        lines += request.fields.map { "\($0.0): \($0.1)" }
        self.request = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        let input = WebSocketHandshake.acceptanceInput(key: key.span)
        acceptance = base64SHA1(input.span)
        subprotocol = request.subprotocol
    }

    /// Processes a part of the answer; must not be called again after any progress except `needsMore`.
    package mutating func receive(_ bytes: Span<UInt8>) -> Progress {
        for index in 0..<bytes.count {
            head.append(bytes[index])
            guard head.count <= Self.headByteCountMax else { return .broken("the head of the answer is too long") }
            guard head.last == 0x0A, head.suffix(4).elementsEqual([0x0D, 0x0A, 0x0D, 0x0A]) else { continue }
            let answer = Answer(head)
            head = []
            // An interim answer, such as 103, does not decide anything.
            if let answer, (100..<200).contains(answer.status), answer.status != 101 { continue }
            return checkAnswer(answer, rest: bytes.extracting((index + 1)..<bytes.count))
        }
        return .needsMore
    }

    /// Returns the value of a field that the accepted answer has exactly once; the name must be in lower case.
    package func acceptedValue(of name: String) -> String? { accepted?.only(name) }

    private mutating func checkAnswer(_ answer: Answer?, rest: Span<UInt8>) -> Progress {
        guard let answer else { return .broken("the answer is not HTTP/1.1") }
        guard answer.status == 101 else {
            return .refused(status: answer.status, retryAfter: answer.only("retry-after"))
        }
        guard answer.only("upgrade")?.lowercased() == "websocket", answer.connectionIsUpgraded else {
            return .broken("the answer 101 is not for WebSocket")
        }
        guard answer.only("sec-websocket-accept")?.utf8.elementsEqual(acceptance) == true else {
            return .broken("Sec-WebSocket-Accept does not match the key")
        }
        guard answer.only("sec-websocket-protocol")?.utf8.elementsEqual(subprotocol.utf8) == true,
            answer.values("sec-websocket-extensions").isEmpty
        else { return .broken("the server selected a protocol or extension that was not offered") }
        accepted = answer
        return .accepted(rest: (0..<rest.count).map { rest[$0] })
    }

    /// The head of an HTTP/1.1 answer.
    private struct Answer {
        let status: Int
        private var fields: [(name: String, value: String)] = []

        /// Parses the head; nil if it is not an HTTP/1.1 answer.
        init?(_ head: [UInt8]) {
            let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
            guard let first = lines.first, first.utf8.starts(with: "HTTP/1.1 ".utf8),
                let status = Int(first.dropFirst(9).prefix(3)), (100..<600).contains(status)
            else { return nil }
            self.status = status
            for line in lines.dropFirst() {
                guard let colon = line.firstIndex(of: ":") else { return nil }
                fields.append((line[..<colon].lowercased(), Self.trimmed(line[line.index(after: colon)...])))
            }
        }

        func values(_ name: String) -> [String] {
            fields.filter { $0.name.utf8.elementsEqual(name.utf8) }.map(\.value)
        }

        /// Returns the value of a field that occurs exactly once.
        func only(_ name: String) -> String? {
            let found = values(name)
            return found.count == 1 ? found[0] : nil
        }

        var connectionIsUpgraded: Bool {
            values("connection").flatMap { $0.lowercased().split(separator: ",") }
                .contains { Self.trimmed($0).utf8.elementsEqual("upgrade".utf8) }
        }

        private static func trimmed(_ text: Substring) -> String {
            let start = text.drop { $0 == " " || $0 == "\t" }
            let end = start.lastIndex { $0 != " " && $0 != "\t" }
            return end.map { String(start[...$0]) } ?? ""
        }
    }
}
