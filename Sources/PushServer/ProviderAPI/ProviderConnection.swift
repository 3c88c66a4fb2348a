// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore
internal import PushTLS

/// What the provider API knows of a connection: its environment, its certificate, its provider tokens, and the team and
/// kind of key that its first good request bound it to.
final class ProviderConnection {
    /// What a check of credentials depends on beside the request.
    struct Moment {
        var directory: TopicDirectory
        var unixSeconds: Int64
        var monotonicSeconds: Int64
        var updateCountMax: Int
    }

    let environment: Environment
    /// The provider token in hand was signed by no key that is known here.
    private var hasFailedProof = false
    private let certificate: Result<CertificateHolder, Rejection>?
    private var tokens = ProviderTokenMemory()
    /// The key of the first good provider token.
    private var firstKey: TopicDirectory.Signer?
    /// The key of the last one, of this version of the directory.
    private var lastKey: (signer: TopicDirectory.Signer, directoryVersion: UInt64)?

    init(environment: Environment, certificate: ClientCertificate?) {
        self.environment = environment
        self.certificate = certificate.map { Self.holder(of: $0, environment) }
    }

    /// Whether the last check failed because the sender has no key of this server; asks once.
    func takeFailedProof() -> Bool {
        defer { hasFailedProof = false }
        return hasFailedProof
    }

    /// Checks who sends.
    ///
    /// - Parameters:
    ///   - authorization: Where the value of `authorization` stands in `bytes`; nil when the header is absent.
    ///   - bytes: The request's fields.
    ///   - moment: Clock and keys as they are now: what was revoked fails at once.
    /// - Returns: The sender; with a certificate, whatever the header says.
    /// - Throws: The rejection.
    func authenticate(
        _ authorization: Range<Int>?, in bytes: Span<UInt8>, at moment: Moment
    ) throws(Rejection) -> Sender {
        if let certificate {
            let holder = try certificate.get()
            guard !moment.directory.isRevoked(certificate: holder.fingerprint) else {
                throw Rejection(.badCertificate, "This client certificate was revoked: ask for a new one.")
            }
            return .certificate(holder)
        }
        guard let authorization else { throw Rejection(.missingProviderToken) }
        let value = bytes.extracting(authorization)
        guard let range = ProviderToken.compactToken(inAuthorization: value) else {
            throw Rejection(.missingProviderToken, "Write the authorization header as: bearer, a blank, the token.")
        }
        let compact = value.extracting(range)
        guard let known = tokens.recall(compact) else { return .key(try verify(compact, at: moment)) }
        let signer = try currentKey(known.keyID, moment.directory)
        try Self.checkAge(known.issuedAtUnixSeconds, now: moment.unixSeconds)
        return .key(signer)
    }

    /// The key of a token that was good once, as it is now.
    private func currentKey(_ id: String, _ directory: TopicDirectory) throws(Rejection) -> TopicDirectory.Signer {
        if let lastKey, lastKey.directoryVersion == directory.version, lastKey.signer.key.id == id {
            return lastKey.signer
        }
        guard let signer = directory.signer(id), signer.key.revokedUnixSeconds == nil else {
            throw Rejection(.forbidden, "Key \(id) was revoked: use another one.")
        }
        lastKey = (signer, directory.version)
        return signer
    }

    // MARK: A new provider token

    private func verify(_ compact: Span<UInt8>, at moment: Moment) throws(Rejection) -> TopicDirectory.Signer {
        guard let token = ProviderToken(compact: compact) else {
            throw Rejection(.invalidProviderToken, ProviderToken.defect(in: compact))
        }
        let signer = try signer(of: token, compact, moment.directory)
        let key = signer.key
        try checkEnvironment(of: key)
        try Self.checkAge(token.issuedAtUnixSeconds, now: moment.unixSeconds)
        try checkBinding(key)
        let entry = ProviderTokenMemory.Entry(
            compact: Array(copying: compact), keyID: key.id, issuedAtUnixSeconds: token.issuedAtUnixSeconds)
        guard
            tokens.remember(
                entry, updateCountMax: moment.updateCountMax, monotonicSeconds: moment.monotonicSeconds)
        else {
            throw Rejection(
                .tooManyProviderTokenUpdates,
                "More than \(moment.updateCountMax) new provider tokens in 20 minutes on this connection: "
                    + "keep each for 20 to 60 minutes.")
        }
        firstKey = firstKey ?? signer
        lastKey = (signer, moment.directory.version)
        return signer
    }

