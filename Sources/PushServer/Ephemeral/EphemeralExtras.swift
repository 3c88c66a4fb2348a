// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushStore
internal import PushTLS

/// The objects that `--ephemeral --full` adds to the valid keys and tokens.
///
/// These are one key or token of each kind that is refused, the other environment, another team, certificates, and a
/// channel.
struct EphemeralExtras {
    /// The devices that attach like the regular ones.
    let devices: [BuiltInDevices.Device]
    /// The shell variables by name.
    let values: [String: String]

    init(
        _ setup: TestModeSetup, _ made: [(device: BuiltInDevices.Device, goneToken: String)],
        _ ports: [NetworkPort]
    ) throws(StoreRefusal) {
        guard made.count > 1 else { throw .unavailable("--full requires two topics") }
        let (main, other) = (made[0].device, made[1].device)
        let developer = try setup.makeDevice(main.topic, .development)
        let otherTeam = try Self.makeOtherTeam(setup, main.topic)
        devices = [developer, otherTeam.device]
        var values = try Self.makeKeys(setup, main.topic, other.topic)
        values.merge(otherTeam.values) { first, _ in first }
        values.merge(try Self.makeCertificates(setup, main.topic)) { first, _ in first }
        values["APNS_OTHER_TOPIC"] = other.topic.text
        values["APNS_OTHER_TOKEN"] = other.token
        values["APNS_NOBROADCAST_TOPIC"] = other.topic.text
        values["APNS_SANDBOX_TOKEN"] = developer.token
        values["APNS_EXPIRED"] = try Self.makeExpiredToken(setup, main.topic)
        values["APNS_CHANNEL_ID"] = try Self.makeChannel(setup, main)
        values["APNS_BROADCAST"] = "1"
        // Responses contain apns-unique-id in both environments.
        values["APNS_DEV"] = "1"
        values["APNS_MANAGE_HOST"] = "127.0.0.1"
        values["APNS_PORT_ALT"] = Self.port(ports.dropFirst(), PortRole())
        values["APNS_PORT_DEV"] = Self.port(ports[...], PortRole(environment: .development))
        values["APNS_MANAGE_PORT"] = Self.port(ports[...], PortRole(isForChannels: true))
        values["APNS_MANAGE_PORT_DEV"] = Self.port(ports[...], PortRole(environment: .development, isForChannels: true))
        self.values = values
    }

    private static func port(_ ports: ArraySlice<NetworkPort>, _ role: PortRole) -> String? {
        ports.first { $0.role == role }.map { String($0.address.port) }
    }

    private static func makeKeys(
        _ setup: TestModeSetup, _ topic: TopicName, _ otherTopic: TopicName
    ) throws(StoreRefusal) -> [String: String] {
        let unrelated = try setup.makeKey(topics: [otherTopic])
        let scoped = try setup.makeKey(topics: [topic])
        let development = try setup.makeKey(environment: .development)
        let revoked = try setup.makeKey()
        try setup.ask(.control(.revokeKey(id: revoked.id)))
        return [
            "APNS_KEY2": unrelated.file, "APNS_KEY2_ID": unrelated.id, "APNS_KEY_TOPIC": scoped.file,
            "APNS_KEY_TOPIC_ID": scoped.id, "APNS_KEY_ENV": development.file, "APNS_KEY_ENV_ID": development.id,
            "APNS_REVOKED_KEY": revoked.file, "APNS_REVOKED_KEY_ID": revoked.id,
        ]
    }

    /// Creates another team with an app, a device and a key.
    private static func makeOtherTeam(
        _ setup: TestModeSetup, _ topic: TopicName
    ) throws(StoreRefusal) -> (device: BuiltInDevices.Device, values: [String: String]) {
        let teamID = Identifier.make()
        let key = try setup.makeKey(teamID: teamID)
        guard let device = try setup.makeDevices([TopicName("\(topic).Stranger")], teamID: teamID).first?.device else {
            throw .unavailable("the store created no device")
        }
        let values = [
            "APNS_TEAM2": teamID, "APNS_TEAM2_TEAM": teamID, "APNS_TEAM2_KEY": key.file, "APNS_TEAM2_KEY_ID": key.id,
            "APNS_TEAM2_TOPIC": device.topic.text, "APNS_TEAM2_TOKEN": device.token,
        ]
        return (device, values)
    }

    private static func makeExpiredToken(
        _ setup: TestModeSetup, _ topic: TopicName
    ) throws(StoreRefusal) -> String {
        let device = try setup.makeDevice(topic, .production)
        try setup.ask(.administer(device.id, .expire))
        return device.token
    }

    /// Creates a channel to which the app's device is subscribed.
    private static func makeChannel(
        _ setup: TestModeSetup, _ device: BuiltInDevices.Device
    ) throws(StoreRefusal) -> String {
        let channel = ChannelID.random()
        try setup.ask(
            .control(.changeApp(topic: device.topic, name: nil, checks: nil, allowsBroadcasts: true)))
        try setup.ask(
            .control(
                .createChannel(
                    channel, topic: device.topic, environment: .production, policy: .mostRecentMessageStored)))
        try setup.ask(.device(.subscribe(topic: device.topic, channel: channel), by: device.secret.credential))
        return channel.text
    }

    private static func makeCertificates(
        _ setup: TestModeSetup, _ topic: TopicName
    ) throws(StoreRefusal) -> [String: String] {
        let revoked = try setup.makeCertificate(.single, topic)
        try setup.ask(.control(.revokeCertificate(revoked.fingerprint)))
        return [
            "APNS_CLIENT_CERT": try setup.makeCertificate(.single, topic).file,
            "APNS_CLIENT_CERT_MULTI": try setup.makeCertificate(.universal, topic).file,
            "APNS_CLIENT_CERT_VOIP": try setup.makeCertificate(.voip, topic).file,
            "APNS_CLIENT_CERT_ENV": try setup.makeCertificate(.single, topic, .development).file,
            "APNS_CLIENT_CERT_REVOKED": revoked.file,
        ]
    }
}
