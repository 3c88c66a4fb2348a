// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore
internal import PushTLS

/// The provider API's state for a connection.
///
/// It consists of the environment, the certificate, the provider tokens, and the team and kind of key to which the
/// first valid request bound the connection.
final class ProviderConnection {
    /// The data besides the request that a check of credentials depends on.
    struct AuthenticationContext {
        var directory: TopicDirectory
        var now: Timestamp
        var monotonic: MonotonicTime
        var updateCountMax: Int
    }

    let environment: Environment
    /// Whether the last provider token was not signed by a key of this server.
    private var hasFailedProof = false
    private let certificate: Result<CertificateHolder, Rejection>?
    private var tokens = ProviderTokenMemory()
    /// The key of the first valid provider token.
    private var firstKey: TopicDirectory.Signer?
    /// The key of the last valid provider token, from this version of the directory.
    private var lastKey: (signer: TopicDirectory.Signer, directoryVersion: UInt64)?

    init(environment: Environment, certificate: ClientCertificate?) {
        self.environment = environment
        self.certificate = certificate.map { Self.holder(of: $0, environment) }
    }

    /// Returns whether the last check failed because the sender has no key of this server, and resets the result.
    func takeFailedProof() -> Bool {
        defer { hasFailedProof = false }
        return hasFailedProof
    }

    /// Authenticates the sender.
    ///
    /// - Parameters:
    ///   - authorization: The range of the value of `authorization` in `bytes`; nil if the header is absent.
    ///   - bytes: The request's fields.
    ///   - context: The current clock and keys, so that revoked keys fail immediately.
    /// - Returns: The sender. With a certificate, the header is ignored.
    /// - Throws: The rejection.
    func authenticate(
        _ authorization: Range<Int>?, in bytes: Span<UInt8>, _ context: AuthenticationContext
    ) throws(Rejection) -> Sender {
        if let certificate {
            let holder = try certificate.get()
            guard !context.directory.isRevoked(certificate: holder.fingerprint) else {
                throw Rejection(.badCertificate, "This client certificate was revoked. Request a new one.")
            }
            return .certificate(holder)
        }
        guard let authorization else { throw Rejection(.missingProviderToken) }
        let value = bytes.extracting(authorization)
        guard let range = ProviderToken.compactToken(inAuthorization: value) else {
            throw Rejection(.missingProviderToken, "Send the authorization header as: bearer, a space, the token.")
        }
        let compact = value.extracting(range)
        guard let known = tokens.recall(compact) else { return .key(try verify(compact, context)) }
        let signer = try currentKey(known.keyID, context.directory)
        try Self.checkAge(known.issuedAt, now: context.now)
        return .key(signer)
    }

    /// Returns the current key of a token that was valid before.
    private func currentKey(_ id: String, _ directory: TopicDirectory) throws(Rejection) -> TopicDirectory.Signer {
        if let lastKey, lastKey.directoryVersion == directory.version, lastKey.signer.key.id == id {
            return lastKey.signer
        }
        guard let signer = directory.signer(id), signer.key.revokedAt == nil else {
            throw Rejection(.forbidden, "Key \(id) was revoked. Use another key.")
        }
        lastKey = (signer, directory.version)
        return signer
    }

    // MARK: A new provider token

    private func verify(_ compact: Span<UInt8>, _ context: AuthenticationContext) throws(Rejection)
        -> TopicDirectory.Signer
    {
        guard let token = ProviderToken(compact: compact) else {
            throw Rejection(.invalidProviderToken, ProviderToken.defect(in: compact))
        }
        let signer = try signer(of: token, compact, context.directory)
        let key = signer.key
        try checkEnvironment(of: key)
        try Self.checkAge(token.issuedAt, now: context.now)
        try checkBinding(key)
        let entry = ProviderTokenMemory.Entry(compact: Array(copying: compact), keyID: key.id, issuedAt: token.issuedAt)
        guard
            tokens.remember(
                entry, updateCountMax: context.updateCountMax, now: context.monotonic)
        else {
            throw Rejection(
                .tooManyProviderTokenUpdates,
                "More than \(context.updateCountMax) new provider tokens in 20 minutes on this connection: "
                    + "use each for 20 to 60 minutes.")
        }
        firstKey = firstKey ?? signer
        lastKey = (signer, context.directory.version)
        return signer
    }

