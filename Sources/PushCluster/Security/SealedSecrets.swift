// SPDX-License-Identifier: Apache-2.0

package import PushTLS

/// Encrypts the secrets that a cluster keeps in its database.
///
/// A dump of the database alone opens none of them, and a secret that was moved to another name is not opened either.
package struct SealedSecrets: Sendable {
    private static let version: UInt8 = 1

    private let cipher: AuthenticatedCipher

    /// Creates the cipher for a cluster's secrets.
    package init(_ key: ClusterKey) throws(TLSError) { cipher = try AuthenticatedCipher(key: key.bytes) }

    /// Encrypts a secret.
    ///
    /// - Parameters:
    ///   - secret: The secret.
    ///   - name: The name under which it is kept.
    /// - Returns: A byte with the version, then nonce, encrypted secret and tag.
    /// - Throws: `TLSError.library` when memory ran out.
    package func seal(_ secret: [UInt8], name: String) throws(TLSError) -> [UInt8] {
        [Self.version] + (try cipher.seal(secret, additionalData: Self.additionalData(name)))
    }

    /// Decrypts a secret.
    ///
    /// - Parameters:
    ///   - sealed: The result of `seal`.
    ///   - name: The name under which it is kept.
    /// - Returns: The secret; nil if it was sealed with another key or name, or if it was changed.
    package func open(_ sealed: [UInt8], name: String) -> [UInt8]? {
        guard sealed.first == Self.version else { return nil }
        return cipher.open(Array(sealed.dropFirst()), additionalData: Self.additionalData(name))
    }

    private static func additionalData(_ name: String) -> [UInt8] { Array("posthorn secret \(name)".utf8) }
}
