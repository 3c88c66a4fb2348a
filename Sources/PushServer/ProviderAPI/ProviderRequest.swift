// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushServing

/// A provider's request while it is checked.
struct ProviderRequest {
    let exchange: HTTPExchange
    let connection: ServerConnection
    let provider: ProviderConnection
    let headers: ProviderHeaders
    /// The request's fields and path, in which the ranges in `headers` lie.
    let bytes: [UInt8]
    /// The ID in the response.
    let id: RequestID
    /// The wall-clock time.
    let now: Timestamp

    init(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ provider: ProviderConnection,
        _ headers: ProviderHeaders, _ bytes: [UInt8], _ id: RequestID
    ) {
        self.exchange = exchange
        self.connection = connection
        self.headers = headers
        self.bytes = bytes
        self.id = id
        self.provider = provider
        now = .now
    }

    /// The environment of the request.
    var environment: Environment { provider.environment }

    /// Returns a part of the path as text.
    func text(inPath range: Range<Int>) -> String {
        String(
            decoding: bytes[exchange.path][(exchange.path.lowerBound + range.lowerBound)...].prefix(range.count),
            as: UTF8.self)
    }

    // MARK: Header fields

    /// Parses `apns-expiration`, if it is present.
    func expiration() throws(Rejection) -> Timestamp? {
        guard let range = headers.expiration else { return nil }
        guard let expiration = HeaderValues.expiration(bytes.span.extracting(range)) else {
            throw Rejection(.badExpirationDate)
        }
        return expiration
    }

    /// Parses `apns-priority`, if it is present.
    func priority() throws(Rejection) -> UInt8? {
        guard let range = headers.priority else { return nil }
        guard let value = HeaderValues.priority(bytes.span.extracting(range)) else { throw Rejection(.badPriority) }
        return value
    }

    /// Whether the provider wants this payload to be linted: `posthorn-lint: 1`.
    var requestsLint: Bool { headers.lint.map { Bytes.areEqual(bytes.span.extracting($0), "1") } ?? false }

    /// Parses `apns-push-type`, if it is present.
    func pushType() throws(Rejection) -> PushType? {
        guard let range = headers.pushType else { return nil }
        guard let type = PushType(bytes.span.extracting(range)) else {
            let known = PushType.allCases.map(\.rawValue).joined(separator: ", ")
            throw Rejection(.invalidPushType, "Set apns-push-type to one of: \(known).")
        }
        return type
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Parses `apns-collapse-id`; an empty value counts as absent, because clients send it when their field is empty.
    func collapseID() throws(Rejection) -> [UInt8]? {
        guard let range = headers.collapseID, !range.isEmpty else { return nil }
        let value = bytes.span.extracting(range)
        guard !Self.isBlank(value[0]), !Self.isBlank(value[value.count - 1]) else {
            throw Rejection(.badCollapseID, "apns-collapse-id starts or ends with a space or tab. Remove it.")
        }
        guard HeaderValues.isCollapseID(value) else {
            throw Rejection(
                .badCollapseID,
                "apns-collapse-id has \(value.count) bytes: shorten it to at most \(Limits.collapseIDByteCountMax).")
        }
        return Array(copying: value)
    }

    /// Parses `apns-channel-id`; a well-formed ID that this server cannot have created is not registered.
    func channelID() throws(Rejection) -> ChannelID {
        guard let range = headers.channelID, !range.isEmpty else { throw Rejection(.missingChannelID) }
        let value = bytes.span.extracting(range)
        guard value.count <= Limits.channelIDByteCountMax, Base64.decode(value) != nil else {
            throw Rejection(.badChannelID)
        }
        guard let id = ChannelID(text: value) else { throw Rejection(.channelNotRegistered) }
        return id
    }

    /// Returns the payload after checking its size, and nothing else.
    func payload(byteCountMax: Int, kind: @autoclosure () -> String) throws(Rejection) -> [UInt8] {
        let payload = exchange.body
        guard !exchange.bodyOverflowed, payload.count <= byteCountMax else {
            let size = exchange.bodyOverflowed ? "more than \(payload.count)" : "\(payload.count)"
            throw Rejection(
                .payloadTooLarge, "The payload has \(size) bytes: at most \(byteCountMax) are allowed for \(kind()).")
        }
        guard !payload.isEmpty else {
            throw Rejection(.payloadEmpty, "The payload is empty: send a JSON object, at least {}.")
        }
        return payload
    }
}
