// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushStore
internal import PushTLS

/// Creates keys, devices, tokens and certificates for an ephemeral server with regular requests to the store.
struct TestModeSetup {
    /// A signing key and the file with its private half.
    struct Key {
        let id: String
        let teamID: String
        let file: String
    }

    let context: ServerContext
    let storeClient: BlockingStoreClient
    private let ciphers: TokenCiphers

    init(_ context: ServerContext, _ storeClient: BlockingStoreClient) throws(StoreRefusal) {
        self.context = context
        self.storeClient = storeClient
        do throws(TLSError) { ciphers = try TokenCiphers(context.installation.tokenKeys) } catch {
            throw .unavailable(error.description)
        }
    }

    /// The server's own team.
    var teamID: String { context.installation.teamID }

    /// Creates a key and writes its .p8 file to the server's directory.
    ///
    /// - Parameters:
    ///   - teamID: The team; nil for the server's own.
    ///   - topics: The topics; nil for every topic of the team.
    ///   - environment: The environment; nil for both.
    /// - Returns: The key.
    /// - Throws: The reason why the store or the disk refused it.
    func makeKey(
        teamID: String? = nil, topics: [TopicName]? = nil, environment: Environment? = nil
    ) throws(StoreRefusal) -> Key {
        let made: (key: SigningKey, pem: String)
        do throws(TLSError) {
            made = try SigningKey.make(teamID: teamID ?? self.teamID, topics: topics, environment: environment)
        } catch {
            throw .unavailable(error.description)
        }
        _ = try ask(.control(.addKey(made.key)))
        let file = try write(Array(made.pem.utf8), to: "AuthKey_\(made.key.id).p8")
        return Key(id: made.key.id, teamID: made.key.teamID, file: file)
    }

    /// Creates apps with one device each.
    ///
    /// Each device registers, unregisters and registers again, so that its first token is no longer valid.
    ///
    /// - Parameters:
    ///   - topics: The topics of the apps.
    ///   - teamID: The team; nil for the server's own.
    /// - Returns: The devices with their valid tokens, and the invalid tokens.
    /// - Throws: The reason why the store refused a request.
    func makeDevices(
        _ topics: [TopicName], teamID: String? = nil
    ) throws(StoreRefusal) -> [(device: BuiltInDevices.Device, goneToken: String)] {
        _ = try storeClient.ask(
            topics.map { .control(.addApp(topic: $0, name: $0.text, teamID: teamID ?? self.teamID)) })
        var made: [(device: BuiltInDevices.Device, goneToken: String)] = []
        for topic in topics {
            let first = try makeDevice(topic, .production)
            _ = try ask(.device(.unregister(topic: topic), by: first.secret.credential))
            let live = try register(first.secret, topic, .production)
            made.append(
                (BuiltInDevices.Device(id: first.id, secret: first.secret, topic: topic, token: live), first.token))
        }
        return made
    }

    /// Creates a device with a registered app.
    func makeDevice(_ topic: TopicName, _ environment: Environment) throws(StoreRefusal) -> BuiltInDevices.Device {
        let id = DeviceID(rawValue: SecureRandom.uint64() >> 1)
        let secret = DeviceSecret(of: id)
        _ = try ask(
            .enrol(
                .init(
                    codeHash: nil, device: id, secretHash: { _ in secret.credential.secretHash },
                    name: "built-in device of \(topic)", platform: "ephemeral",
                    authority: context.authorities.servedOwnFingerprint)))
        let token = try register(secret, topic, environment)
        return BuiltInDevices.Device(id: id, secret: secret, topic: topic, token: token)
    }

    /// Creates a client certificate of the server's own team, and writes it with its key to one PEM file.
    ///
    /// - Parameters:
    ///   - kind: The kind of certificate, which selects topics of the app.
    ///   - topic: The app.
    ///   - environment: The environment; nil for both.
    /// - Returns: The SHA-256 of the certificate, and the file.
    /// - Throws: The reason why the authority, the store or the disk refused it.
    func makeCertificate(
        _ kind: CredentialAPI.NewCertificate.Kind, _ topic: TopicName, _ environment: Environment? = nil
    ) throws(StoreRefusal) -> (fingerprint: [UInt8], file: String) {
        let issued: Installation.IssuedClientCertificate
        do throws(InstallationError) {
            issued = try context.installation.issueClientCertificate(
                kind, topic: topic, teamID: teamID, environment: environment,
                days: CredentialAPI.NewCertificate.daysUsual)
        } catch {
            throw .unavailable(error.description)
        }
        try ask(.control(.addCertificate(issued.record)))
        let file = try write(
            issued.certificate + issued.privateKey, to: "certificate-\(issued.record.serialNumber).pem")
        return (issued.record.fingerprint, file)
    }

    /// Sends one request to the store.
    @discardableResult
    func ask(_ request: StoreRequest) throws(StoreRefusal) -> StoreAnswer {
        let answers = try storeClient.ask([request])
        guard let answer = answers.first else { throw .unavailable("the store did not answer") }
        return answer
    }

    /// Writes a file to the server's directory, which is removed with the server.
    func write(_ bytes: [UInt8], to name: String) throws(StoreRefusal) -> String {
        let file = "\(context.installation.directory)/\(name)"
        do throws(NetError) { try PrivateFile.write(bytes, to: file) } catch {
            throw .unavailable(error.description)
        }
        return file
    }

    private func register(
        _ secret: DeviceSecret, _ topic: TopicName, _ environment: Environment
    ) throws(StoreRefusal) -> String {
        let answer = try ask(.device(.register(topic: topic, environment: environment), by: secret.credential))
        guard case .registered(let contents) = answer else { throw .unavailable("unexpected answer") }
        return ciphers.cipher(for: environment).deviceToken(contents)
    }
}
