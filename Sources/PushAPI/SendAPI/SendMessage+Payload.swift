// SPDX-License-Identifier: Apache-2.0

internal import PushCore

extension SendMessage {
    /// The APNs payload in JSON.
    package var payload: [UInt8] {
        if let wholePayload { return wholePayload }
        var members: [JSONValue.Member] = [.init(key: "aps", value: .object(aps))]
        if let link { members.append(.init(key: "url", value: .string(link))) }
        if !buttons.isEmpty { members.append(.init(key: Payload.buttonsKey, value: .array(buttons.map(\.json)))) }
        var bytes: [UInt8] = []
        JSONWriter.append(.object(members), to: &bytes)
        return bytes
    }

    private var aps: [JSONValue.Member] {
        let texts = Self.members([
            ("title", title), ("subtitle", subtitle), ("body", body),
        ])
        var aps: [JSONValue.Member] = []
        if !texts.isEmpty { aps.append(.init(key: "alert", value: .object(texts))) }
        if let badge { aps.append(.init(key: "badge", value: .integer(Int64(badge)))) }
        if !isSilent, !texts.isEmpty { aps.append(.init(key: "sound", value: .string(sound ?? "default"))) }
        aps += Self.members([("category", category), ("thread-id", threadID)])
        if level != .active { aps.append(.init(key: "interruption-level", value: .string(level.rawValue))) }
        return aps
    }

    private static func members(_ texts: [(String, String?)]) -> [JSONValue.Member] {
        texts.compactMap { key, text in
            guard let text, !text.isEmpty else { return nil }
            return .init(key: key, value: .string(text))
        }
    }

    /// Shortens the body until the payload fits.
    ///
    /// - Parameter byteCountMax: The maximum size of the payload in bytes.
    /// - Returns: Whether the payload fits now.
    package mutating func shorten(toPayload byteCountMax: Int) -> Bool {
        var excess = payload.count - byteCountMax
        guard excess > 0, let text = body else { return excess <= 0 }
        // Counts bytes, because finding the ends of characters in a long text can take quadratic time.
        var rest = text.utf8.prefix(text.utf8.count)
        while excess > 0, !rest.isEmpty {
            // A byte may need up to six bytes in JSON, so this repeats until it fits.
            let count = rest.count > byteCountMax ? byteCountMax : rest.count - max(1, excess / 6)
            rest = rest.prefix(max(0, count))
            // The last character may be cut.
            let cut = String(decoding: rest, as: UTF8.self).dropLast()
            body = cut.isEmpty ? nil : cut + "…"
            excess = payload.count - byteCountMax
        }
        return excess <= 0
    }
}

extension SendMessage.Button {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [.init(key: "title", value: .string(title))]
        switch effect {
        case .open(let url): members.append(.init(key: "url", value: .string(url)))
        case .request(let request):
            var parts: [JSONValue.Member] = [.init(key: "url", value: .string(request.url))]
            if request.method != "POST" { parts.append(.init(key: "method", value: .string(request.method))) }
            if !request.headers.isEmpty { parts.append(.init(key: "headers", value: .object(request.headers))) }
            if let body = request.body { parts.append(.init(key: "body", value: .string(body))) }
            members.append(.init(key: "request", value: .object(parts)))
        }
        return .object(members)
    }
}
