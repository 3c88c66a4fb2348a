// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushAPI
internal import PushCore
internal import PushStore
internal import PushTLS

/// The directory in the form in which a loop uses it: topics as bytes, keys ready to verify.
final class TopicDirectory {
    /// A topic with its name as bytes.
    final class Entry {
        let topic: Topic
        let name: [UInt8]

        init(_ topic: Topic) {
            self.topic = topic
            name = Array(topic.name.text.utf8)
        }
    }

    /// A provider's signing key.
    final class Signer {
        let key: SigningKey
        /// The public half, parsed once; nil if it is malformed.
        private(set) lazy var verifyingKey = try? VerifyingKey(der: key.publicKey)
        /// The names of the key's topics as bytes; nil for every topic of the team.
        private(set) lazy var topics = key.topics?.map { Array($0.text.utf8) }

        init(_ key: SigningKey) { self.key = key }
    }

    /// A number that grows with each change.
    let version: UInt64
    /// The versions that devices are notified of.
    let notices: [VersionNotice]
    private let topics: [TopicID: Entry]
    private let topicByName: [[UInt8]: TopicID]
    private let signers: [String: Signer]
    private let revokedCertificates: Set<[UInt8]>
    private let sendTokens: [[UInt8]: SendToken]
    private var latest: Entry?

    init(_ directory: Directory) {
        version = directory.version
        notices = [
            VersionNotice(.policy, version: directory.policyVersion),
            VersionNotice(.authorities, version: directory.authorityVersion),
        ]
        topics = directory.topics.mapValues { Entry($0) }
        topicByName = Dictionary(topics.map { ($1.name, $0) }) { first, _ in first }
        signers = directory.keys.mapValues { Signer($0) }
        revokedCertificates = directory.revokedCertificates
        sendTokens = directory.sendTokens
    }

    /// All teams, valid keys and apps.
    var quotaSubjects: Set<QuotaSubject> {
        let apps = topics.values.map(\.topic)
        let keys = signers.values.map(\.key).filter { $0.revokedAt == nil }
        return Set(
            (apps.map(\.teamID) + keys.map(\.teamID)).map { QuotaSubject(.team, $0) }
                + keys.map { QuotaSubject(.key, $0.id) } + apps.map { QuotaSubject(.topic, $0.name.text) })
    }

    /// Returns the topic of a device token, or nil if its app was removed.
    func topic(_ id: TopicID) -> Entry? { topics[id] }

    /// Returns the topic of a name; slower than by number, unless it is the last one again.
    func topic(named name: Span<UInt8>) -> Entry? {
        if let latest {
            let known = latest.name
            if Bytes.areEqual(known.span, name) { return latest }
        }
        guard let found = topicByName[Array(copying: name)].flatMap({ topics[$0] }) else { return nil }
        latest = found
        return found
    }

    /// Returns whether a client certificate was revoked, by its SHA-256.
    func isRevoked(certificate fingerprint: [UInt8]) -> Bool { revokedCertificates.contains(fingerprint) }

    /// Returns the send token with a hash, even if it has expired.
    func sendToken(_ hash: [UInt8]) -> SendToken? { sendTokens[hash] }

    /// Returns the key with an ID, even if it was revoked.
    func signer(_ id: String) -> Signer? { signers[id] }
}

/// Comparison of identifiers as bytes.
enum Bytes {
    static func areEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        return unsafe left.withUnsafeBytes { left in unsafe right.withUnsafeBytes { unsafe areEqual(left, $0) } }
    }

    static func areEqual(_ left: Span<UInt8>, _ literal: StaticString) -> Bool {
        guard left.count == literal.utf8CodeUnitCount else { return false }
        return literal.withUTF8Buffer { right in
            unsafe left.withUnsafeBytes { unsafe areEqual($0, UnsafeRawBufferPointer(right)) }
        }
    }

    /// Compares buffers of the same length.
    private static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else { return true }
        return unsafe memcmp(leftStart, rightStart, left.count) == 0
    }
}
