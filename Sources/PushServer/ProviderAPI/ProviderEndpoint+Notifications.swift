// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushServing
internal import PushStore
internal import PushTLS

extension ProviderEndpoint {
    /// `POST /3/device/<token>`: checks a notification and passes it to the store.
    func sendNotification(_ request: ProviderRequest, to tokenRange: Range<Int>) throws(Rejection) {
        let sender = try authenticate(request)
        let notification = try notification(request, from: sender, to: tokenRange)
        try checkRoom()
        request.exchange.keep(notification.uniqueID)
        request.exchange.requestWasRead()
        services.loop.submit(.accept(notification, answer: request.connection.address(of: request.exchange)))
    }

    private func notification(
        _ request: ProviderRequest, from sender: Sender, to tokenRange: Range<Int>
    ) throws(Rejection) -> Notification {
        let expiration = try request.expiration()
        let priority = try request.priority()
        let givenType = try request.pushType()
        let collapseID = try request.collapseID()
        let tokenText = request.bytes.span.extracting(request.exchange.head.path).extracting(tokenRange)
        let sealed = Hex.decode32(tokenText)
        let address = open(sealed, request.environment)
        let (app, suffixed, pushType) = try topic(request, from: sender, givenType, hint: address?.topic)
        let requestQuotas = try takeRequest(request, from: sender, app)
        let type = pushType ?? .alert
        let payload = try request.payload(
            byteCountMax: type.payloadByteCountMax, kind: "push type \(type.rawValue)")
        guard let address, address.topic == app.topic.id else {
            try payloadValidator.validateRefused(payload, pushType, of: app)
            let rejection =
                address.map { notForTopic($0.topic, app, sender) }
                ?? badDeviceToken(tokenText, sealed, request.environment)
            throw takeBadToken(rejection, request, for: requestQuotas, of: app.topic.teamID)
        }
        let result = try payloadValidator.validate(
            payload, pushType, of: app, on: address.device, isRequested: request.requestsLint, now: request.now)
        request.exchange.context = try takeNotification(request, for: requestQuotas, to: address, result.warnings)
        payloadValidator.note(result, pushType)
        return Notification(
            address: address, apnsID: request.id.bytes, uniqueID: .random(services.random),
            suffixedTopic: suffixed ?? app.topic.name.text, pushType: pushType,
            priority: priority, expiration: expiration, collapseID: collapseID, payload: payload,
            acceptedAt: request.now)
    }

    /// Rejects push types that Apple allows with provider tokens only.
    private static func check(_ pushType: PushType?, of sender: Sender) throws(Rejection) {
        guard case .certificate = sender, pushType == .location || pushType == .liveactivity else { return }
        throw Rejection(.invalidPushType, "Push types location and liveactivity require a provider token.")
    }

    // MARK: Topic

    /// Finds the app, the push type, and the topic as sent if it has a suffix.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - sender: The sender of the request.
    ///   - pushType: The push type of the request, if any.
    ///   - hint: The app of the device token, which is looked up first.
    /// - Returns: The app, the topic with its suffix, and the push type.
    /// - Throws: The rejection.
    private func topic(
        _ request: ProviderRequest, from sender: Sender, _ pushType: PushType?, hint: TopicID?
    ) throws(Rejection) -> (TopicDirectory.Entry, suffixed: String?, PushType?) {
        if let range = request.headers.topic, !range.isEmpty {
            return try topic(request.bytes.span.extracting(range), from: sender, pushType, hint: hint)
        }
        guard let name = sender.defaultTopic else { throw Rejection(.missingTopic) }
        return try topic(Array(name.utf8).span, from: sender, pushType, hint: hint)
    }

    private func topic(
        _ name: Span<UInt8>, from sender: Sender, _ givenType: PushType?, hint: TopicID?
    ) throws(Rejection) -> (TopicDirectory.Entry, suffixed: String?, PushType?) {
        let pushType = givenType ?? pushType(impliedBy: name)
        try Self.check(pushType, of: sender)
        let baseByteCount = try Self.baseTopicByteCount(of: name, pushType: pushType)
        let base = name.extracting(first: baseByteCount)
        var found = hint.flatMap { services.directory.topic($0) }
        if let known = found?.name, !Bytes.areEqual(known.span, base) { found = nil }
        let known = found ?? services.directory.topic(named: base)
        guard let entry = known, sender.maySend(to: entry, name: name, pushType: pushType) else {
            throw Rejection(
                .topicDisallowed,
                sender.refusal(of: known, name: String(copying: name), pushType: pushType ?? .alert))
        }
        return (entry, baseByteCount == name.count ? nil : String(copying: name), pushType)
    }

