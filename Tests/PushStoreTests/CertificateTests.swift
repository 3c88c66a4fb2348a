// SPDX-License-Identifier: Apache-2.0

import PushCore
@testable import PushStore
import Testing

@Suite(.bothEngines, .namesEngine) struct CertificateTests {
    private let store: any RequestTarget

    init() throws { store = try StoreEngine.open() }

    private func all() throws -> [ProviderCertificate] {
        guard case .certificates(let certificates) = try store.succeed(.control(.certificates)) else {
            throw MissingReply(what: "certificates")
        }
        return certificates
    }

    @Test func `certificates are listed oldest first with their contents, also after a restart`() throws {
        let added = [certificate(1, created: 9), certificate(2, created: 3), certificate(3, created: 9, revoked: 12)]
        for certificate in added { try store.succeed(.control(.addCertificate(certificate))) }
        try store.reopen()
        #expect(try all() == [added[1], added[0], added[2]])
    }

    @Test func `adding a known fingerprint again is refused and changes nothing`() throws {
        try store.succeed(.control(.addCertificate(certificate(1))))
        var again = certificate(1)
        again.teamID = "TEAM000001"
        #expect(try store.refusal(.control(.addCertificate(again))) == .alreadyExists)
        #expect(try all() == [certificate(1)])
    }

    @Test func `a revocation is permanent and keeps its first time`() throws {
        try store.succeed(.control(.addCertificate(certificate(1))))
        let time = Timestamp(unixMilliseconds: store.clock.now).roundedDownToSeconds
        try store.succeed(.control(.revokeCertificate(certificate(1).fingerprint)))
        store.clock.now += 60_000
        try store.succeed(.control(.revokeCertificate(certificate(1).fingerprint)))
        try store.succeed(.control(.addCertificate(certificate(1, revoked: 5))))
        #expect(try store.refusal(.control(.addCertificate(certificate(1)))) == .alreadyExists)
        #expect(try all().map(\.revokedAt) == [time])
    }

    @Test func `adding a known certificate as revoked revokes it`() throws {
        try store.succeed(.control(.addCertificate(certificate(1))))
        try store.succeed(.control(.addCertificate(certificate(1, revoked: 7))))
        #expect(try all() == [certificate(1, revoked: 7)])
    }

    @Test func `an unknown certificate cannot be revoked by its fingerprint alone`() throws {
        try store.succeed(.control(.addCertificate(certificate(1))))
        #expect(try store.refusal(.control(.revokeCertificate(certificate(2).fingerprint))) == .unknownCertificate)
        #expect(try store.refusal(.control(.revokeCertificate([]))) == .unknownCertificate)
    }
}

private func certificate(_ number: UInt8, created: Int64 = 1, revoked: Int64? = nil) -> ProviderCertificate {
    ProviderCertificate(
        fingerprint: Array(repeating: number, count: 32), serialNumber: "0\(number)", teamID: "TEAM000000",
        topics: ["b", "a"], environment: number == 1 ? nil : .development,
        createdAt: Timestamp(unixSeconds: created), expiresAt: Timestamp(unixSeconds: 99),
        revokedAt: revoked.map(Timestamp.init(unixSeconds:)))
}

/// Checks the directories that loops receive after a revocation.
@Suite struct RevokedCertificateTests {
    private let store: TestStore

    init() throws { store = try TestStore() }

    /// Returns the revoked fingerprints of each directory that the loops received since the last call.
    private func revoked() -> [Set<[UInt8]>] {
        store.collectors[0].takeAll().compactMap {
            if case .directory(let directory) = $0 { directory.revokedCertificates } else { nil }
        }
    }

    @Test func `loops receive the revoked certificates and no others`() throws {
        try store.succeed(.control(.addCertificate(certificate(1))))
        _ = revoked()
        try store.succeed(.control(.addCertificate(certificate(2))))
        store.store.submit([
            .perform(.control(.addCertificate(certificate(3, revoked: 5))), answer: store.address()),
            .perform(.control(.revokeCertificate(certificate(1).fingerprint)), answer: store.address()),
        ])
        let told = try store.collectors[0].take("the revoked ones") { replies in
            replies.contains { $0.revokes([certificate(1).fingerprint, certificate(3).fingerprint]) }
        }
        #expect(!told.contains { $0.revokes([certificate(2).fingerprint]) })
        try store.reopen()
        _ = try store.collectors[0].take("the directory of a new start") { replies in
            replies.contains { $0.revokes([certificate(1).fingerprint, certificate(3).fingerprint]) }
        }
    }
}

extension StoreReply {
    /// Returns whether this is a directory in which exactly these certificates are revoked.
    fileprivate func revokes(_ fingerprints: Set<[UInt8]>) -> Bool {
        if case .directory(let directory) = self { directory.revokedCertificates == fingerprints } else { false }
    }
}
