// SPDX-License-Identifier: Apache-2.0

@testable import PushWebSocket
import Testing

struct ClientHandshakeTests {
    /// Creates a handshake with a stand-in digest, so that tests can check that the answer must have the key's digest.
    private func handshake() -> ClientHandshake {
        ClientHandshake(
            .init(
                authority: "push.example:2197", path: "/v1/stream", fields: [("authorization", "Bearer s3cret")],
                subprotocol: "posthorn.v1"),
            key: Array("a2V5".utf8)
        ) { input in Array("digest of \(input.count)".utf8) }
    }

    private static let good = [
        "HTTP/1.1 101 Switching Protocols", "UPGRADE: WebSocket", "connection: keep-alive, Upgrade",
        "Sec-WebSocket-Accept: digest of 40", "sec-websocket-protocol:posthorn.v1",
    ]

    private static func head(_ lines: [String]) -> [UInt8] {
        Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    private func answer(_ lines: [String]) -> ClientHandshake.Progress {
        var handshake = handshake()
        return handshake.receive(Self.head(lines).span)
    }

    @Test func `the request meets RFC 6455`() {
        let lines = String(decoding: handshake().request, as: UTF8.self).components(by: "\r\n")
        #expect(
            lines == [
                "GET /v1/stream HTTP/1.1", "Host: push.example:2197", "Upgrade: websocket", "Connection: Upgrade",
                "Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol: posthorn.v1", "Sec-WebSocket-Key: a2V5",
                "authorization: Bearer s3cret", "", "",
            ])
    }

    @Test(arguments: [1, 2, 7, 1000])
    func `an answer may arrive in pieces of any size, and frames after it are kept`(pieceByteCount: Int) {
        var handshake = handshake()
        var rest = (Self.head(["HTTP/1.1 103 Early Hints", "link: x"]) + Self.head(Self.good) + [1, 2])[...]
        var progress = ClientHandshake.Progress.needsMore
        while progress == .needsMore, !rest.isEmpty {
            let piece = Array(rest.prefix(pieceByteCount))
            progress = handshake.receive(piece.span)
            rest = rest.dropFirst(pieceByteCount)
        }
        guard case .accepted(let behind) = progress else { return #expect(progress == .accepted(rest: [])) }
        #expect(behind + Array(rest) == [1, 2])
    }

    @Test(arguments: [200, 301, 401, 404, 426, 503])
    func `another status is a refusal`(status: Int) {
        #expect(
            answer(["HTTP/1.1 \(status) Whatever", "Retry-After: 7"])
                == .refused(status: status, retryAfter: "7"))
    }

    @Test(arguments: 1..<good.count)
    func `an answer 101 with a missing, wrong or extra field is refused`(place: Int) {
        var without = Self.good
        without.remove(at: place)
        let name = String(Self.good[place].prefix { $0 != ":" })
        for lines in [without, without + ["\(name): other"], Self.good + ["Sec-WebSocket-Extensions: x"]] {
            guard case .broken = answer(lines) else { return #expect(Bool(false), "\(lines)") }
        }
    }

    @Test(arguments: [
        ["HTTP/1.0 101 Switching Protocols"], ["SSH-2.0-OpenSSH"], ["HTTP/1.1 9"], ["HTTP/1.1 101", "no colon"], [""],
    ])
    func `an answer that is not HTTP is refused`(lines: [String]) {
        guard case .broken = answer(lines) else { return #expect(Bool(false), "\(answer(lines))") }
    }

    @Test func `an answer's head has a size limit`() {
        var handshake = handshake()
        let endless = [UInt8](repeating: 0x61, count: 16 * 1024 + 1)
        #expect(handshake.receive(endless.span) == .broken("the head of the answer is too long"))
    }
}

extension String {
    /// Splits the string at a separator and keeps empty parts.
    fileprivate func components(by separator: Character) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}
