// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import FoundationEssentials
internal import PushAPI
internal import PushCore
internal import PushSQLite
internal import PushNet
internal import PushTLS

/// Enrols the device with a server, and ends that.
package final class EnrolmentService {
    private let database: AgentDatabase
    private let link: ServerLink
    private let badges: BadgeService
    private let changes: ChangeNotifier
    private let failures: DatabaseFailures
    private let secretFile: SecretFile
    private let authorityFile: EnrolledAuthority
    private let subscriptions: SubscriptionService
    private let settings: SettingService
    private var isEnrolling = false

    init(
        _ context: AgentContext, _ secretFile: SecretFile, _ authorityFile: EnrolledAuthority,
        _ subscriptions: SubscriptionService, _ settings: SettingService
    ) {
        database = context.database
        link = context.link
        badges = context.badges
        changes = context.changes
        failures = context.failures
        self.secretFile = secretFile
        self.authorityFile = authorityFile
        self.subscriptions = subscriptions
        self.settings = settings
    }

    /// Enrols this device with a server.
    ///
    /// - Parameters:
    ///   - serverURL: The server's URL, `https://host[:port]`.
    ///   - code: The enrolment code; empty where the server allows open enrolment.
    ///   - caFile: Absolute path of a PEM file of trusted authorities; empty to trust the authority that the code
    ///     names, or the system's.
    ///   - name: The device's display name.
    ///   - completion: Receives the device ID.
    func enrol(
        serverURL: String, code: String, caFile: String, name: String,
        completion: @escaping (Result<String, AgentRefusal>) -> Void
    ) {
        if let identity = link.identity {
            return completion(
                .failure(
                    AgentRefusal(
                        .alreadyEnrolled,
                        "This device is already enrolled with \(identity.serverURL).")))
        }
        guard !isEnrolling else {
            return completion(.failure(AgentRefusal(.alreadyEnrolled, "An enrolment is already in progress.")))
        }
        guard let url = Self.serverURL(serverURL) else {
            return completion(
                .failure(
                    AgentRefusal(
                        .badServer, "Invalid server URL '\(serverURL)': use https://HOST[:PORT], without a path.")))
        }
        guard caFile.isEmpty || caFile.utf8.first == UInt8(ascii: "/") else {
            return completion(.failure(AgentRefusal(.badServer, "ca_file must be an absolute path.")))
        }
        let meant = EnrolmentCode(typed: code)
        if meant == nil, EnrolmentCode.digits(code).count > EnrolmentCode.secretDigitCount {
            return completion(.failure(.garbledCode))
        }
        isEnrolling = true
        let code = meant?.secret ?? code
        let finish: (Result<String, AgentRefusal>) -> Void = { [weak self] result in
            self?.isEnrolling = false
            completion(result)
        }
        guard caFile.isEmpty, let authority = meant?.authority else {
            return enrol(at: url, code: code, caFile: caFile, name: name, completion: finish)
        }
        learn(authority, of: url) { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(let refusal): finish(.failure(refusal))
            case .success(let caFile):
                enrol(at: url, code: code, caFile: caFile, name: name) { [weak self] result in
                    if case .failure = result { self?.authorityFile.remove() }
                    finish(result)
                }
            }
        }
    }

    private func enrol(
        at url: String, code: String, caFile: String, name: String,
        completion: @escaping (Result<String, AgentRefusal>) -> Void
    ) {
        let requestID: String
        do throws(SQLiteError) { requestID = try enrolmentRequestID() } catch {
            return completion(.failure(failures.refusal(error)))
        }
        let session = link.anonymousSession(url: url, caFile: caFile)
        let enrolment = DeviceAPI.Enrolment(
            code: code.isEmpty ? nil : code, name: name, platform: "linux", requestID: requestID)
        session.client.enrol(enrolment) { [weak self] result in
            // Keeps the session alive until the response has arrived.
            defer { withExtendedLifetime(session) {} }
            guard let self else { return }
            completion(
                result.mapError { AgentRefusal(enrolment: $0, hadCode: !code.isEmpty) }
                    .flatMap { self.adopt($0, serverURL: url, caFile: caFile) })
        }
    }

    /// Returns the random ID that makes an enrolment request idempotent.
    ///
    /// It is stored and stays the same, also after a restart, until the device is enrolled. A request whose response
    /// was lost is repeated with it.
    ///
    /// - Returns: The ID as text.
    /// - Throws: `SQLiteError` if the ID cannot be read or stored.
    private func enrolmentRequestID() throws(SQLiteError) -> String {
        var halves: [UInt64] = []
        for name in [FactTable.Name.enrolmentRequestHigh, .enrolmentRequestLow] {
            if let known = try database.facts.value(of: name), known != 0 {
                halves.append(UInt64(bitPattern: known))
            } else {
                let random = SecureRandom.uint64()
                try database.facts.set(name, to: Int64(bitPattern: random))
                halves.append(random)
            }
        }
        return UniqueID(high: halves[0], low: halves[1]).text
    }

    /// Fetches the server's certificates and saves the one of the authority that the code names.
    ///
    /// - Parameters:
    ///   - authority: The digits of the code that identify the authority.
    ///   - url: The server's URL.
    ///   - completion: Receives the path of the file of trusted authorities.
    private func learn(
        _ authority: String, of url: String, completion: @escaping (Result<String, AgentRefusal>) -> Void
    ) {
        let session = link.anonymousSession(url: url, caFile: "")
        session.client.certificates { [weak self] result in
            defer { withExtendedLifetime(session) {} }
            guard let self else { return }
            do throws(StorageError) {
                switch result {
                case .failure(let error): completion(.failure(AgentRefusal(enrolment: error, hadCode: true)))
                case .success(let certificates):
                    let isKept = try authorityFile.keep(authority, outOf: certificates)
                    completion(isKept ? .success(authorityFile.path) : .failure(.otherAuthority))
                }
            } catch {
                completion(.failure(AgentRefusal(.failed, "\(error.message). \(error.remedy)")))
            }
        }
    }

    /// Unenrolls the device: removes it from the server, then deletes the local identity.
    func unenrol(completion: @escaping (Result<Void, AgentRefusal>) -> Void) {
        guard link.identity != nil else { return completion(.failure(.notEnrolled)) }
        guard let clients = link.clients else { return completion(forgetServer()) }
        clients.session.client.removeSelf { [weak self] result in
            guard let self else { return }
            switch result {
            // The server has removed this device already.
            case .success, .failure(.refused(status: 401, _, _, _)): completion(forgetServer())
            case .failure(let error): completion(.failure(AgentRefusal(error)))
            }
        }
    }

    /// Deletes the local identity without a request to the server, for a server that no longer exists.
    func forget() throws(AgentRefusal) {
        guard link.identity != nil else { throw .notEnrolled }
        try forgetServer().get()
    }

    /// Stores the identity and the secret of a new enrolment, then connects.
    ///
    /// The secret is written first: an identity without a secret is useless, but a secret without an identity does no
    /// harm.
    ///
    /// - Parameters:
    ///   - device: The server's response.
    ///   - serverURL: The server's URL.
    ///   - caFile: The file of trusted authorities; empty for the system's.
    /// - Returns: The device ID, or the error.
    private func adopt(
        _ device: DeviceAPI.EnrolledDevice, serverURL: String, caFile: String
    ) -> Result<String, AgentRefusal> {
        guard DeviceID(text: device.deviceID) != nil, !device.deviceSecret.isEmpty,
            device.deviceSecret.utf8.count < SecretFile.byteCountMax,
            device.deviceSecret.utf8.allSatisfy({ $0 > 32 && $0 < 127 })
        else { return .failure(AgentRefusal(.unreachable, "The server sent an invalid response.")) }
        let identity = Identity(serverURL: serverURL, deviceID: device.deviceID, caFile: caFile)
        do {
            try secretFile.write(device.deviceSecret)
        } catch {
            return .failure(AgentRefusal(.failed, "\(error.message). \(error.remedy)"))
        }
        do {
            try database.transaction { () throws(SQLiteError) in
                try database.identity.save(identity)
                try database.outbox.removeAll()
                try database.apps.forgetServer()
                try database.subscriptions.forgetServer()
                try database.facts.set(.isFilterDue, to: 1)
                try database.facts.set(.enrolmentRequestHigh, to: 0)
                try database.facts.set(.enrolmentRequestLow, to: 0)
            }
        } catch {
            return .failure(failures.refusal(error))
        }
        agentLog.info("enrolled", ["server": serverURL, "device": device.deviceID])
        link.connect(identity, secret: device.deviceSecret)
        return .success(device.deviceID)
    }

    private func forgetServer() -> Result<Void, AgentRefusal> {
        link.disconnect()
        let badged: [RegisteredApp]
        do {
            badged = try database.apps.all().filter { $0.badge > 0 }
            try database.transaction { () throws(SQLiteError) in
                try database.identity.remove()
                try database.outbox.removeAll()
                try database.apps.forgetServer()
                try database.subscriptions.forgetServer()
                try database.policy.replaceAll([])
                try database.facts.set(.policyVersion, to: 0)
            }
        } catch {
            return .failure(failures.refusal(error))
        }
        link.forget()
        for app in badged { badges.present(0, appID: app.appID) }
        subscriptions.forgetEnded(of: nil)
        do {
            try secretFile.remove()
        } catch {
            agentLog.warning("secret_not_removed", ["error": error.message])
        }
        authorityFile.remove()
        agentLog.info("unenrolled")
        try? settings.settingsChanged(appID: "")
        changes.observer?.statusChanged()
        return .success(())
    }

    /// Returns a normalized server URL; nil if the text is not a server URL.
    ///
    /// The URL has no path, user, query or fragment; a slash at the end is removed. Only https is accepted, because
    /// each request carries the device secret.
    ///
    /// - Parameter text: The URL as the user typed it.
    /// - Returns: The URL without a trailing slash.
    static func serverURL(_ text: String) -> String? {
        var trimmed = text[...]
        if trimmed.utf8.last == UInt8(ascii: "/") { trimmed = trimmed.dropLast() }
        guard text.utf8.count <= 300, let url = URL(string: String(trimmed)), let host = url.host(), !host.isEmpty,
            url.scheme?.lowercased() == "https", url.path().isEmpty, url.query() == nil, url.fragment() == nil,
            url.user() == nil, url.password() == nil, trimmed.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != 92 })
        else { return nil }
        return String(trimmed)
    }
}
