// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// The credential of a device: the device ID in its secret, and the hash of the secret.
///
/// A secret is `<device id>.<43 characters>`, so that the device can be found by its ID. Other secrets have no device
/// ID, and their device is found by the hash.
package struct DeviceCredential: Hashable, Sendable {
    /// The device that the secret names; nil for a secret without a device ID.
    ///
    /// Anybody can write an ID into a secret. Only the hash authenticates.
    package let device: DeviceID?
    /// The SHA-256 of the whole secret, 32 bytes.
    package let secretHash: [UInt8]

    package init(device: DeviceID?, secretHash: [UInt8]) {
        self.device = device
        self.secretHash = secretHash
    }

    /// Creates the credential of a secret with its SHA-256.
    package init(secret: Span<UInt8>, hash: [UInt8]) {
        let named = secret.count > DeviceID.textByteCount && secret[DeviceID.textByteCount] == UInt8(ascii: ".")
        device = named ? DeviceID(text: secret.extracting(first: DeviceID.textByteCount)) : nil
        secretHash = hash
    }

    /// Returns whether the secret has a hash, in a time that does not depend on the bytes.
    package func hasHash(_ hash: [UInt8]) -> Bool {
        guard hash.count == secretHash.count else { return false }
        var difference: UInt8 = 0
        for index in secretHash.indices { difference |= secretHash[index] ^ hash[index] }
        return difference == 0
    }
}
