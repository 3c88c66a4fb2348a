// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import PushCore
internal import PushSQLite
internal import PushNet

extension Agent {
    /// Enrols this device with a server.
    ///
    /// - Parameters:
    ///   - serverURL: `https://host:port`.
    ///   - code: The enrolment code; empty where the server allows open enrolment.
    ///   - caFile: Absolute path of the authorities to trust; empty for the one that the code names, or the system's.
    ///   - name: What people call the machine.
    ///   - completion: Gets the device id.
    package func enrol(
        serverURL: String, code: String, caFile: String, name: String,
        completion: @escaping (Result<String, AgentRefusal>) -> Void
    ) {
        if let identity {
            return completion(
                .failure(
                    AgentRefusal(
                        .alreadyEnrolled,
                        "This device is enrolled at \(identity.serverURL) already.")))
        }
        guard !isEnrolling else {
            return completion(.failure(AgentRefusal(.alreadyEnrolled, "An enrolment is under way.")))
        }
        guard let url = Self.serverURL(serverURL) else {
            return completion(
                .failure(
                    AgentRefusal(.badServer, "'\(serverURL)' is no server's URL, https://HOST[:PORT] without a path.")))
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
        let session = ServerSession(loop: loop, url: url, caFile: caFile, secret: nil, access: access)
        let enrolment = DeviceAPI.Enrolment(code: code.isEmpty ? nil : code, name: name, platform: "linux")
        session.client.enrol(enrolment) { [weak self] result in
            // Keeps the session until its answer is there.
            defer { withExtendedLifetime(session) {} }
            guard let self else { return }
            completion(
                result.mapError { AgentRefusal(enrolment: $0, hadCode: !code.isEmpty) }
                    .flatMap { self.adopt($0, serverURL: url, caFile: caFile) })
        }
    }

    /// Looks at what the server shows, and keeps the certificate of the authority that the code names.
    ///
    /// - Parameters:
    ///   - authority: The digits that name it.
    ///   - url: The server's.
    ///   - completion: Gets the file to trust.
    private func learn(
        _ authority: String, of url: String, completion: @escaping (Result<String, AgentRefusal>) -> Void
    ) {
        let session = ServerSession(loop: loop, url: url, caFile: "", secret: nil, access: access)
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

    /// Leaves the server.
    package func unenrol(completion: @escaping (Result<Void, AgentRefusal>) -> Void) {
        guard identity != nil else { return completion(.failure(.notEnrolled)) }
        guard let link else { return completion(forgetServer()) }
        link.session.client.removeSelf { [weak self] result in
            guard let self else { return }
            switch result {
            // The server forgot us already.
            case .success, .failure(.refused(status: 401, _, _, _)): completion(forgetServer())
            case .failure(let error): completion(.failure(AgentRefusal(error)))
            }
        }
    }

    /// Leaves the server without telling it, for one that is gone for good.
    package func forget() throws(AgentRefusal) {
        guard identity != nil else { throw .notEnrolled }
        try forgetServer().get()
    }

    /// The secret first: an identity without a secret would be of no use, a secret without an identity does no harm.
    private func adopt(
        _ device: DeviceAPI.EnrolledDevice, serverURL: String, caFile: String
    ) -> Result<String, AgentRefusal> {
        guard DeviceID(text: device.deviceID) != nil, !device.deviceSecret.isEmpty,
            device.deviceSecret.utf8.count < SecretFile.byteCountMax,
            device.deviceSecret.utf8.allSatisfy({ $0 > 32 && $0 < 127 })
        else { return .failure(AgentRefusal(.unreachable, "The server's answer makes no sense.")) }
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
            }
        } catch {
            return .failure(refusal(error))
        }
        agentLog.info("enrolled", ["server": serverURL, "device": device.deviceID])
        connect(identity, secret: device.deviceSecret)
        return .success(device.deviceID)
    }

    private func forgetServer() -> Result<Void, AgentRefusal> {
        disconnect()
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
            return .failure(refusal(error))
        }
        identity = nil
        isRemoved = false
        lastError = ""
        for app in badged { present(badge: 0, appID: app.appID) }
        endedSubscriptions = []
        do {
            try secretFile.remove()
        } catch {
            agentLog.warning("secret_not_removed", ["error": error.message])
        }
        authorityFile.remove()
        agentLog.info("unenrolled")
        try? settingsChanged(appID: "")
        observer?.statusChanged()
        return .success(())
    }

    /// Runs a body and translates what SQLite says.
    func asking<Answer>(_ body: () throws(SQLiteError) -> Answer) throws(AgentRefusal) -> Answer {
        do {
            return try body()
        } catch {
            throw refusal(error)
        }
    }

    func refusal(_ error: SQLiteError) -> AgentRefusal {
        databaseFailed(error)
        return AgentRefusal(.failed, "The agent's database refused: \(error.message). Check that the disk has room.")
    }

    /// An https URL without path, user, query and fragment, and without the slash at its end; nil for anything else.
    ///
    /// Only https: the secret goes with every request.
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
