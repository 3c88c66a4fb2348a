// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import PushCore
internal import PushNet
internal import PushStore
internal import PushTLS

/// Furnishes an ephemeral server: a key, and for each topic an app, a device, a live token and a dead one.
struct EphemeralSetup {
    let devices: [BuiltInDevices.Device]
    /// One line of JSON that says all that a test must know.
    let line: String

    /// Asks the store for everything; takes milliseconds.
    init(
        _ ephemeral: ServerConfiguration.Ephemeral, context: ServerContext, conversation: StoreConversation,
        ports: [NetworkPort]
    ) throws(ServerError) {
        do throws(StoreRefusal) {
            let directory = context.installation.directory
            let (key, keyFile) = try Self.makeKey(in: directory, context, conversation)
            let made = try Self.makeDevices(
                ephemeral.topics, teamID: key.teamID, cipher: try Self.makeCipher(context), conversation)
            devices = made.map(\.device)
            let facts = AdminAPI.Ephemeral(
                host: "127.0.0.1", port: Int(ports.first?.address.port ?? 0),
                caFile: context.installation.authorityFile ?? "",
                keyFile: keyFile, keyID: key.id, teamID: key.teamID, adminSocket: context.configuration.adminSocket,
                topics: made.map { device, goneToken in
                    AdminAPI.EphemeralTopic(
                        topic: device.topic, token: device.token, goneToken: goneToken, deviceID: device.id.text,
                        deviceSecret: device.secret.text)
                })
            line = Self.encode(facts)
        } catch {
            throw .configuration(
                ConfigurationError(
                    place: "--ephemeral", problem: error.detail, remedy: "Correct --topic and try again."))
        }
    }

    private static func makeKey(
        in directory: String, _ context: ServerContext, _ conversation: StoreConversation
    ) throws(StoreRefusal) -> (SigningKey, file: String) {
        let made: (key: SigningKey, pem: String)
        do throws(TLSError) { made = try SigningKey.make(teamID: context.installation.teamID, topics: nil) } catch {
            throw .unavailable(error.description)
        }
        let file = "\(directory)/AuthKey_\(made.key.id).p8"
        do throws(NetError) { try PrivateFile.write(Array(made.pem.utf8), to: file) } catch {
            throw .unavailable(error.description)
        }
        _ = try conversation.ask([.addKey(made.key)])
        return (made.key, file)
    }

    private static func makeCipher(_ context: ServerContext) throws(StoreRefusal) -> TokenCipher {
        do throws(TLSError) { return try context.installation.makeTokenCipher(for: .production) } catch {
            throw .unavailable(error.description)
        }
    }

    /// One device a topic; each registers, unregisters, which makes its first token a dead one, and registers again.
    private static func makeDevices(
        _ topics: [String], teamID: String, cipher: TokenCipher, _ conversation: StoreConversation
    ) throws(StoreRefusal) -> [(device: BuiltInDevices.Device, goneToken: String)] {
        let secrets = topics.map { _ in DeviceSecret() }
        let ids = topics.map { _ in DeviceID(rawValue: SecureRandom.uint64() >> 1) }
        _ = try conversation.ask(topics.map { .addApp(topic: $0, name: $0, teamID: teamID) })
        _ = try conversation.ask(
            topics.indices.map { index in
                .enrol(
                    .init(
                        codeHash: nil, device: ids[index], secretHash: secrets[index].hash,
                        name: "built-in device of \(topics[index])", platform: "ephemeral"))
            })
        let registrations = topics.indices.map { index in
            StoreRequest.register(secretHash: secrets[index].hash, topic: topics[index])
        }
        let gone = try tokens(conversation.ask(registrations), cipher)
        _ = try conversation.ask(
            topics.indices.map { .unregister(secretHash: secrets[$0].hash, topic: topics[$0]) })
        let live = try tokens(conversation.ask(registrations), cipher)
        return topics.indices.map { index in
            let device = BuiltInDevices.Device(
                id: ids[index], secret: secrets[index], topic: topics[index], token: live[index])
            return (device, gone[index])
        }
    }

    private static func tokens(_ answers: [StoreAnswer], _ cipher: TokenCipher) throws(StoreRefusal) -> [String] {
        var tokens: [String] = []
        for answer in answers {
            guard case .registered(let contents) = answer else { throw .unavailable("unexpected answer") }
            tokens.append(cipher.deviceToken(contents))
        }
        return tokens
    }

    private static func encode(_ facts: AdminAPI.Ephemeral) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(facts) else { preconditionFailure("text and numbers can be encoded") }
        return String(decoding: data, as: UTF8.self)
    }
}
