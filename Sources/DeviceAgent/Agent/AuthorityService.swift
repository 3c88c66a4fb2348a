// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushSQL
internal import PushTLS

/// Follows the authorities that the server announces, and trusts another one when the user says so.
///
/// The server announces a set only on connections that this device trusts already. A new set is trusted in addition to
/// the earlier one until the server has answered a request that trusts the new set alone. So a set under which the
/// server could not be reached never replaces one that works, and a crash at any point leaves one that works. At most
/// one set that is not confirmed is trusted.
final class AuthorityService {
    /// The maximum random delay before the set is fetched, which spreads the requests of all devices.
    private static let delayMax: Duration = .seconds(2)

    private let loop: EventLoop
    private let database: AgentDatabase
    private let link: ServerLink
    private let failures: DatabaseFailures
    /// Whether a fetch is scheduled or running.
    private var isFetching = false
    /// The version that was announced during the fetch; nil for none.
    private var laterVersion: Int64?

    init(_ context: AgentContext) {
        loop = context.loop
        database = context.database
        link = context.link
        failures = context.failures
    }

    // MARK: The server's announcements

    /// Schedules a fetch of the set when the server's version differs from the confirmed one.
    func serverAnnounced(version: Int64) {
        do {
            guard try database.state.value(of: .authorityVersion) ?? 0 != version else { return }
        } catch {
            return failures.report(error)
        }
        guard !isFetching else { return laterVersion = version }
        isFetching = true
        let delayMilliseconds = Int64.random(in: 0...Self.delayMax.components.seconds * 1000)
        loop.schedule(after: .milliseconds(delayMilliseconds)) { [weak self] in self?.fetch() }
    }

    private func fetch() {
        laterVersion = nil
        guard let client = link.clients?.session.client else { return isFetching = false }
        loop.startTask { [weak self] in
            var fetched: Int64?
            do throws(ServerFailure) {
                let set = try await client.authorities()
                fetched = set.version
                try await self?.adopt(set)
            } catch {
                // The next opening of the stream tries again.
                agentLog.warning("authorities_not_adopted", ["error": error.message])
            }
            self?.ended(with: fetched)
        }
    }

    /// Notes the end of a fetch, and begins the next one if another version was announced meanwhile.
    private func ended(with fetched: Int64?) {
        isFetching = false
        guard let later = laterVersion, later != fetched else { return }
        serverAnnounced(version: later)
    }

    /// Trusts a set of the server in place of the earlier authorities, if the server can be reached with it.
    private func adopt(_ set: DeviceAPI.Authorities) async throws(ServerFailure) {
        let new = try Self.authorities(of: set)
        let identity = link.identity
        guard let session = link.session(trusting: ServerTrust(candidate: new, now: .now)) else { return }
        defer { withExtendedLifetime(session) {} }
        do {
            // An earlier set that was not confirmed goes: otherwise such sets would pile up.
            let confirmed = try database.authorities.all().filter(\.isConfirmed)
            try store(
                confirmed.adding(
                    new.map { TrustedAuthority(certificate: $0.certificate, until: $0.until, isConfirmed: false) }))
            do throws(ServerFailure) {
                try await session.client.confirm(authorityVersion: set.version)
            } catch {
                if case .notTrusted = error, link.identity == identity {
                    try store(database.authorities.all().filter(\.isConfirmed))
                }
                throw error
            }
            guard link.identity == identity else { return }
            try store(new, version: set.version)
        } catch let error as ServerFailure {
            throw error
        } catch let error as SQLError {
            return failures.report(error)
        } catch {
            preconditionFailure("another error: \(error)")
        }
        agentLog.info("authorities_changed", ["version": "\(set.version)", "count": "\(new.count)"])
    }

    /// Stores the authorities to trust, and uses them for the next connection.
    private func store(_ authorities: [TrustedAuthority], version: Int64? = nil) throws(SQLError) {
        try database.transaction { () throws(SQLError) in
            try database.authorities.replaceAll(authorities)
            if let version { try database.state.set(.authorityVersion, to: version) }
        }
        link.refreshTrust()
    }

    /// Returns the authorities of a set; throws unless all of it is valid, and it is small and not empty.
    private static func authorities(of set: DeviceAPI.Authorities) throws(ServerFailure) -> [TrustedAuthority] {
        // Version 0 is that of the enrolment, whose authority would be trusted again.
        guard set.version > 0 else { throw .unintelligible("the version of the authorities is \(set.version)") }
        guard set.authorities.count <= Limits.announcedAuthorityCountMax else {
            throw .unintelligible("the server announced \(set.authorities.count) authorities, which are too many")
        }
        var all: [TrustedAuthority] = set.system ? [TrustedAuthority(certificate: nil)] : []
        for authority in set.authorities {
            let pem = try certificate(of: authority)
            all.append(TrustedAuthority(certificate: String(decoding: pem, as: UTF8.self), until: authority.until))
        }
        guard !all.isEmpty else { throw .unintelligible("the server announced no authority") }
        return all
    }

