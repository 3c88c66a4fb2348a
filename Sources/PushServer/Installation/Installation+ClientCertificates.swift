// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore
internal import PushTLS

extension Installation {
    /// A provider's certificate that was just made: what the store keeps, and what only the caller gets.
    struct IssuedClientCertificate {
        let record: ProviderCertificate
        /// PEM.
        let certificate: [UInt8]
        /// PKCS#8 PEM.
        let privateKey: [UInt8]
    }

    /// RFC 5280, appendix A.1: `ub-common-name`.
    private static let commonNameByteCountMax = 64

    /// Issues a provider's certificate, in the shape of Apple's.
    ///
    /// The team is the subject's OU, so that what may be done with the certificate ends at the team's apps.
    ///
    /// - Parameters:
    ///   - kind: Which topics of the app.
    ///   - topic: The app's, without suffix.
    ///   - teamID: The app's.
    ///   - environment: nil for both.
    ///   - days: 1 to `Limits.certificateDayCountMax`.
    /// - Returns: The certificate, its key, and what the store keeps.
    /// - Throws: The part of the authority that is missing or unusable, with what to do.
    func issueClientCertificate(
        _ kind: AdminAPI.NewCertificate.Kind, topic: String, teamID: String, environment: Environment?, days: Int
    ) throws(InstallationError) -> IssuedClientCertificate {
        let scope = CertificateScope(kind, topic: topic, environment: environment)
        let signer = try authority.authority(
            for: "a certificate needs its signature",
            else:
                "remove authority.pem and authority.key and restart for a new authority, which devices must trust anew")
        let commonName = String(
            decoding: "Apple Push Services: \(topic)".utf8.prefix(Self.commonNameByteCountMax), as: UTF8.self)
        do throws(TLSError) {
            let issued = try CertificateAuthority.issueClientCertificate(
                subject: [("UID", scope.defaultTopic ?? topic), ("CN", commonName), ("OU", teamID)],
                extensions: scope.extensions, days: days, authorityCertificate: signer.certificate,
                authorityPrivateKey: signer.privateKey)
            let record = ProviderCertificate(
                fingerprint: issued.fingerprint, serialNumber: issued.serialNumber, teamID: teamID,
                topics: scope.topics, environment: environment,
                createdUnixSeconds: WallClock.unixMilliseconds() / 1000,
                expiresUnixSeconds: issued.expiresUnixSeconds)
            return IssuedClientCertificate(
                record: record, certificate: issued.certificate, privateKey: issued.privateKey)
        } catch {
            throw InstallationError(certificate: authority.authorityFile, error)
        }
    }
}
