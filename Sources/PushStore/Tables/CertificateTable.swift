// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// Certificates of providers, without their keys; revoked ones stay.
final class CertificateTable {
    private let insert: Statement
    private let insertTopic: Statement
    private let selectKnown: Statement
    private let selectAll: Statement
    private let selectTopics: Statement
    private let selectRevoked: Statement
    private let revoke: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        insert = try connection.prepare("INSERT INTO certificates VALUES (?, ?, ?, ?, ?, ?, ?)")
        insertTopic = try connection.prepare("INSERT INTO certificate_topics VALUES (?, ?, ?)")
        selectKnown = try connection.prepare("SELECT 1 FROM certificates WHERE fingerprint = ?")
        selectAll = try connection.prepare(
            """
            SELECT fingerprint, serial_number, team, environment, created_at, expires_at, revoked_at
            FROM certificates ORDER BY created_at, fingerprint
            """)
        selectTopics = try connection.prepare(
            "SELECT topic FROM certificate_topics WHERE certificate = ? ORDER BY position")
        selectRevoked = try connection.prepare("SELECT fingerprint FROM certificates WHERE revoked_at IS NOT NULL")
        revoke = try connection.prepare(
            "UPDATE certificates SET revoked_at = ? WHERE fingerprint = ? AND revoked_at IS NULL")
    }

    /// Whether a certificate was ever added.
    func contains(_ fingerprint: [UInt8]) throws(SQLiteError) -> Bool {
        selectKnown.bind(fingerprint, at: 1)
        defer { selectKnown.reset() }
        return try selectKnown.step()
    }

    /// Adds a certificate whose fingerprint is new.
    func add(_ certificate: ProviderCertificate) throws(SQLiteError) {
        insert.bind(certificate.fingerprint, at: 1)
        insert.bind(certificate.serialNumber, at: 2)
        insert.bind(certificate.teamID, at: 3)
        insert.bind(certificate.environment?.rawValue, at: 4)
        insert.bind(certificate.createdUnixSeconds, at: 5)
        insert.bind(certificate.expiresUnixSeconds, at: 6)
        insert.bind(certificate.revokedUnixSeconds, at: 7)
        try insert.run()
        for (position, topic) in certificate.topics.enumerated() {
            insertTopic.bind(certificate.fingerprint, at: 1)
            insertTopic.bind(Int64(position), at: 2)
            insertTopic.bind(topic, at: 3)
            try insertTopic.run()
        }
    }

    /// Revokes a certificate for ever; one that is revoked already keeps its time.
    func revoke(_ fingerprint: [UInt8], atUnixSeconds seconds: Int64) throws(SQLiteError) {
        revoke.bind(seconds, at: 1)
        revoke.bind(fingerprint, at: 2)
        try revoke.run()
    }

    /// All certificates, oldest first, revoked ones too.
    func all() throws(SQLiteError) -> [ProviderCertificate] {
        var certificates: [ProviderCertificate] = []
        while try selectAll.step() {
            let fingerprint = selectAll.bytes(0)
            certificates.append(
                ProviderCertificate(
                    fingerprint: fingerprint, serialNumber: selectAll.string(1), teamID: selectAll.string(2),
                    topics: try topics(of: fingerprint),
                    environment: selectAll.optionalString(3).flatMap(Environment.init(rawValue:)),
                    createdUnixSeconds: selectAll.int64(4), expiresUnixSeconds: selectAll.int64(5),
                    revokedUnixSeconds: selectAll.optionalInt64(6)))
        }
        return certificates
    }

    /// The fingerprints of those that are revoked.
    func revokedFingerprints() throws(SQLiteError) -> Set<[UInt8]> {
        var fingerprints: Set<[UInt8]> = []
        while try selectRevoked.step() { fingerprints.insert(selectRevoked.bytes(0)) }
        return fingerprints
    }

    private func topics(of fingerprint: [UInt8]) throws(SQLiteError) -> [String] {
        var topics: [String] = []
        selectTopics.bind(fingerprint, at: 1)
        while try selectTopics.step() { topics.append(selectTopics.string(0)) }
        return topics
    }
}
