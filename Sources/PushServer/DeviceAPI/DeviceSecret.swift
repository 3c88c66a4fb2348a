// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore
internal import PushTLS

/// A new device secret, `<device id>.<43 characters>`, of which the server stores only the hash.
struct DeviceSecret {
    let text: String
    let credential: DeviceCredential

    /// Creates the secret of a device.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - characters: The random part.
    init(of device: DeviceID, _ characters: [UInt8] = randomCharacters()) {
        let bytes = Array("\(device.text).".utf8) + characters
        text = String(decoding: bytes, as: UTF8.self)
        credential = DeviceCredential(secret: bytes.span, hash: SHA256.hash(bytes.span))
    }

    /// Returns 32 random bytes as 43 characters.
    static func randomCharacters() -> [UInt8] { Base64.encodeURL(SecureRandom.bytes(count: 32).span) }
}
