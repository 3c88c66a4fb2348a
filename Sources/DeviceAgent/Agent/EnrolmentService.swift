// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushSQL
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
    /// - Returns: The device ID.
    /// - Throws: The refusal of this agent or of the server.
    func enrol(
        serverURL: String, code: String, caFile: String, name: String
    ) async throws(AgentRefusal) -> String {
        if let identity = link.identity {
            throw AgentRefusal(.alreadyEnrolled, "This device is already enrolled with \(identity.serverURL).")
        }
        guard !isEnrolling else { throw AgentRefusal(.alreadyEnrolled, "An enrolment is already in progress.") }
        guard let url = EnrolmentURL.normalized(serverURL) else {
            throw AgentRefusal(
                .badServer, "Invalid server URL '\(serverURL)': use https://HOST[:PORT], without a path.")
        }
        guard caFile.isEmpty || caFile.utf8.first == UInt8(ascii: "/") else {
            throw AgentRefusal(.badServer, "ca_file must be an absolute path.")
        }
        let meant = EnrolmentCode(typed: code)
        if meant == nil, EnrolmentCode.digits(code).count > EnrolmentCode.secretDigitCount { throw .incompleteCode }
        isEnrolling = true
        defer { isEnrolling = false }
        let code = meant?.secret ?? code
        guard caFile.isEmpty, let authority = meant?.authority else {
            return try await enrol(at: url, code: code, caFile: caFile, name: name)
        }
        let fetched = try await fetchAuthority(authority, of: url)
        do throws(AgentRefusal) {
            return try await enrol(at: url, code: code, caFile: fetched, name: name)
        } catch {
            authorityFile.remove()
            throw error
        }
    }

    private func enrol(
        at url: String, code: String, caFile: String, name: String
    ) async throws(AgentRefusal) -> String {
        let requestID = try failures.refusing { () throws(SQLError) in try enrolmentRequestID() }
        let session = link.anonymousSession(url: url, caFile: caFile)
        let device: DeviceAPI.EnrolledDevice
        do throws(ServerFailure) {
            device = try await session.client.enrol(
                .init(code: code.isEmpty ? nil : code, name: name, platform: "linux", requestID: requestID))
        } catch {
            throw AgentRefusal(enrolment: error, hadCode: !code.isEmpty)
        }
        return try adopt(device, serverURL: url, caFile: caFile)
    }

    /// Returns the random ID that makes an enrolment request idempotent.
    ///
    /// It is stored and stays the same, also after a restart, until the device is enrolled. A request whose response
    /// was lost is repeated with it.
    ///
    /// - Returns: The ID as text.
    /// - Throws: `SQLError` if the ID cannot be read or stored.
    private func enrolmentRequestID() throws(SQLError) -> String {
        var halves: [UInt64] = []
        for name in [AgentStateTable.Name.enrolmentRequestHigh, .enrolmentRequestLow] {
            if let known = try database.state.value(of: name), known != 0 {
                halves.append(UInt64(bitPattern: known))
            } else {
                let random = SecureRandom.uint64()
                try database.state.set(name, to: Int64(bitPattern: random))
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
    /// - Returns: The path of the file of trusted authorities.
    /// - Throws: The refusal if the server cannot be reached, has another authority, or the file cannot be written.
    private func fetchAuthority(_ authority: String, of url: String) async throws(AgentRefusal) -> String {
        let session = link.anonymousSession(url: url, caFile: "")
        let certificates: [[UInt8]]
        do throws(ServerFailure) { certificates = try await session.client.certificates() } catch {
            throw AgentRefusal(enrolment: error, hadCode: true)
        }
        let isKept: Bool
        do throws(StorageError) { isKept = try authorityFile.keep(authority, outOf: certificates) } catch {
            throw AgentRefusal(.storageFailed, "\(error.message). \(error.remedy)")
        }
        guard isKept else { throw .otherAuthority }
        return authorityFile.path
    }

    /// Unenrols the device: removes it from the server, then deletes the local identity.
    func unenrol() async throws(AgentRefusal) {
        guard link.identity != nil else { throw .notEnrolled }
        if let session = link.clients?.session {
            do throws(ServerFailure) {
                try await session.client.removeSelf()
            } catch .refused(status: 401, _, _, _) {
                // The server has removed this device already.
            } catch {
                throw AgentRefusal(error)
            }
        }
        try forgetServer()
    }

    /// Deletes the local identity without a request to the server, for a server that no longer exists.
    func forget() throws(AgentRefusal) {
        guard link.identity != nil else { throw .notEnrolled }
        try forgetServer()
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
    /// - Returns: The device ID.
    /// - Throws: The refusal if the response is invalid, or the identity cannot be stored.
    private func adopt(
        _ device: DeviceAPI.EnrolledDevice, serverURL: String, caFile: String
    ) throws(AgentRefusal) -> String {
        guard DeviceID(text: device.deviceID) != nil, !device.deviceSecret.isEmpty,
            device.deviceSecret.utf8.count < SecretFile.byteCountMax,
            device.deviceSecret.utf8.allSatisfy({ $0 > 32 && $0 < 127 })
        else { throw AgentRefusal(.unreachable, "The server sent an invalid response.") }
        let identity = Identity(serverURL: serverURL, deviceID: device.deviceID, caFile: caFile)
        do {
            try secretFile.write(device.deviceSecret)
        } catch {
            throw AgentRefusal(.storageFailed, "\(error.message). \(error.remedy)")
        }
        try failures.refusing { () throws(SQLError) in
            try database.transaction { () throws(SQLError) in
                try database.identity.save(identity)
                try database.outbox.removeAll()
                try database.apps.forgetServer()
                try database.subscriptions.forgetServer()
                try database.authorities.replaceAll([])
                try database.state.set(.authorityVersion, to: 0)
                try database.state.set(.isFilterDue, to: 1)
                try database.state.set(.enrolmentRequestHigh, to: 0)
                try database.state.set(.enrolmentRequestLow, to: 0)
            }
        }
        agentLog.info("enrolled", ["server": serverURL, "device": device.deviceID])
        link.connect(identity, secret: device.deviceSecret)
        return device.deviceID
    }

    private func forgetServer() throws(AgentRefusal) {
        link.disconnect()
        let badged = try failures.refusing { () throws(SQLError) in
            let badged = try database.apps.all().filter { $0.badge > 0 }
            try database.transaction { () throws(SQLError) in
                try database.identity.remove()
                try database.outbox.removeAll()
                try database.apps.forgetServer()
                try database.subscriptions.forgetServer()
                try database.policy.replaceAll([])
                try database.authorities.replaceAll([])
                try database.state.set(.authorityVersion, to: 0)
                try database.state.set(.policyVersion, to: 0)
            }
            return badged
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
        try? settings.settingsChanged(appID: nil)
        changes.observer?.statusChanged()
    }
}