    private func signer(
        of token: ProviderToken, _ compact: Span<UInt8>, _ directory: TopicDirectory
    ) throws(Rejection) -> TopicDirectory.Signer {
        let known = directory.signer(token.keyID)
        // An unknown key id costs as much as a wrong signature, and is answered alike: nobody learns which ids there are.
        let verifyingKey = known?.verifyingKey ?? Self.placeholderKey
        let digest: VerifyingKey.Digest = token.algorithm == .es256 ? .sha256 : .sha512
        let isGood =
            verifyingKey?.verifies(
                token.signature.span, over: compact.extracting(first: token.signedByteCount), digest: digest) ?? false
        guard isGood, let signer = known, signer.verifyingKey != nil else {
            hasFailedProof = true
            throw Rejection(
                .invalidProviderToken,
                "kid, signature: no key \(token.keyID) is here, or the signature is not that key's. Sign with the .p8 file "
                    + "of that key id, and see posthorn key list.")
        }
        let key = signer.key
        // From here on the sender has the private key, and may hear what is known of it.
        guard token.teamID.utf8.elementsEqual(key.teamID.utf8) else {
            throw Rejection(
                .invalidProviderToken,
                "iss: key \(key.id) is of team \(key.teamID), not \(token.teamID). Set the team id to \(key.teamID).")
        }
        guard key.revokedUnixSeconds == nil else {
            throw Rejection(.invalidProviderToken, "Key \(key.id) was revoked: use another one.")
        }
        return signer
    }

    /// A key whose private half was thrown away; nothing that it verifies is accepted.
    private static let placeholderKey = (try? PrivateKey()).flatMap { try? VerifyingKey(der: $0.publicKeyDER) }

    private func checkEnvironment(of key: SigningKey) throws(Rejection) {
        guard let only = key.environment, only != environment else { return }
        throw Rejection(
            .badEnvironmentKeyInToken,
            "Key \(key.id) is for \(only.rawValue), and this connection for \(environment.rawValue): "
                + "use the other one's port or server name, or another key.")
    }

    /// Within the hour, either way.
    private static func checkAge(_ issuedAt: Int64, now: Int64) throws(Rejection) {
        let (age, isOverflow) = now.subtractingReportingOverflow(issuedAt)
        guard isOverflow || age.magnitude > UInt64(Limits.providerTokenAgeSecondsMax) else { return }
        throw Rejection(
            .expiredProviderToken,
            "iat is \(age.magnitude) seconds \(age < 0 ? "ahead of" : "behind") this server's clock, at most "
                + "\(Limits.providerTokenAgeSecondsMax) are allowed: sign a new token, and check both clocks.")
    }

    /// The first key binds the connection to its team, and to its topics if it is for some only.
    private func checkBinding(_ key: SigningKey) throws(Rejection) {
        guard let firstKey = firstKey?.key, firstKey.id != key.id else { return }
        guard firstKey.teamID == key.teamID else {
            throw Rejection(
                .invalidProviderToken,
                "This connection is bound to team \(firstKey.teamID) by its first request: open another one.")
        }
        guard firstKey.topics == key.topics else {
            throw Rejection(
                .unrelatedKeyIDInToken,
                "This connection is bound to key \(firstKey.id) by its first request, and key \(key.id) is for other "
                    + "topics: open another one.")
        }
    }

    // MARK: Certificates

    private static func holder(
        of certificate: ClientCertificate, _ environment: Environment
    ) -> Result<CertificateHolder, Rejection> {
        let isOwn: Bool
        switch certificate.verdict {
        case .own: isOwn = true
        case .other: isOwn = false
        case .refused(let text):
            return .failure(
                Rejection(
                    .badCertificate, "The client certificate is not believed (\(text)): posthorn certificate issue."))
        }
        do throws(CertificateScope.Failure) {
            let scope = try CertificateScope(
                userID: certificate.subjectUserID, extensions: certificate.extensions)
            guard let only = scope.environment, only != environment else {
                let teamID = isOwn ? certificate.subjectOrganizationalUnit : nil
                return .success(
                    CertificateHolder(fingerprint: certificate.fingerprint, scope: scope, teamID: teamID))
            }
            return .failure(
                Rejection(
                    .badCertificateEnvironment,
                    "The client certificate is for \(only.rawValue), and this connection for \(environment.rawValue)."))
        } catch {
            return .failure(Rejection(.badCertificate, error.sentence))
        }
    }
}

extension CertificateScope.Failure {
    /// For the provider's developer.
    fileprivate var sentence: String {
        switch self {
        case .namesNoTopic: "The client certificate names no topic: its subject needs UID=, or an extension the topics."
        case .malformedExtension(let identifier): "The client certificate's extension \(identifier) cannot be read."
        }
    }
}
