// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushStore
internal import PushTLS

extension Installation {
    /// A newly issued provider certificate: the record for the store, and the PEM texts for the caller only.
    struct IssuedClientCertificate {
        let record: ProviderCertificate
        /// The certificate in PEM.
        let certificate: [UInt8]
        /// The private key in PKCS#8 PEM.
        let privateKey: [UInt8]
    }

    /// The maximum length of a common name in bytes (RFC 5280, appendix A.1: `ub-common-name`).
    private static let commonNameByteCountMax = 64

    /// Issues a provider certificate with the same layout as Apple's.
    ///
    /// The team is the OU of the subject, which limits the certificate to the team's apps.
    ///
    /// - Parameters:
    ///   - kind: The kind of certificate, which selects topics of the app.
    ///   - topic: The topic of the app, without a suffix.
    ///   - teamID: The team of the app.
    ///   - environment: The environment, or nil for both.
    ///   - days: The validity in days, 1 to `Limits.certificateDayCountMax`.
    /// - Returns: The certificate, its private key, and the record for the store.
    /// - Throws: The missing or unusable part of the authority, and what to do about it.
    func issueClientCertificate(
        _ kind: CredentialAPI.NewCertificate.Kind, topic: TopicName, teamID: String, environment: Environment?,
        days: Int
    ) throws(InstallationError) -> IssuedClientCertificate {
        let scope = CertificateScope(kind, topic: topic, environment: environment)
        let signer = try authority.authority(
            for: "certificates are issued with it",
            else:
                "remove authority.pem and authority.key and restart to create a new CA that all devices must trust")
        let commonName = String(
            decoding: "Apple Push Services: \(topic)".utf8.prefix(Self.commonNameByteCountMax), as: UTF8.self)
        do throws(TLSError) {
            let issued = try CertificateAuthority.issueClientCertificate(
                subject: [("UID", scope.defaultTopic ?? topic.text), ("CN", commonName), ("OU", teamID)],
                extensions: scope.extensions, days: days, authorityCertificate: signer.certificate,
                authorityPrivateKey: signer.privateKey)
            let record = ProviderCertificate(
                fingerprint: issued.fingerprint, serialNumber: issued.serialNumber, teamID: teamID,
                topics: scope.topics, environment: environment, createdAt: .now.roundedDownToSeconds,
                expiresAt: Timestamp(unixSeconds: issued.expiresUnixSeconds))
            return IssuedClientCertificate(
                record: record, certificate: issued.certificate, privateKey: issued.privateKey)
        } catch {
            throw InstallationError(certificate: authority.authorityFile, error)
        }
    }
}