    private func signer(
        of token: ProviderToken, _ compact: Span<UInt8>, _ directory: TopicDirectory
    ) throws(Rejection) -> TopicDirectory.Signer {
        let known = directory.signer(token.keyID)
        // An unknown key ID costs as much as a wrong signature and gets the same answer, so that existing IDs cannot be
        // found by trying.
        let verifyingKey = known?.verifyingKey ?? Self.placeholderKey
        let digest: VerifyingKey.Digest = token.algorithm == .es256 ? .sha256 : .sha512
        let isGood =
            verifyingKey?.verifies(
                token.signature.span, over: compact.extracting(first: token.signedByteCount), digest: digest) ?? false
        guard isGood, let signer = known, signer.verifyingKey != nil else {
            hasFailedProof = true
            throw Rejection(
                .invalidProviderToken,
                "kid, signature: this server has no key \(token.keyID), or the signature is not from it. Sign with "
                    + "the .p8 file of that key ID. See posthorn key list.")
        }
        let key = signer.key
        // The sender has proven that it has the private key, so the answer may contain details about the key.
        guard token.teamID.utf8.elementsEqual(key.teamID.utf8) else {
            throw Rejection(
                .invalidProviderToken,
                "iss: key \(key.id) belongs to team \(key.teamID), not \(token.teamID). Use team ID \(key.teamID).")
        }
        guard key.revokedAt == nil else {
            throw Rejection(.invalidProviderToken, "Key \(key.id) was revoked. Use another key.")
        }
        return signer
    }

    /// A key whose private half was discarded; no token that it verifies is accepted.
    private static let placeholderKey = (try? PrivateKey()).flatMap { try? VerifyingKey(der: $0.publicKeyDER) }

    private func checkEnvironment(of key: SigningKey) throws(Rejection) {
        guard let only = key.environment, only != environment else { return }
        throw Rejection(
            .badEnvironmentKeyInToken,
            "Key \(key.id) is for \(only.rawValue), but this connection is for \(environment.rawValue). "
                + "Use the port or server name of \(only.rawValue), or another key.")
    }

    /// Rejects a token that was issued more than an hour before or after the current time.
    private static func checkAge(_ issuedAt: Timestamp, now: Timestamp) throws(Rejection) {
        let age = now.seconds(since: issuedAt)
        guard age.magnitude > UInt64(Limits.providerTokenAgeSecondsMax) else { return }
        throw Rejection(
            .expiredProviderToken,
            "iat is \(age.magnitude) seconds \(age < 0 ? "ahead of" : "behind") this server's clock; at most "
                + "\(Limits.providerTokenAgeSecondsMax) are allowed. Sign a new token, and check both clocks.")
    }

    /// Rejects a key of another team or for other topics than the first key, which binds the connection.
    private func checkBinding(_ key: SigningKey) throws(Rejection) {
        guard let firstKey = firstKey?.key, firstKey.id != key.id else { return }
        guard firstKey.teamID == key.teamID else {
            throw Rejection(
                .invalidProviderToken,
                "This connection is bound to team \(firstKey.teamID) by its first request. Open another "
                    + "connection for this team.")
        }
        guard firstKey.topics == key.topics else {
            throw Rejection(
                .unrelatedKeyIDInToken,
                "This connection is bound to key \(firstKey.id) by its first request, but key \(key.id) is for other "
                    + "topics. Open another connection for this key.")
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
                    .badCertificate,
                    "The client certificate is not trusted (\(text)). Create one with posthorn certificate issue."))
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
                    "The client certificate is for \(only.rawValue); this connection is for \(environment.rawValue)."))
        } catch {
            return .failure(Rejection(.badCertificate, error.sentence))
        }
    }
}

extension CertificateScope.Failure {
    /// The sentence for the developer of the provider.
    fileprivate var sentence: String {
        switch self {
        case .namesNoTopic: "The client certificate has no topic: add UID= to its subject, or an extension with topics."
        case .malformedExtension(let identifier): "The client certificate's extension \(identifier) is malformed."
        }
    }
}
