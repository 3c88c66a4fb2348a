// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushStore
internal import PushTLS

/// The initial contents of an ephemeral server.
///
/// It has a key, and for each topic an app, a device, a valid token and an invalid one. `--full` adds everything else
/// that a test of the provider API may need.
struct EphemeralSetup {
    let devices: [BuiltInDevices.Device]
    /// One line of JSON with all values that a test needs.
    let line: String

    /// Creates everything with requests to the store, which takes milliseconds.
    init(
        _ ephemeral: ServerConfiguration.Ephemeral, context: ServerContext, storeClient: BlockingStoreClient,
        ports: [NetworkPort]
    ) throws(ServerError) {
        do throws(StoreRefusal) {
            let setup = try TestModeSetup(context, storeClient)
            let key = try setup.makeKey()
            let topics = ephemeral.isFull ? Self.withAnother(ephemeral.topics) : ephemeral.topics
            let made = try setup.makeDevices(topics)
            let extras = ephemeral.isFull ? try EphemeralExtras(setup, made, ports) : nil
            devices = made.map(\.device) + (extras?.devices ?? [])
            var facts = TestModeAPI.Ephemeral(
                host: "127.0.0.1", port: Int(ports.first?.address.port ?? 0),
                caFile: context.installation.authorityFile ?? "", keyFile: key.file, keyID: key.id,
                teamID: setup.teamID, adminSocket: context.settings.configuration.adminSocket,
                topics: made.map { device, goneToken in
                    TestModeAPI.EphemeralTopic(
                        topic: device.topic, token: device.token, goneToken: goneToken, deviceID: device.id.text,
                        deviceSecret: device.secret.text)
                })
            let variables = EphemeralVariables(facts, extras)
            facts.variables = ephemeral.isFull ? variables.values : nil
            try variables.write(to: ephemeral.environmentFile)
            line = Self.encode(facts)
        } catch {
            throw .configuration(
                ConfigurationError(
                    place: "--ephemeral", problem: error.detail, remedy: "Correct the options and try again."))
        }
    }

    /// Returns at least two topics, because a test of the whole API needs two apps.
    private static func withAnother(_ topics: [TopicName]) -> [TopicName] {
        topics.count > 1 ? topics : topics + [TopicName("\(topics.first ?? "com.example.MyApp").Other")]
    }

    private static func encode(_ facts: TestModeAPI.Ephemeral) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(facts) else { preconditionFailure("text and numbers can be encoded") }
        return String(decoding: data, as: UTF8.self)
    }
}
