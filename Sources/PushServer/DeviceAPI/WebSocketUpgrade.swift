// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushTLS
internal import PushWebSocket

/// Whether a request for the stream wants it over WebSocket, and whether it says so as it should.
///
/// - SeeAlso: RFC 6455, section 4.2
enum WebSocketUpgrade {
    /// What the request wants.
    enum Verdict {
        /// Server-sent events.
        case none
        /// WebSocket; the bytes answer its key.
        case accept([UInt8])
        case refuse(Refusal)
    }

    /// Why it is refused, and what to do.
    struct Refusal {
        var status = 400
        var word = "BadHandshake"
        var detail: String

        /// The request has a body, or it has not ended.
        static var body: Refusal {
            Refusal(
                detail: "A WebSocket handshake has no body: leave Content-Length, Transfer-Encoding and Expect out, "
                    + "and send nothing behind the handshake but frames.")
        }
    }

    /// Judges the fields of a `GET` on a connection that can change its protocol, or cannot.
    static func judge(_ fields: FieldTable, _ readiness: UpgradeReadiness) -> Verdict {
        let isAsked = fields.contains("websocket", in: "upgrade", ignoringCase: true)
        guard isAsked || fields.value(of: "sec-websocket-key") != nil else { return .none }
        guard isAsked, readiness != .unavailable else {
            return .refuse(
                Refusal(
                    status: 426, word: "UpgradeRequired",
                    detail: "A WebSocket begins on HTTP/1.1 with 'Upgrade: websocket'; some proxies take that away. "
                        + "Server-sent events need neither: leave the sec-websocket fields out."))
        }
        guard readiness == .ready else { return .refuse(.body) }
        guard fields.contains("upgrade", in: "connection", ignoringCase: true) else {
            return .refuse(Refusal(detail: "Send 'Connection: Upgrade' with 'Upgrade: websocket'."))
        }
        guard let version = fields.only("sec-websocket-version"), fields.text(version).utf8.elementsEqual("13".utf8)
        else {
            return .refuse(
                Refusal(
                    status: 426, word: "UpgradeRequired", detail: "Send 'Sec-WebSocket-Version: 13', once: RFC 6455."))
        }
        guard let key = fields.only("sec-websocket-key"),
            Base64.decode(fields.bytes.span.extracting(key))?.count == WebSocketHandshake.keyByteCount
        else { return .refuse(Refusal(detail: "Send one Sec-WebSocket-Key: 16 random bytes in base64.")) }
        guard fields.contains(StreamMessage.subprotocol, in: "sec-websocket-protocol", ignoringCase: false) else {
            return .refuse(
                Refusal(detail: "Send 'Sec-WebSocket-Protocol: \(StreamMessage.subprotocol)': it is the only one here.")
            )
        }
        let input = WebSocketHandshake.acceptanceInput(key: fields.bytes.span.extracting(key))
        return .accept(Base64.encode(SHA1.hash(input.span).span))
    }

    /// Answers what is refused.
    static func answer(_ exchange: HTTPExchange, _ refusal: Refusal) {
        if refusal.status == 426 {
            exchange.addField("upgrade", "websocket")
            exchange.addField("sec-websocket-version", WebSocketHandshake.version)
        }
        ControlAnswer.refuse(exchange, status: refusal.status, refusal.word, refusal.detail)
    }

    /// Adds the fields of the answer 101.
    static func addFields(to exchange: HTTPExchange, acceptance: [UInt8]) {
        exchange.addField("upgrade", "websocket")
        exchange.addField("connection", "Upgrade")
        exchange.addField("sec-websocket-accept", acceptance.span)
        exchange.addField("sec-websocket-protocol", StreamMessage.subprotocol.utf8.span)
    }
}

extension FieldTable {
    /// The value of a field that is there once.
    fileprivate func only(_ name: StaticString) -> Range<Int>? {
        var found: Range<Int>?
        for field in fields where self.name(of: field, equals: name) {
            guard found == nil else { return nil }
            found = field.value
        }
        return found
    }

    /// Whether one of the fields of a name, which are lists with commas, has an element.
    fileprivate func contains(_ element: String, in name: StaticString, ignoringCase: Bool) -> Bool {
        for field in fields where self.name(of: field, equals: name) {
            for part in text(field.value).split(separator: ",") {
                let word = part.utf8.drop { $0 == 0x20 || $0 == 0x09 }
                let bytes = word.prefix { $0 != 0x20 && $0 != 0x09 }
                guard word.dropFirst(bytes.count).allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else { continue }
                let isEqual =
                    ignoringCase
                    ? bytes.elementsEqual(element.utf8) { $0 | 0x20 == $1 | 0x20 } : bytes.elementsEqual(element.utf8)
                if isEqual { return true }
            }
        }
        return false
    }
}
