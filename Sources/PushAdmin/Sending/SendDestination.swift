// SPDX-License-Identifier: Apache-2.0

/// Whom `posthorn send` sends to; ids stay as they were given, because the server says what is wrong with them.
package enum SendDestination: Equatable, Sendable {
    /// One app on one device.
    case device(token: String)
    /// Every device that subscribed.
    case channel(id: String)

    /// Takes the one that was told.
    ///
    /// - Parameter options: What was told.
    /// - Throws: When neither or both were told, or a broadcast was given what it cannot have.
    package init(_ options: SendOptions) throws(CommandError) {
        switch (options.value("token"), options.value("channel")) {
        case (let token?, nil): self = .device(token: token)
        case (nil, let id?): self = .channel(id: id)
        case (nil, nil): throw options.missing("token (or --channel)")
        case (.some, .some): throw options.contradiction("--token is for one device and --channel for many: choose one")
        }
        guard case .channel = self, options.value("collapse-id") != nil else { return }
        throw options.contradiction("a broadcast has no --collapse-id: the newest one replaces the others")
    }

    /// Where to post to.
    func path(topic: String) -> String {
        switch self {
        case .device(let token): "/3/device/\(URLText.segment(token))"
        case .channel: "/4/broadcasts/apps/\(URLText.segment(topic))"
        }
    }

    /// `apns-push-type`: as told, else the one that goes with the destination.
    func pushType(_ options: SendOptions) -> String {
        if let told = options.value("push-type") { return told }
        return switch self {
        case .device: "alert"
        case .channel: "liveactivity"
        }
    }

    /// The header fields that say what is sent and how.
    func fields(
        _ options: SendOptions, topic: String, nowUnixSeconds: Int64
    ) throws(CommandError) -> [(String, String)] {
        let expiration = try options.expiration(nowUnixSeconds: nowUnixSeconds)
        switch self {
        case .device: return deviceFields(options, topic: topic, expiration: expiration)
        case .channel(let id): return channelFields(options, id: id, expiration: expiration)
        }
    }

    private func deviceFields(
        _ options: SendOptions, topic: String, expiration: String?
    ) -> [(String, String)] {
        let pushType = pushType(options)
        // Apple: a background push with priority 10 is an error.
        let priority = options.value("priority") ?? (pushType == "background" ? "5" : nil)
        let optional = [
            ("apns-priority", priority), ("apns-expiration", expiration),
            ("apns-collapse-id", options.value("collapse-id")), ("apns-id", options.value("id")),
        ]
        return [("apns-topic", topic), ("apns-push-type", pushType)]
            + optional.compactMap { name, value in value.map { (name, $0) } }
    }

    /// All but the request's id must be there.
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
