// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushStore
internal import PushTLS

/// Rotates the server's own authority, and keeps the set of authorities that the server announces to devices.
///
/// ```
/// nothing announced ──begin──▶ current and next ──complete──▶ current (was next), previous for 30 days
///         └──announce──▶ current and file or system ──remove──▶ …
/// ```
/// Devices learn the set over connections that they trust already. So the set always contains an authority of the
/// server's present certificate. All changes come from the control loop; the other loops only read.
final class AuthorityKeeper: Sendable {
    /// The reason why a change was refused.
    enum Refusal: Error {
        case tooMany
        /// The certificate is broken, too large, or not that of an authority.
        case badCertificate(String)
        case unknown
        /// The server has a configured certificate, whose authority is not the server's to rotate.
        case isConfigured
        case noRotation
        /// The present certificate does not lead to an authority of the set.
        case leavesServer
        case failed(InstallationError)
    }

    private struct Values {
        var state: AuthorityState
        /// The SHA-256 of the server's own authority; nil if its certificate was removed.
        var own: [UInt8]?
    }

    private let installation: Installation
    private let reload: @Sendable () throws(ServerError) -> Void
    private let values: Lock<Values>

    /// Reads the announced set.
    ///
    /// - Parameters:
    ///   - installation: The data directory.
    ///   - reload: Serves a new certificate to connections that are accepted from now on.
    /// - Throws: The file that cannot be read.
    init(
        _ installation: Installation, reload: @escaping @Sendable () throws(ServerError) -> Void
    ) throws(InstallationError) {
        self.installation = installation
        self.reload = reload
        let file = installation.authority.authorityFile
        let own = PrivateFile.exists(file) ? try Installation.fingerprint(file) : nil
        values = Lock(Values(state: try AuthorityState(in: installation.directory), own: own))
    }

    /// The version of the announced set; 0 if nothing was ever announced.
    var version: Int64 { values.withLock { $0.state.version } }

    /// The SHA-256 of the server's own authority; nil if a certificate is configured.
    var servedOwnFingerprint: [UInt8]? { installation.authorityFile == nil ? nil : values.withLock { $0.own } }

    /// Returns what devices trust from now on.
    func announcement(now: Timestamp) -> DeviceAPI.Authorities {
        let state = values.withLock { $0.state }
        let records = state.records.filter { $0.isValid(now) }
        return DeviceAPI.Authorities(
            version: state.version, system: records.contains { $0.certificate == nil },
            authorities: records.compactMap { record in
                record.certificate.map { .init(certificate: $0, until: record.until.map(Timestamp.init(unixSeconds:))) }
            })
    }

    // MARK: Changes

    /// Creates the next authority and announces it beside the current one.
    func begin(now: Timestamp) throws(Refusal) {
        guard installation.authorityFile != nil else { throw .isConfigured }
        let next: [UInt8]
        do throws(InstallationError) { next = try installation.authority.prepareRotation() } catch {
            throw .failed(error)
        }
        try announce([next], isOwn: true, now)
    }

    /// Replaces the current authority by the next one, and serves a certificate of it.
    ///
    /// - Parameter now: The current time; the previous authority stays announced for `Limits.previousAuthorityDayCount`.
    /// - Throws: The reason why this is not possible; after `failed`, the next start completes it.
    func complete(now: Timestamp) throws(Refusal) {
        guard let next = nextFingerprint else { throw .noRotation }
        let end = now.unixSeconds + Int64(Limits.previousAuthorityDayCount) * 86_400
        do throws(InstallationError) {
            var state = values.withLock { $0.state }
            let previous = values.withLock { $0.own }.map { Hex.text($0) }
            for index in state.records.indices where state.records[index].id == previous {
                state.records[index].until = end
            }
            state.current = Hex.text(next)
            state.version = state.nextVersion(now: now)
            try keep(state)
            try installation.authority.finishRotation()
            values.withLock { $0.own = next }
            try keepOwnAuthorities(state)
            _ = try installation.renewCertificate()
        } catch {
            throw .failed(error)
        }
        do throws(ServerError) {
            try reload()
        } catch {
            throw .failed(
                InstallationError(
                    path: installation.certificateFile, problem: error.description, remedy: "Restart the server."))
        }
    }

