// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushStore
internal import PushTLS

/// `POST /3/device/<token>`: checks a notification and hands it to the store.
///
/// The order of checks is fixed: method, path, repeated headers, provider token, `apns-id`, expiration, priority,
/// push type, collapse id, topic, payload, device token.
final class ProviderEndpoint {
    private unowned let loop: ServerLoop

    init(loop: ServerLoop) { self.loop = loop }

    /// Answers now with a rejection, or later when the store has answered.
    func answer(_ exchange: HTTPExchange, on connection: ServerConnection) {
        let headers = ProviderHeaders(exchange.fields)
        let id = NotificationID(headers.id, in: exchange.fields)
        exchange.addField("apns-id", id.text.span)
        do throws(RejectionReason) {
            if let ordered = loop.context.orderedFailures?.take() { throw ordered }
            let notification = try check(exchange, headers, id, connection)
            guard loop.unansweredAcceptCount < Limits.unansweredAcceptCountMax else { throw .serviceUnavailable }
            loop.unansweredAcceptCount += 1
            loop.submit(.accept(notification, answer: connection.address(of: exchange)))
        } catch {
            ProviderAnswer.reject(exchange, error)
            loop.markDirty(connection)
        }
    }

    private func check(
        _ exchange: HTTPExchange, _ headers: ProviderHeaders, _ id: NotificationID, _ connection: ServerConnection
    ) throws(RejectionReason) -> Notification {
        let now = WallClock.unixMilliseconds()
        let bytes = exchange.fields.bytes
        guard exchange.method == .post else { throw .methodNotAllowed }
        let tokenText = try Self.deviceTokenText(bytes.span.extracting(exchange.path))
        guard !headers.hasDuplicate else { throw .duplicateHeaders }
        let key = try connection.provider.authenticate(
            headers.authorization, in: bytes.span, directory: loop.directory, unixSeconds: now / 1000)
        guard id.isGood else { throw .badMessageID }
        let values = try HeaderSet(headers, bytes.span)
        guard let topicRange = headers.topic, !topicRange.isEmpty else { throw .missingTopic }
        let baseByteCount = try Self.baseTopicByteCount(
            of: bytes.span.extracting(topicRange), pushType: values.pushType)
        let baseName = bytes.span.extracting(topicRange).extracting(first: baseByteCount)
        let address = open(bytes.span.extracting(exchange.path).extracting(tokenText))
        let topic = try allowedTopic(baseName, key: key, hint: address?.topic)
        try Self.checkPayload(exchange, pushType: values.pushType)
        guard let address else { throw .badDeviceToken }
        guard address.topic == topic.topic.id else { throw .deviceTokenNotForTopic }
        return Notification(
            address: address, apnsID: id.text, uniqueID: .random(),
            topicName: baseByteCount == topicRange.count ? topic.topic.name : exchange.fields.text(topicRange),
            pushType: values.pushType, priority: values.priority, expirationUnixSeconds: values.expiration,
            collapseID: values.collapseID, payload: exchange.body, acceptedUnixMilliseconds: now)
    }

    private static func deviceTokenText(_ path: Span<UInt8>) throws(RejectionReason) -> Range<Int> {
        switch DeviceTokenPath.parse(path) {
        case .device(let range): return range
        case .missingToken: throw .missingDeviceToken
        case .badPath: throw .badPath
        }
    }

    /// How long the topic is without the push type's suffix.
    private static func baseTopicByteCount(
        of name: Span<UInt8>, pushType: PushType?
    ) throws(RejectionReason) -> Int {
        guard HeaderValues.isTopic(name) else { throw .badTopic }
        let suffix = Array((pushType ?? .alert).topicSuffix.utf8)
        guard !suffix.isEmpty else { return name.count }
        guard name.count > suffix.count, Bytes.areEqual(name.extracting(last: suffix.count), suffix.span) else {
            throw .badTopic
        }
        return name.count - suffix.count
    }

    /// Nil when no key opens it.
    private func open(_ text: Span<UInt8>) -> DeviceTokenContents? {
        guard let sealed = Hex.decode32(text), let plain = loop.cipher(for: .production).open(sealed) else { return nil }
        return DeviceTokenContents(bytes: plain)
    }

    /// The topic that the header names, if the key may send to it; the device token says where to look first.
    private func allowedTopic(
        _ name: Span<UInt8>, key: SigningKey, hint: TopicID?
    ) throws(RejectionReason) -> TopicDirectory.Entry {
        var found = hint.flatMap { loop.directory.topic($0) }
        if let entry = found, !Bytes.areEqual(entry.name.span, name) { found = nil }
        guard let entry = found ?? loop.directory.topic(named: name), entry.topic.teamID == key.teamID else {
            throw .topicDisallowed
        }
        guard key.topics?.contains(entry.topic.name) ?? true else { throw .topicDisallowed }
        return entry
    }

    /// Empty, too large, or not one JSON object; nothing else is looked at.
    private static func checkPayload(_ exchange: HTTPExchange, pushType: PushType?) throws(RejectionReason) {
        let byteCountMax = (pushType ?? .alert).payloadByteCountMax
        let payload = exchange.body
        guard !exchange.bodyOverflowed, payload.count <= byteCountMax else { throw .payloadTooLarge }
        guard !payload.isEmpty else { throw .payloadEmpty }
        do throws(JSONError) { try JSONValidator.validateObject(payload.span) } catch { throw .payloadEmpty }
    }
}

/// The values of the headers that stand alone.
private struct HeaderSet {
    var expiration: Int64?
    var priority: UInt8?
    var pushType: PushType?
    var collapseID: [UInt8]?

    init(_ headers: ProviderHeaders, _ bytes: Span<UInt8>) throws(RejectionReason) {
        if let range = headers.expiration {
            guard let seconds = HeaderValues.expiration(bytes.extracting(range)) else { throw .badExpirationDate }
            expiration = seconds
        }
        if let range = headers.priority {
            guard let value = HeaderValues.priority(bytes.extracting(range)) else { throw .badPriority }
            priority = value
        }
        if let range = headers.pushType {
            guard let type = PushType(bytes.extracting(range)) else { throw .invalidPushType }
            pushType = type
        }
        // An empty one is none: clients send it when their own field is empty.
        if let range = headers.collapseID, !range.isEmpty {
            let value = bytes.extracting(range)
            guard HeaderValues.isCollapseID(value) else { throw .badCollapseID }
            collapseID = Array(copying: value)
        }
    }
}
