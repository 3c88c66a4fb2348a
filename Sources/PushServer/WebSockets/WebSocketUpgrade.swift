// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushTLS
internal import PushWebSocket

/// Checks whether a request asks for a WebSocket, and whether its handshake is valid.
///
/// - SeeAlso: RFC 6455, section 4.2
enum WebSocketUpgrade {
    /// The kind of answer that the request asks for.
    enum Verdict {
        /// The request asks for no WebSocket.
        case none
        /// The request asks for a WebSocket; the bytes answer its key.
        case accept([UInt8])
        case refuse(Refusal)
    }

    /// The reason for a refusal, and what to do about it.
    struct Refusal {
        var status = 400
        var word = "BadHandshake"
        var detail: String

        /// The refusal of a request that has a body or is not complete.
        static var body: Refusal {
            Refusal(
                detail: "A WebSocket handshake has no body. Omit Content-Length, Transfer-Encoding and Expect, "
                    + "and send only frames after the handshake.")
        }
    }

    /// Checks the fields of a `GET` on a connection that may be able to change its protocol.
    ///
    /// - Parameters:
    ///   - fields: The fields of the request.
    ///   - readiness: Whether the connection can change its protocol now.
    ///   - subprotocol: The only supported subprotocol.
    /// - Returns: The answer to send.
    static func check(
        _ fields: FieldTable, _ readiness: UpgradeReadiness, subprotocol: String = StreamMessage.subprotocol
    ) -> Verdict {
        let isAsked = fields.contains("websocket", in: "upgrade", ignoringCase: true)
        guard isAsked || fields.value(of: "sec-websocket-key") != nil else { return .none }
        guard isAsked, readiness != .unavailable else {
            return .refuse(
                Refusal(
                    status: 426, word: "UpgradeRequired",
                    detail: "A WebSocket requires HTTP/1.1 and 'Upgrade: websocket', which some proxies remove. "
                        + "Server-sent events need neither: omit the sec-websocket fields."))
        }
        guard readiness == .ready else { return .refuse(.body) }
        guard fields.contains("upgrade", in: "connection", ignoringCase: true) else {
            return .refuse(Refusal(detail: "Send 'Connection: Upgrade' with 'Upgrade: websocket'."))
        }
        guard let version = fields.only("sec-websocket-version"), fields.text(version).utf8.elementsEqual("13".utf8)
        else {
            return .refuse(
                Refusal(
                    status: 426, word: "UpgradeRequired", detail: "Send 'Sec-WebSocket-Version: 13' once (RFC 6455)."))
        }
        guard let key = fields.only("sec-websocket-key"),
            Base64.decode(fields.bytes.span.extracting(key))?.count == WebSocketHandshake.keyByteCount
        else { return .refuse(Refusal(detail: "Send one Sec-WebSocket-Key: 16 random bytes in base64.")) }
        guard fields.contains(subprotocol, in: "sec-websocket-protocol", ignoringCase: false) else {
            return .refuse(
                Refusal(detail: "Send 'Sec-WebSocket-Protocol: \(subprotocol)', the only supported one."))
        }
        let input = WebSocketHandshake.acceptanceInput(key: fields.bytes.span.extracting(key))
        return .accept(Base64.encode(SHA1.hash(input.span).span))
    }

    /// Sends a refusal.
    static func answer(_ exchange: HTTPExchange, _ refusal: Refusal) {
        if refusal.status == 426 {
            exchange.addField("upgrade", "websocket")
            exchange.addField("sec-websocket-version", WebSocketHandshake.version)
        }
        ControlAnswer.refuse(exchange, status: refusal.status, refusal.word, refusal.detail)
    }

    /// Adds the fields of the response 101.
    static func addFields(
        to exchange: HTTPExchange, acceptance: [UInt8], subprotocol: String = StreamMessage.subprotocol
    ) {
        exchange.addField("upgrade", "websocket")
        exchange.addField("connection", "Upgrade")
        exchange.addField("sec-websocket-accept", acceptance.span)
        exchange.addField("sec-websocket-protocol", subprotocol.utf8.span)
    }
}

extension FieldTable {
    /// Returns the value of a field that occurs exactly once.
    fileprivate func only(_ name: StaticString) -> Range<Int>? {
        var found: Range<Int>?
        for field in fields where self.name(of: field, equals: name) {
            guard found == nil else { return nil }
            found = field.value
        }
        return found
    }

    /// Returns whether one of the fields of a name, which are comma-separated lists, contains an element.
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
