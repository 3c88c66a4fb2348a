// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP

/// The body of a request that creates a channel: `{"message-storage-policy":1,"push-type":"LiveActivity"}`.
struct ChannelConfiguration {
    let policy: MessageStoragePolicy

    /// Parses the body; existing clients send the policy as a string and the push type in lower case.
    init(_ exchange: HTTPExchange) throws(Rejection) {
        let body = exchange.body
        guard !exchange.bodyOverflowed else { throw Rejection(.payloadTooLarge) }
        guard !body.isEmpty else {
            throw Rejection(.payloadEmpty, "Send {\"message-storage-policy\":1,\"push-type\":\"LiveActivity\"}.")
        }
        guard let members = (try? JSONValue(parsing: body.span))?.members else { throw Rejection(.badRequestPayload) }
        let known = ["message-storage-policy", "push-type"]
        guard Set(members.map(\.key)).count == members.count, members.allSatisfy({ known.contains($0.key) }) else {
            throw Rejection(.badRequestParams)
        }
        guard let value = members.first(where: { $0.key == known[0] })?.value, let policy = Self.policy(value) else {
            throw Rejection(
                .badRequestParams,
                "message-storage-policy must be 0 (stores nothing) or 1 (stores the last broadcast).")
        }
        guard let type = members.first(where: { $0.key == known[1] })?.value else { throw Rejection(.missingPushType) }
        guard let text = type.string, PushType(Array(text.utf8).span) == .liveactivity else {
            throw Rejection(.invalidPushType, "push-type must be LiveActivity.")
        }
        self.policy = policy
    }

    private static func policy(_ value: JSONValue) -> MessageStoragePolicy? {
        if let number = value.integer { return Int(exactly: number).flatMap(MessageStoragePolicy.init) }
        guard let text = value.string, text.utf8.count == 1 else { return nil }
        return Int(text).flatMap(MessageStoragePolicy.init)
    }
}