    /// Announces the authorities of a file, of the operating systems, or the server's own one.
    func announce(_ new: CredentialAPI.NewAuthority, now: Timestamp) throws(Refusal) {
        var certificates: [[UInt8]?] = [nil]
        if new.role != .system { certificates = try self.certificates(of: new) }
        guard certificates.allSatisfy({ $0?.count ?? 0 <= Limits.authorityByteCountMax }) else {
            throw .badCertificate(
                "A certificate is larger than \(Limits.authorityByteCountMax) bytes. Announce a smaller one.")
        }
        try announce(certificates, isOwn: new.role == .current, now)
    }

    private func certificates(of new: CredentialAPI.NewAuthority) throws(Refusal) -> [[UInt8]] {
        if new.role == .current {
            do throws(InstallationError) {
                return [try Installation.load(installation.authority.authorityFile)]
            } catch {
                throw .failed(error)
            }
        }
        do throws(TLSError) {
            return try AuthorityCertificate.all(in: Array((new.certificate ?? "").utf8)).map(\.pem)
        } catch {
            throw .badCertificate("\(error.description). Send certificates of authorities in PEM.")
        }
    }

    /// Stops announcing an authority; a next authority is deleted.
    func remove(_ id: String, now: Timestamp) throws(Refusal) {
        var state = values.withLock { $0.state }
        guard state.records.contains(where: { $0.id == id }) else { throw .unknown }
        state.records.removeAll { $0.id == id }
        guard serves(state.records, now) else { throw .leavesServer }
        state.version = state.nextVersion(now: now)
        do throws(InstallationError) {
            try keep(state)
            if let next = nextFingerprint, Hex.text(next) == id { installation.authority.cancelRotation() }
            try keepOwnAuthorities(state)
        } catch {
            throw .failed(error)
        }
    }

    /// Adds authorities to the set; nil stands for those of the operating systems.
    ///
    /// The first change also adds the server's own authority, if its certificate is in use.
    private func announce(_ certificates: [[UInt8]?], isOwn: Bool, _ now: Timestamp) throws(Refusal) {
        var state = values.withLock { $0.state }
        let version = state.nextVersion(now: now)
        var new = certificates.map { ($0, isOwn) }
        do throws(InstallationError) {
            if let file = installation.authorityFile { new.insert((try Installation.load(file), true), at: 0) }
        } catch {
            throw .failed(error)
        }
        for (certificate, isOwn) in new {
            let text = certificate.map { String(decoding: $0, as: UTF8.self) }
            let record = AuthorityState.Record(isOwn: isOwn, certificate: text, since: version)
            if let place = state.records.firstIndex(where: { $0.id == record.id }) {
                if state.records[place].until != nil { state.records[place] = record }
            } else {
                state.records.append(record)
            }
        }
        state.records.removeAll { !$0.isValid(now) }
        guard state != values.withLock({ $0.state }) else { return }
        guard state.records.count <= Limits.announcedAuthorityCountMax else { throw .tooMany }
        guard serves(state.records, now) else { throw .leavesServer }
        state.version = version
        do throws(InstallationError) {
            try keep(state)
            try keepOwnAuthorities(state)
        } catch {
            throw .failed(error)
        }
    }

    private func keep(_ state: AuthorityState) throws(InstallationError) {
        try state.store(in: installation.directory)
        values.withLock { $0.state = state }
    }

    /// Writes the file of all own authorities, so that earlier provider certificates stay valid.
    private func keepOwnAuthorities(_ state: AuthorityState) throws(InstallationError) {
        let own = state.records.filter(\.isOwn).compactMap(\.certificate).joined()
        try Installation.store(Array(own.utf8), in: installation.ownAuthoritiesFile, mode: 0o644)
    }

    private var nextFingerprint: [UInt8]? {
        let file = installation.authority.nextAuthorityFile
        return PrivateFile.exists(file) ? try? Installation.fingerprint(file) : nil
    }
}

// MARK: What devices trust