    private static func certificate(of authority: DeviceAPI.Authority) throws(ServerFailure) -> [UInt8] {
        let certificates: [AuthorityCertificate]
        do throws(TLSError) {
            certificates = try AuthorityCertificate.all(in: Array(authority.certificate.utf8))
        } catch {
            throw .unintelligible("an announced authority cannot be used: \(error.description)")
        }
        guard certificates.count == 1, certificates[0].pem.count <= Limits.authorityByteCountMax else {
            throw .unintelligible("an announced authority is not one certificate, or is too large")
        }
        if let until = authority.until, until <= .unixEpoch {
            throw .unintelligible("the trust in an announced authority ends at \(until.unixSeconds)")
        }
        return certificates[0].pem
    }

    // MARK: The user's decision

    /// Returns the CA certificates that the server presents, without trusting them.
    func presented() async throws(AgentRefusal) -> [AuthorityRecord] {
        guard let identity = link.identity else { throw .notEnrolled }
        let certificates = try await fetchAuthorities(of: identity)
        let trusted = link.trustedFile.flatMap { try? AuthorityCertificate.all(in: PrivateFile.read($0)) } ?? []
        return certificates.map { certificate in
            var record = AuthorityRecord()
            record.subject = certificate.subject
            record.expiresAt = Timestamp(unixSeconds: certificate.validity.upperBound)
            record.isTrusted = trusted.contains { $0.fingerprint == certificate.fingerprint }
            return record
        }
    }

    /// Trusts another authority for the server, and keeps the enrolment with all device tokens.
    ///
    /// - Parameters:
    ///   - code: The digits of the authority, from `posthorn authority list`; empty to use the file.
    ///   - caFile: The absolute path of a PEM file of authorities; empty to use the code.
    /// - Throws: The refusal if the server does not present the authority, or does not know this device.
    func trust(code: String, caFile: String) async throws(AgentRefusal) {
        guard let identity = link.identity else { throw .notEnrolled }
        let chosen: [AuthorityCertificate]
        if caFile.isEmpty {
            chosen = [try await presented(code, by: identity)]
        } else {
            chosen = try Self.read(caFile)
        }
        let new = chosen.map { TrustedAuthority(certificate: String(decoding: $0.pem, as: UTF8.self)) }
        // The answer proves that the server has this device, before anything changes.
        guard let session = link.session(trusting: ServerTrust(candidate: new, now: .now)) else { throw .notEnrolled }
        defer { withExtendedLifetime(session) {} }
        do throws(ServerFailure) { _ = try await session.client.authorities() } catch { throw AgentRefusal(error) }
        guard link.identity == identity else { throw .notEnrolled }
        try failures.refusing { () throws(SQLError) in try store(new.adding(database.authorities.all())) }
        agentLog.warning("authority_trusted", ["subject": chosen.map(\.subject).joined(separator: "; ")])
        link.clients?.stream.retry()
    }

    private func presented(_ code: String, by identity: Identity) async throws(AgentRefusal) -> AuthorityCertificate {
        guard let digits = EnrolmentCode.authority(typed: code) else {
            throw AgentRefusal(
                .invalidArguments, "The code is incomplete. The code of a CA has six groups of four characters."
            )
        }
        let certificates = try await fetchAuthorities(of: identity)
        let named = certificates.first { EnrolmentCode.authority(fingerprint: $0.fingerprint) == digits }
        guard let named else {
            // The codes that it presents are not named: one would be an impostor's, and could be copied.
            throw AgentRefusal(.notTrusted, "The server presents no CA with this code, so nothing was changed.")
        }
        return named
    }

    private func fetchAuthorities(of identity: Identity) async throws(AgentRefusal) -> [AuthorityCertificate] {
        let session = link.anonymousSession(url: identity.serverURL, caFile: "")
        defer { withExtendedLifetime(session) {} }
        do throws(ServerFailure) {
            return try await session.client.certificates().compactMap { try? AuthorityCertificate($0) }
                .filter(\.isAuthority)
        } catch {
            throw AgentRefusal(error)
        }
    }

    private static func read(_ path: String) throws(AgentRefusal) -> [AuthorityCertificate] {
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw AgentRefusal(.invalidArguments, "ca_file must be an absolute path.")
        }
        do {
            return try AuthorityCertificate.all(in: PrivateFile.read(path))
        } catch {
            throw AgentRefusal(.badFile, "\(path) contains no valid CA certificate: \(error)")
        }
    }
}

extension [TrustedAuthority] {
    /// Returns these authorities, followed by those of another list that are not among them.
    fileprivate func adding(_ others: [TrustedAuthority]) -> [TrustedAuthority] {
        self + others.filter { other in !contains { $0.certificate == other.certificate } }
    }
}
