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
        port: UInt16
    ) throws(ServerError) {
        do throws(StoreRefusal) {
            let directory = context.installation.directory
            let (key, keyFile) = try Self.makeKey(in: directory, context, conversation)
            let cipher = try Self.makeCipher(context)
            var made: [(device: BuiltInDevices.Device, goneToken: String)] = []
            for topic in ephemeral.topics {
                made.append(try Self.makeDevice(topic, teamID: key.teamID, cipher: cipher, conversation))
            }
            devices = made.map(\.device)
            let facts = AdminAPI.Ephemeral(
                host: "127.0.0.1", port: Int(port), caFile: context.installation.authorityFile ?? "",
                keyFile: keyFile, keyID: key.id, teamID: key.teamID, adminSocket: context.configuration.adminSocket,
                topics: made.map { device, goneToken in
                    AdminAPI.EphemeralTopic(
                        topic: device.topic, token: device.token, goneToken: goneToken, deviceID: device.id.text,
                        deviceSecret: device.secret.text)
                })
            line = Self.encode(facts)
        } catch {
            throw .configuration(
                ConfigurationError(place: "--ephemeral", problem: error.detail, remedy: "Correct --topic and try again."))
        }
    }

    private static func makeKey(
        in directory: String, _ context: ServerContext, _ conversation: StoreConversation
    ) throws(StoreRefusal) -> (SigningKey, file: String) {
        do throws(TLSError) {
            let made = try SigningKey.make(teamID: context.installation.teamID, topics: nil)
            let file = "\(directory)/AuthKey_\(made.key.id).p8"
            do throws(NetError) { try PrivateFile.write(Array(made.pem.utf8), to: file) } catch {
                throw TLSError.badFile(path: file, text: error.description)
            }
            return try store(made.key, file: file, conversation).get()
        } catch {
            throw .unavailable(error.description)
        }
    }

    private static func store(
        _ key: SigningKey, file: String, _ conversation: StoreConversation
    ) -> Result<(SigningKey, file: String), TLSError> {
        do throws(StoreRefusal) {
            _ = try conversation.ask(.addKey(key))
            return .success((key, file))
        } catch {
            return .failure(.badFile(path: file, text: error.detail))
        }
    }

    private static func makeCipher(_ context: ServerContext) throws(StoreRefusal) -> TokenCipher {
        do throws(TLSError) { return try TokenCipher(keys: context.installation.tokenKeys) } catch {
            throw .unavailable(error.description)
        }
    }

    private static func makeDevice(
        _ topic: String, teamID: String, cipher: TokenCipher, _ conversation: StoreConversation
    ) throws(StoreRefusal) -> (BuiltInDevices.Device, goneToken: String) {
        let secret = DeviceSecret()
        let device = DeviceID(rawValue: SecureRandom.uint64() >> 1)
        _ = try conversation.ask(.addApp(topic: topic, name: topic, teamID: teamID))
        _ = try conversation.ask(
            .enrol(
                .init(
                    codeHash: nil, device: device, secretHash: secret.hash, name: "built-in device of \(topic)",
                    platform: "ephemeral")))
        let gone = try register(topic, secret, cipher, conversation)
        _ = try conversation.ask(.unregister(secretHash: secret.hash, topic: topic))
        let live = try register(topic, secret, cipher, conversation)
        return (BuiltInDevices.Device(id: device, secret: secret, topic: topic, token: live), gone)
    }

    private static func register(
        _ topic: String, _ secret: DeviceSecret, _ cipher: TokenCipher, _ conversation: StoreConversation
    ) throws(StoreRefusal) -> String {
        guard case .registered(let contents) = try conversation.ask(.register(secretHash: secret.hash, topic: topic))
        else { throw .unavailable("unexpected answer") }
        return cipher.deviceToken(contents)
    }

    private static func encode(_ facts: AdminAPI.Ephemeral) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(facts) else { preconditionFailure("text and numbers can be encoded") }
        return String(decoding: data, as: UTF8.self)
    }
}
