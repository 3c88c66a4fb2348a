// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushServing
internal import PushStore
internal import PushTLS

/// Registrations and subscriptions: `/v1/apps/{topic}` and `/v1/apps/{topic}/channels[/{channel-id}]`.
extension DeviceEndpoint {
    /// Answers a request about an app; `path` is the part after `/v1/apps/`.
    func answerApp(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ caller: DeviceCaller, path: Substring
    ) {
        // A channel ID that is not escaped contains slashes.
        let parts = path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        let topic = TopicName(String(parts[0]))
        guard topic.isValid else {
            return ControlAnswer.refuse(
                exchange, status: 400, "BadTopic",
                "A topic consists of letters, digits, dots, hyphens and underscores.")
        }
        guard parts.count > 1 else { return answerRegistration(exchange, connection, caller, topic) }
        guard parts[1].utf8.elementsEqual("channels".utf8) else { return Self.refusePath(exchange) }
        guard parts.count > 2 else { return answerChannels(exchange, connection, caller, topic) }
        answerChannel(exchange, connection, caller, topic, escapedChannel: parts[2])
    }

    // MARK: Registrations

    private func answerRegistration(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ caller: DeviceCaller, _ topic: TopicName
    ) {
        switch exchange.method {
        case .put: register(exchange, connection, caller, topic)
        case .delete:
            perform(.unregister(topic: topic), exchange, connection, caller)
        case .get, .head, .post, .patch, .other: Self.refuseMethod(exchange, allowed: "PUT, DELETE")
        }
    }

    private func register(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ caller: DeviceCaller, _ topic: TopicName
    ) {
        guard let environment = wantedEnvironment(exchange) else { return }
        let request = DeviceRequest.register(topic: topic, environment: environment)
        ask(request, exchange, connection, caller) { [unowned services] answer, exchange in
            guard case .registered(let contents) = answer else { return }
            let token = services.cipher(for: environment).deviceToken(contents)
            ControlAnswer.send(exchange, DeviceAPI.Registration(topic: topic, deviceToken: token))
        }
    }

    /// Returns the environment in the body, production by default, or answers 400 if it is invalid.
    private func wantedEnvironment(_ exchange: HTTPExchange) -> Environment? {
        if exchange.body.isEmpty, !exchange.bodyOverflowed { return .production }
        guard let body = ControlAnswer.body(WrittenRegistration.self, of: exchange) else { return nil }
        switch body.environment {
        case nil: return .production
        case .known(let environment)?: return environment
        case .other?: break
        }
        ControlAnswer.refuse(
            exchange, status: 400, "BadEnvironment",
            "Unknown environment. Use \"production\" or \"development\", or omit it for production.")
        return nil
    }

    /// A `DeviceAPI.NewRegistration` with any environment, so that an invalid one gets an answer of its own.
    private struct WrittenRegistration: Decodable {
        var environment: Word?

        enum Word: Decodable {
            case known(Environment)
            case other

            init(from decoder: any Decoder) throws {
                self = (try? Environment(from: decoder)).map(Self.known) ?? .other
            }
        }
    }

    // MARK: Subscriptions

    private func answerChannels(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ caller: DeviceCaller, _ topic: TopicName
    ) {
        guard exchange.method == .get else { return Self.refuseMethod(exchange, allowed: "GET") }
        guard beginsAlone(.subscriptions, exchange, connection, caller) else { return }
        let request = DeviceRequest.subscriptions(topic: topic)
        ask(request, exchange, connection, caller, refuse: Self.refuseSubscription) { answer, exchange in
            guard case .subscriptions(let channels) = answer else { return }
            ControlAnswer.send(exchange, DeviceAPI.Subscriptions(channels: channels.map(\.text)))
        }
    }

    private func answerChannel(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ caller: DeviceCaller, _ topic: TopicName,
        escapedChannel: Substring
    ) {
        guard exchange.method == .put || exchange.method == .delete else {
            return Self.refuseMethod(exchange, allowed: "PUT, DELETE")
        }
        guard let text = PathSegment.decode(escapedChannel.utf8.span), let channel = ChannelID(text: text.span) else {
            return ControlAnswer.refuse(
                exchange, status: 400, "BadChannelID",
                "A channel ID is 24 characters of base64. Use the value of apns-channel-id that the provider got, with "
                    + "'/', '+' and '=' escaped as %2F, %2B and %3D.")
        }
        let request: DeviceRequest =
            exchange.method == .put
            ? .subscribe(topic: topic, channel: channel) : .unsubscribe(topic: topic, channel: channel)
        ask(request, exchange, connection, caller, refuse: Self.refuseSubscription) { _, exchange in
            ControlAnswer.sendNothing(exchange)
        }
    }

    /// Answers the refusal of an app that the device has not registered; returns false for other refusals.
    private static func refuseSubscription(_ refusal: StoreRefusal, _ exchange: HTTPExchange) -> Bool {
        guard refusal == .unknownTopic else { return false }
        ControlAnswer.refuse(
            exchange, status: refusal.status, refusal.word,
            "The app is not registered on this device. Register it first with PUT /v1/apps/TOPIC.")
        return true
    }
}

/// A segment of a path, in which a byte may be written as `%` and two hexadecimal digits.
enum PathSegment {
    /// Returns the decoded bytes, or nil if a `%` is not followed by two hexadecimal digits.
    ///
    /// - SeeAlso: RFC 3986, section 2.1
    static func decode(_ segment: Span<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(segment.count)
        var offset = 0
        while offset < segment.count {
            guard segment[offset] == UInt8(ascii: "%") else {
                bytes.append(segment[offset])
                offset += 1
                continue
            }
            guard segment.count - offset >= 3, let byte = Hex.decode(segment.extracting(offset + 1..<offset + 3)) else {
                return nil
            }
            bytes += byte
            offset += 3
        }
        return bytes
    }
}
