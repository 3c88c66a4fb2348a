// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushSQL

/// Executes the requests of administrators about keys, certificates and enrolment codes.
final class CredentialExecutor {
    private let keys: KeyTable
    private let certificates: CertificateTable
    private let enrolmentCodes: EnrolmentCodeTable
    private let transaction: StoreTransaction

    init(_ tables: SharedTables, _ transaction: StoreTransaction) {
        keys = tables.keys
        certificates = tables.certificates
        enrolmentCodes = tables.enrolmentCodes
        self.transaction = transaction
    }

    // MARK: Keys and certificates

    func addKey(_ key: SigningKey) throws(SQLError) -> RequestResult {
        guard try !keys.contains(key.id) else { return .failure(.alreadyExists) }
        try keys.add(key)
        transaction.noteDirectoryChange()
        return .success(.done)
    }

    func allKeys() -> RequestResult {
        .unfinished(
            Listing { [keys] (after: KeyTable.ListCursor?, countMax: Int) throws(SQLError) in
                try keys.page(after: after, countMax: countMax)
            } answer: {
                .success(.keys($0.rows.map(CredentialAPI.Key.init)))
            })
    }

    func revokeKey(_ id: String) throws(SQLError) -> RequestResult {
        guard try keys.contains(id) else { return .failure(.unknownKey) }
        try keys.revoke(id, now: transaction.now)
        transaction.noteDirectoryChange()
        return .success(.done)
    }

    /// Adds a certificate.
    ///
    /// A known certificate is accepted again only to revoke it.
    func addCertificate(_ certificate: ProviderCertificate) throws(SQLError) -> RequestResult {
        guard try certificates.contains(certificate.fingerprint) else {
            try certificates.add(certificate)
            if certificate.revokedAt != nil { transaction.noteDirectoryChange() }
            return .success(.done)
        }
        guard let revoked = certificate.revokedAt else { return .failure(.alreadyExists) }
        try certificates.revoke(certificate.fingerprint, at: revoked)
        transaction.noteDirectoryChange()
        return .success(.done)
    }

    func allCertificates() -> RequestResult {
        .unfinished(
            Listing { [certificates] (after: CertificateTable.ListCursor?, countMax: Int) throws(SQLError) in
                try certificates.page(after: after, countMax: countMax)
            } answer: {
                .success(.certificates($0.rows))
            })
    }

    func revokeCertificate(_ fingerprint: [UInt8]) throws(SQLError) -> RequestResult {
        guard try certificates.contains(fingerprint) else { return .failure(.unknownCertificate) }
        try certificates.revoke(fingerprint, at: transaction.now)
        transaction.noteDirectoryChange()
        return .success(.done)
    }

    // MARK: Enrolment codes

    /// Lists the codes that are valid and unused.
    func unusedEnrolmentCodes() throws(SQLError) -> RequestResult {
        .success(.enrolmentCodes(try enrolmentCodes.unused(now: transaction.now)))
    }

    func addEnrolmentCode(_ hash: [UInt8], _ expiresAt: Timestamp) throws(SQLError) -> RequestResult {
        guard try !enrolmentCodes.contains(hash) else { return .failure(.alreadyExists) }
        try enrolmentCodes.add(hash, expiresAt: expiresAt)
        return .success(.done)
    }

    func revokeEnrolmentCode(_ id: [UInt8]) throws(SQLError) -> RequestResult {
        try enrolmentCodes.deleteUnused(id: id, now: transaction.now) ? .success(.done) : .failure(.unknownCode)
    }
}

extension CredentialAPI.Key {
    /// Returns the administrator's view of a key.
    fileprivate init(_ key: SigningKey) {
        self.init(
            keyID: key.id, teamID: key.teamID, topics: key.topics, createdAt: key.createdAt,
            revokedAt: key.revokedAt, environment: key.environment)
    }
}
