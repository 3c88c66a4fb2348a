// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore
internal import PushTLS

/// What the provider API remembers of a connection: the last provider token that was good, so that a connection pays
/// for one verification per token (64 µs) and not per notification.
struct ProviderConnection {
    /// The compact token, byte for byte.
    private var token: [UInt8] = []
    private var issuedAtUnixSeconds: Int64 = 0
    private var key: SigningKey?
    private var directoryVersion: UInt64 = 0

    /// Checks an `authorization` value.
    ///
    /// - Parameters:
    ///   - authorization: Where the whole value stands in `bytes`; nil when the header is absent.
    ///   - bytes: The request's fields.
    ///   - directory: The keys as they are now: a revoked key fails at once.
    ///   - unixSeconds: Wall clock.
    /// - Returns: The signing key.
    /// - Throws: The rejection.
    mutating func authenticate(
        _ authorization: Range<Int>?, in bytes: Span<UInt8>, directory: TopicDirectory, unixSeconds: Int64
    ) throws(RejectionReason) -> SigningKey {
        guard let authorization else { throw .missingProviderToken }
        let value = bytes.extracting(authorization)
        guard let range = ProviderToken.compactToken(inAuthorization: value) else { throw .missingProviderToken }
        let compact = value.extracting(range)
        if let key, directoryVersion == directory.version, Bytes.areEqual(token.span, compact) {
            try Self.checkAge(issuedAtUnixSeconds, now: unixSeconds)
            return key
        }
        let verified = try Self.verify(compact, directory: directory, unixSeconds: unixSeconds)
        token.removeAll(keepingCapacity: true)
        for index in compact.indices { token.append(compact[index]) }
        (key, issuedAtUnixSeconds) = (verified.key, verified.issuedAtUnixSeconds)
        directoryVersion = directory.version
        return verified.key
    }

    private static func verify(
        _ compact: Span<UInt8>, directory: TopicDirectory, unixSeconds: Int64
    ) throws(RejectionReason) -> (key: SigningKey, issuedAtUnixSeconds: Int64) {
        guard let token = ProviderToken(compact: compact), let key = directory.key(token.keyID),
            Bytes.areEqual(Array(key.teamID.utf8).span, Array(token.teamID.utf8).span),
            let verifyingKey = directory.verifyingKey(token.keyID),
            verifyingKey.verifies(
                token.signature.span, over: compact.extracting(first: token.signedByteCount),
                digest: token.algorithm == .es256 ? .sha256 : .sha512)
        else { throw .invalidProviderToken }
        guard key.revokedUnixSeconds == nil else { throw .forbidden }
        try checkAge(token.issuedAtUnixSeconds, now: unixSeconds)
        return (key, token.issuedAtUnixSeconds)
    }

    /// Within the hour, either way.
    private static func checkAge(_ issuedAt: Int64, now: Int64) throws(RejectionReason) {
        let (age, isOverflow) = now.subtractingReportingOverflow(issuedAt)
        guard !isOverflow, age.magnitude <= UInt64(Limits.providerTokenAgeSecondsMax) else {
            throw .expiredProviderToken
        }
    }
}
