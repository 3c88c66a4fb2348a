// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The destination of a notification; its ID is not validated here, because the server reports what is wrong.
enum SendDestination: Equatable, Sendable {
    case device(token: String)
    /// Every device that subscribed to the channel.
    case channel(id: String)

    /// Chooses the destination from the options.
    ///
    /// - Parameter options: The options of `posthorn send`.
    /// - Throws: An error when both or neither of `--token` and `--channel` are given, or a broadcast has a collapse
    ///   ID.
    init(_ options: SendOptions) throws(CommandError) {
        switch (options.value("token"), options.value("channel")) {
        case (let token?, nil): self = .device(token: token)
        case (nil, let id?): self = .channel(id: id)
        case (nil, nil): throw options.missing("token or --channel")
        case (.some, .some): throw options.contradiction("--token and --channel cannot be combined")
        }
        guard case .channel = self, options.value("collapse-id") != nil else { return }
        throw options.contradiction("--channel and --collapse-id cannot be combined")
    }

    /// Returns the request path.
    func path(topic: String) -> String {
        switch self {
        case .device(let token): "/3/device/\(URLText.segment(token))"
        case .channel: "/4/broadcasts/apps/\(URLText.segment(topic))"
        }
    }

    /// Returns `apns-push-type`; the default depends on the destination.
    func pushType(_ options: SendOptions) -> String {
        if let told = options.value("push-type") { return told }
        return switch self {
        case .device: "alert"
        case .channel: "liveactivity"
        }
    }

    /// Returns the header fields that describe the notification, and the one that asks for warnings.
    func fields(
        _ options: SendOptions, topic: String, now: Timestamp
    ) throws(CommandError) -> [(String, String)] {
        let expiration = try options.expiration(now: now)
        let fields =
            switch self {
            case .device: deviceFields(options, topic: topic, expiration: expiration)
            case .channel(let id): channelFields(options, id: id, expiration: expiration)
            }
        return fields + [("posthorn-lint", "1")]
    }

    private func deviceFields(
        _ options: SendOptions, topic: String, expiration: String?
    ) -> [(String, String)] {
        let pushType = pushType(options)
        // Apple's documentation calls priority 10 for a background push an error.
        let priority = options.value("priority") ?? (pushType == "background" ? "5" : nil)
        let optional = [
            ("apns-priority", priority), ("apns-expiration", expiration),
            ("apns-collapse-id", options.value("collapse-id")), ("apns-id", options.value("id")),
        ]
        return [("apns-topic", topic), ("apns-push-type", pushType)]
            + optional.compactMap { name, value in value.map { (name, $0) } }
    }

    /// Returns the header fields of a broadcast; all except `apns-request-id` are required.
    ///
    /// - SeeAlso: Apple, "Sending broadcast push notification requests to APNs".
    private func channelFields(
        _ options: SendOptions, id: String, expiration: String?
    ) -> [(String, String)] {
        let fields = [
            ("apns-channel-id", id), ("apns-push-type", pushType(options)),
            ("apns-priority", options.value("priority") ?? "10"), ("apns-expiration", expiration ?? "0"),
        ]
        return fields + (options.value("id").map { [("apns-request-id", $0)] } ?? [])
    }
}
