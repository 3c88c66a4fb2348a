// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import PushTLS
import TestSupport
import Testing

@Suite struct AuthorityCertificateTests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates() }

    private func file(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

    @Test func `a certificate is described by its subject, its fingerprint and its validity`() throws {
        let authority = try AuthorityCertificate(certificates.authority.certificate)
        #expect(authority.subject == "CN = Test authority" && authority.isAuthority)
        #expect(
            try authority.fingerprint
                == CertificateAuthority.fingerprint(certificate: certificates.authority.certificate))
        let now = Int64(Date.now.timeIntervalSince1970)
        #expect(authority.validity.contains(now) && authority.validity.upperBound > now + 3600 * 24 * 3650)
        #expect(try !AuthorityCertificate(file(certificates.certificatePath)).isAuthority)
    }

    @Test func `all certificates of a text are read, each once, and only those of authorities`() throws {
        let other = try TestCertificates(commonName: "Other authority")
        let both = certificates.authority.certificate + Array("text\n".utf8) + other.authority.certificate
        let all = try AuthorityCertificate.all(in: both + certificates.authority.certificate)
        #expect(all.map(\.subject) == ["CN = Test authority", "CN = Other authority"])
        #expect(throws: TLSError.self) { try AuthorityCertificate.all(in: []) }
        #expect(throws: TLSError.self) { try AuthorityCertificate.all(in: Array("no certificate".utf8)) }
        #expect(throws: TLSError.self) { try AuthorityCertificate.all(in: file(certificates.certificatePath)) }
        let broken = Array("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8)
        #expect(throws: TLSError.self) { try AuthorityCertificate.all(in: both + broken) }
    }

    @Test func `a chain leads to its own authority only`() throws {
        // Both authorities have the same name, as before and after a rotation.
        let other = try AuthorityCertificate(TestCertificates().authority.certificate)
        let own = try AuthorityCertificate(certificates.authority.certificate)
        let leaf = try file(certificates.certificatePath)
        #expect(try AuthorityCertificate.chain(leaf, leadsTo: own))
        #expect(try AuthorityCertificate.chain(leaf + own.pem, leadsTo: own))
        #expect(try !AuthorityCertificate.chain(leaf + own.pem, leadsTo: other))
        #expect(try !AuthorityCertificate.chain(leaf + own.pem, leadsTo: nil), "the system does not know it")
        #expect(throws: TLSError.self) { try AuthorityCertificate.chain([], leadsTo: own) }
    }
}
