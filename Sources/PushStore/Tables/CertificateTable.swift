// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// Certificates of providers, without their keys; revoked ones stay.
final class CertificateTable {
    /// The position after which a list continues.
    typealias ListCursor = (createdAt: Timestamp, fingerprint: [UInt8])

    private let insert: any SQLStatement
    private let insertTopic: any SQLStatement
    private let selectKnown: any SQLStatement
    private let selectPage: any SQLStatement
    private let selectTopics: any SQLStatement
    private let selectRevoked: any SQLStatement
    private let revoke: any SQLStatement

    init(_ connection: any SQLDatabase) throws(SQLError) {
        insert = try connection.prepare("INSERT INTO certificates VALUES (?, ?, ?, ?, ?, ?, ?)")
        insertTopic = try connection.prepare("INSERT INTO certificate_topics VALUES (?, ?, ?)")
        selectKnown = try connection.prepare("SELECT 1 FROM certificates WHERE fingerprint = ?")
        selectPage = try connection.prepare(
            """
            SELECT fingerprint, serial_number, team, environment, created_at, expires_at, revoked_at
            FROM certificates WHERE (created_at, fingerprint) > (?, ?) ORDER BY created_at, fingerprint LIMIT ?
            """)
        selectTopics = try connection.prepare(
            "SELECT topic FROM certificate_topics WHERE certificate = ? ORDER BY position")
        selectRevoked = try connection.prepare("SELECT fingerprint FROM certificates WHERE revoked_at IS NOT NULL")
        revoke = try connection.prepare(
            "UPDATE certificates SET revoked_at = ? WHERE fingerprint = ? AND revoked_at IS NULL")
    }

    /// Returns whether a certificate was ever added.
    func contains(_ fingerprint: [UInt8]) throws(SQLError) -> Bool {
        selectKnown.bind(fingerprint, at: 1)
        defer { selectKnown.reset() }
        return try selectKnown.step()
    }

    /// Adds a certificate with a new fingerprint.
    func add(_ certificate: ProviderCertificate) throws(SQLError) {
        insert.bind(certificate.fingerprint, at: 1)
        insert.bind(certificate.serialNumber, at: 2)
        insert.bind(certificate.teamID, at: 3)
        insert.bind(certificate.environment?.rawValue, at: 4)
        insert.bind(certificate.createdAt.unixSeconds, at: 5)
        insert.bind(certificate.expiresAt.unixSeconds, at: 6)
        insert.bind(certificate.revokedAt?.unixSeconds, at: 7)
        try insert.run()
        for (position, topic) in certificate.topics.enumerated() {
            insertTopic.bind(certificate.fingerprint, at: 1)
            insertTopic.bind(Int64(position), at: 2)
            insertTopic.bind(topic, at: 3)
            try insertTopic.run()
        }
    }

    /// Revokes a certificate permanently; one that is already revoked keeps its time.
    func revoke(_ fingerprint: [UInt8], at time: Timestamp) throws(SQLError) {
        revoke.bind(time.unixSeconds, at: 1)
        revoke.bind(fingerprint, at: 2)
        try revoke.run()
    }

    /// Returns the next certificates after a key, oldest first, including revoked ones.
    func page(after cursor: ListCursor?, countMax: Int) throws(SQLError) -> ListPage<ProviderCertificate, ListCursor> {
        selectPage.bind(cursor?.createdAt.unixSeconds ?? .min, at: 1)
        selectPage.bind(cursor?.fingerprint ?? [], at: 2)
        selectPage.bind(Int64(countMax), at: 3)
        return try selectPage.page(countMax: countMax) { (row) throws(SQLError) in
            let fingerprint = row.bytes(0)
            return ProviderCertificate(
                fingerprint: fingerprint, serialNumber: row.string(1), teamID: row.string(2),
                topics: try topics(of: fingerprint),
                environment: row.optionalString(3).flatMap(Environment.init(rawValue:)),
                createdAt: Timestamp(unixSeconds: row.int64(4)), expiresAt: Timestamp(unixSeconds: row.int64(5)),
                revokedAt: row.optionalInt64(6).map(Timestamp.init(unixSeconds:)))
        } key: {
            (Timestamp(unixSeconds: $0.int64(4)), $0.bytes(0))
        }
    }

    /// Returns the fingerprints of the revoked certificates.
    func revokedFingerprints() throws(SQLError) -> Set<[UInt8]> {
        var fingerprints: Set<[UInt8]> = []
        while try selectRevoked.step() { fingerprints.insert(selectRevoked.bytes(0)) }
        return fingerprints
    }

    private func topics(of fingerprint: [UInt8]) throws(SQLError) -> [String] {
        var topics: [String] = []
        selectTopics.bind(fingerprint, at: 1)
        while try selectTopics.step() { topics.append(selectTopics.string(0)) }
        return topics
    }
}
