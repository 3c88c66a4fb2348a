// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// A token with which a script sends notifications to one app, without a signing key.
package struct SendToken: Equatable, Sendable {
    /// The SHA-256 of the token, 32 bytes.
    package var hash: [UInt8]
    /// The app that receives.
    package var topic: TopicID
    /// The purpose, for administrators.
    package var name: String
    /// The creation time, in whole seconds.
    package var createdAt: Timestamp
    /// The last second in which the token is valid; nil for no end.
    package var expiresAt: Timestamp?

    package init(hash: [UInt8], topic: TopicID, name: String, createdAt: Timestamp, expiresAt: Timestamp?) {
        self.hash = hash
        self.topic = topic
        self.name = name
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }

    /// The ID for administrators: the first four bytes of the hash.
    package var id: [UInt8] { Array(hash.prefix(4)) }

    /// Returns whether the token is valid at a time.
    package func isValid(at now: Timestamp) -> Bool { expiresAt.map { now.unixSeconds <= $0.unixSeconds } ?? true }
}

/// A request about send tokens.
package enum SendTokenRequest: Sendable {
    /// Adds a token to an app; answered by `done`, or refused with `alreadyExists` if another token has its ID.
    case add(hash: [UInt8], topic: TopicName, name: String, expiresAt: Timestamp?)
    /// Lists the tokens of one app, or of all, oldest first; answered by `sendTokens`.
    case list(topic: TopicName?)
    /// Deletes a token by ID; answered by `sendTokens` with the deleted token.
    case revoke(id: [UInt8])
}

/// A registration of an app, to which a notification can be sent.
package struct Recipient: Equatable, Sendable {
    package var contents: DeviceTokenContents
}