extension AuthorityKeeper {
    /// Returns the description of the set for administrators.
    ///
    /// - Parameters:
    ///   - trust: What the devices trust.
    ///   - now: The current time.
    /// - Returns: The authorities, the server's own one first.
    func description(_ trust: [DeviceTrust], now: Timestamp) -> CredentialAPI.Authorities {
        let (state, own) = values.withLock { ($0.state, $0.own) }
        var records = state.records.filter { $0.isValid(now) }
        let ownID = own.map { Hex.text($0) }
        if let ownID, !records.contains(where: { $0.id == ownID }),
            let bytes = try? Installation.load(installation.authority.authorityFile)
        {
            records.insert(
                .init(isOwn: true, certificate: String(decoding: bytes, as: UTF8.self), since: .max), at: 0)
        }
        let next = nextFingerprint.map { Hex.text($0) }
        return CredentialAPI.Authorities(
            version: state.version, devices: trust.reduce(0) { $0 + $1.deviceCount },
            cutOff: cutOffCount(trust, now: now),
            authorities: records.map { record in
                let role: CredentialAPI.AuthorityRole =
                    switch record.id {
                    case ownID: .current
                    case next: .next
                    case AuthorityState.Record.systemID: .system
                    default: record.isOwn ? .previous : .file
                    }
                var authority = CredentialAPI.Authority(
                    id: record.id, role: role, announced: record.since != .max, serving: serves([record], now),
                    devices: trust.filter { record.isTrusted(by: $0) }.reduce(0) { $0 + $1.deviceCount })
                authority.describe(record)
                return authority
            })
    }

    /// Returns the number of devices that do not trust the present certificate.
    func cutOffCount(_ trust: [DeviceTrust], now: Timestamp) -> Int {
        let (state, own) = values.withLock { ($0.state, $0.own) }
        let serving = state.records.filter { $0.isValid(now) && serves([$0], now) }
        let isOwn = installation.authorityFile != nil
        return trust.reduce(0) { count, group in
            let isSafe =
                group.confirmedVersion == 0
                ? isOwn ? group.enrolledUnder == own : group.enrolledUnder == nil
                : serving.contains { $0.isTrusted(by: group) }
            return isSafe ? count : count + group.deviceCount
        }
    }

    /// Returns the number of devices that do not trust the next authority; nil without one.
    func unreadyCount(_ trust: [DeviceTrust]) -> Int? {
        guard let next = nextFingerprint.map({ Hex.text($0) }),
            let record = values.withLock({ $0.state.records.first { $0.id == next } })
        else { return nil }
        return trust.filter { !record.isTrusted(by: $0) }.reduce(0) { $0 + $1.deviceCount }
    }

    /// Returns the number of devices that would not trust the present certificate without an authority.
    func cutOffCount(_ trust: [DeviceTrust], without id: String, now: Timestamp) -> Int {
        let rest = values.withLock { $0.state.records }.filter { $0.id != id && $0.isValid(now) && serves([$0], now) }
        return trust.filter { group in !rest.contains { $0.isTrusted(by: group) } }.reduce(0) { $0 + $1.deviceCount }
    }

    /// Returns whether the present certificate leads to one of the authorities.
    private func serves(_ records: [AuthorityState.Record], _ now: Timestamp) -> Bool {
        guard let chain = try? Installation.load(installation.certificateFile) else { return false }
        return records.contains { record in
            guard record.isValid(now) else { return false }
            guard let text = record.certificate else {
                return (try? AuthorityCertificate.chain(chain, leadsTo: nil)) ?? false
            }
            guard let authority = try? AuthorityCertificate(Array(text.utf8)) else { return false }
            return (try? AuthorityCertificate.chain(chain, leadsTo: authority)) ?? false
        }
    }
}

extension AuthorityState.Record {
    static let systemID = "system"

    /// The SHA-256 of the certificate in hexadecimal digits, or `system`.
    var id: String {
        guard let certificate else { return Self.systemID }
        guard let fingerprint = try? CertificateAuthority.fingerprint(certificate: Array(certificate.utf8)) else {
            return ""
        }
        return Hex.text(fingerprint)
    }

    func isValid(_ now: Timestamp) -> Bool { until.map { now.unixSeconds < $0 } ?? true }

    /// Returns whether devices trust the authority: they confirmed a set with it, or enrolled under it.
    func isTrusted(by devices: DeviceTrust) -> Bool {
        guard devices.confirmedVersion == 0 else { return since <= devices.confirmedVersion }
        return isOwn && devices.enrolledUnder.map { Hex.text($0) } == id
    }
}

extension CredentialAPI.Authority {
    fileprivate mutating func describe(_ record: AuthorityState.Record) {
        until = record.until.map(Timestamp.init(unixSeconds:))
        certificate = record.certificate
        guard let text = record.certificate, let known = try? AuthorityCertificate(Array(text.utf8)) else { return }
        subject = known.subject
        expiresAt = Timestamp(unixSeconds: known.validity.upperBound)
        code = EnrolmentCode.authorityText(fingerprint: known.fingerprint)
    }
}