    /// Returns the push type that the suffix of a topic implies, for older back-ends that never send `apns-push-type`.
    private func pushType(impliedBy name: Span<UInt8>) -> PushType? {
        let found = Self.suffixes.first { suffix in
            name.count > suffix.bytes.count
                && Bytes.areEqual(name.extracting(last: suffix.bytes.count), suffix.bytes.span)
        }
        // The topic of an app may end with this suffix.
        guard let found, services.directory.topic(named: name) == nil else { return nil }
        return found.type
    }

    /// The suffixes of topics, as bytes.
    private static let suffixes = PushType.allCases.filter { !$0.topicSuffix.isEmpty }
        .map { (type: $0, bytes: Array($0.topicSuffix.utf8)) }

    /// Returns the length of the topic without the push type's suffix.
    private static func baseTopicByteCount(
        of name: Span<UInt8>, pushType: PushType?
    ) throws(Rejection) -> Int {
        guard TopicName.isValid(name) else {
            throw Rejection(
                .badTopic,
                "Use letters, digits, dots, hyphens and underscores in apns-topic, for example com.example.MyApp.")
        }
        let type = pushType ?? .alert
        guard !type.topicSuffix.isEmpty else { return name.count }
        let suffix = Array(type.topicSuffix.utf8)
        guard name.count > suffix.count, Bytes.areEqual(name.extracting(last: suffix.count), suffix.span) else {
            throw Rejection(
                .badTopic,
                "apns-topic must be the app's topic followed by \(type.topicSuffix) for push type \(type.rawValue).")
        }
        return name.count - suffix.count
    }

    private func notForTopic(
        _ registered: TopicID, _ named: TopicDirectory.Entry, _ sender: Sender
    ) -> Rejection {
        let name = named.topic.name
        guard let other = services.directory.topic(registered), sender.mayManage(other) else {
            return Rejection(
                .deviceTokenNotForTopic, "This device token was registered for an app other than \(name).")
        }
        return Rejection(
            .deviceTokenNotForTopic, "This device token was registered for \(other.topic.name), not for \(name).")
    }

    // MARK: Device token

    /// Decrypts a device token; returns nil if no key decrypts it.
    private func open(_ sealed: InlineArray<32, UInt8>?, _ environment: Environment) -> DeviceTokenContents? {
        guard let sealed, let plain = services.cipher(for: environment).open(sealed) else { return nil }
        return DeviceTokenContents(bytes: plain)
    }

    /// Returns the rejection of a device token that does not decrypt.
    private func badDeviceToken(
        _ text: Span<UInt8>, _ sealed: InlineArray<32, UInt8>?, _ environment: Environment
    ) -> Rejection {
        guard let sealed else { return malformedDeviceToken(text) }
        guard open(sealed, environment.other) == nil else {
            return Rejection(
                .badDeviceToken,
                "The device token is for \(environment.other.rawValue); this connection is for \(environment.rawValue)."
            )
        }
        guard services.hasAllTokenKeys else { return Rejection(.serviceUnavailable) }
        return Rejection(
            .badDeviceToken,
            "This server did not issue the device token. Use the token of the app's registration with this server.")
    }

    /// Returns the rejection of a device token that does not have 64 hexadecimal digits.
    private func malformedDeviceToken(_ text: Span<UInt8>) -> Rejection {
        for offset in text.indices where !Hex.isDigit(text[offset]) {
            return Rejection(
                .badDeviceToken,
                "The device token in the path contains a non-hexadecimal character at position \(offset + 1): "
                    + "remove spaces, brackets and line breaks.")
        }
        return Rejection(
            .badDeviceToken,
            "The device token in the path has \(text.count) digits instead of "
                + "\(Limits.deviceTokenDigitCount): check that it was copied completely.")
    }
}

extension String {
    /// Copies the bytes of a span, with U+FFFD in place of invalid UTF-8.
    init(copying bytes: Span<UInt8>) { self.init(decoding: Array(copying: bytes), as: UTF8.self) }
}
