// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushTLS
internal import Synchronization

/// The keys of device tokens, which a cluster may change while the server runs.
///
/// Each thread has `TokenCiphers` of its own, which notice a change when they are next used.
final class TokenKeyRing: Sendable {
    /// The size of the two 32-byte keys of AES-256-SIV.
    static let keyByteCount = 64

    private let keys: Lock<[[UInt8]]>
    // Released after the keys are replaced, and acquired before they are read.
    private let changes = Atomic(0)
    private let check = Lock<(@Sendable (MonotonicTime) -> Bool)?>(nil)

    /// Creates a ring of keys, newest first: the first one seals, and all of them open.
    init(_ keys: [[UInt8]]) { self.keys = Lock(keys) }

    /// Reads the keys in a file with one key of 128 hexadecimal digits a line; returns nil for anything else.
    static func keys(in file: [UInt8]) -> [[UInt8]]? {
        let lines = file.split(separator: UInt8(ascii: "\n"))
        let keys = lines.compactMap { Hex.decode(Array($0).span) }
        guard !keys.isEmpty, keys.count == lines.count, keys.allSatisfy({ $0.count == keyByteCount }) else {
            return nil
        }
        return keys
    }

    /// The number of changes of the keys.
    var changeCount: Int { changes.load(ordering: .acquiring) }

    /// Replaces the keys; once this returns, each thread uses them for its next token.
    func replace(_ new: [[UInt8]]) {
        keys.withLock { $0 = new }
        changes.add(1, ordering: .releasing)
    }

    /// Sets how to find out whether the ring has all keys that a cluster uses.
    func checkFreshness(_ isCurrent: @escaping @Sendable (MonotonicTime) -> Bool) {
        check.withLock { $0 = isCurrent }
    }

    /// Returns whether a token that no key opens is invalid.
    ///
    /// Otherwise, the cluster may use a key that this node has not read.
    func isComplete(at moment: MonotonicTime) -> Bool { check.withLock { $0 }?(moment) ?? true }

    /// Returns the keys of an environment; tokens of the other environment are not opened with them.
    func keys(for environment: Environment) -> [[UInt8]] {
        let keys = keys.withLock { $0 }
        return switch environment {
        case .production: keys
        case .development: keys.map(Self.developmentKey)
        }
    }

    /// Derives the development key: the SHA-256 of the production key and a label, once for each half.
    private static func developmentKey(_ key: [UInt8]) -> [UInt8] {
        [UInt8(1), 2].flatMap { half in SHA256.hash((key + "posthorn device token, development".utf8 + [half]).span) }
    }
}

/// The ciphers of device tokens on one thread.
final class TokenCiphers {
    private let ring: TokenKeyRing
    private var changeCount: Int
    private var production: TokenCipher
    private var development: TokenCipher

    init(_ ring: TokenKeyRing) throws(TLSError) {
        self.ring = ring
        changeCount = ring.changeCount
        production = try TokenCipher(keys: ring.keys(for: .production))
        development = try TokenCipher(keys: ring.keys(for: .development))
    }

    /// Returns the cipher that encrypts and decrypts the device tokens of an environment.
    func cipher(for environment: Environment) -> TokenCipher {
        if changeCount != ring.changeCount { renew() }
        return switch environment {
        case .production: production
        case .development: development
        }
    }

    /// Uses the changed keys; without memory for them, the next token tries again.
    private func renew() {
        let count = ring.changeCount
        guard let production = try? TokenCipher(keys: ring.keys(for: .production)),
            let development = try? TokenCipher(keys: ring.keys(for: .development))
        else { return }
        (self.production, self.development, changeCount) = (production, development, count)
    }
}
