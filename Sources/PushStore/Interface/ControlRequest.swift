// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// A request about control data, from an administrator, a provider or the server.
///
/// Control data is everything that does not belong to one device.
package enum ControlRequest: Sendable {
    case addApp(
        topic: TopicName, name: String, teamID: String, checks: PayloadChecks = .warn, allowsBroadcasts: Bool = false)
    /// Changes the values that are not nil.
    ///
    /// Disabling broadcasts removes the app's channels.
    case changeApp(topic: TopicName, name: String?, checks: PayloadChecks?, allowsBroadcasts: Bool?)
    case apps
    case app(topic: TopicName)
    case removeApp(topic: TopicName)
    case addKey(SigningKey)
    case keys
    case revokeKey(id: String)
    /// Adds a certificate.
    ///
    /// A known certificate is accepted again only to revoke it.
    case addCertificate(ProviderCertificate)
    case certificates
    /// Revokes a certificate by fingerprint.
    case revokeCertificate([UInt8])
    // The following requests come from administrators and providers. A channel of another app or environment is
    // unknown.
    /// Creates a channel; answered by `done`, or refused with `alreadyExists` when any channel has the ID.
    case createChannel(ChannelID, topic: TopicName, environment: Environment, policy: MessageStoragePolicy)
    case channel(ChannelID, topic: TopicName, environment: Environment)
    /// Lists the channels of an app; nil means both environments.
    case channels(topic: TopicName, environment: Environment?)
    /// Removes a channel with its stored broadcast and its subscriptions; answered by `done`.
    case removeChannel(ChannelID, topic: TopicName, environment: Environment)
    case addEnrolmentCode(hash: [UInt8], expiresAt: Timestamp)
    /// Lists the codes that are valid and unused; answered by `enrolmentCodes`.
    case enrolmentCodes
    /// Deletes the unused code with this ID; answered by `done`.
    case revokeEnrolmentCode(id: [UInt8])
    case sendToken(SendTokenRequest)
    case quota(QuotaRequest)
    case policy(PolicyRequest)
    /// Announces a version of the authorities to all devices; answered by `done`.
    case announceAuthorities(version: Int64)
    /// Sets an app's webhook; answered by `done`.
    ///
    /// An existing webhook keeps its position.
    case setWebhook(topic: TopicName, url: String, secret: [UInt8])
    /// Removes an app's webhook; answered by `done` even if there was none.
    case removeWebhook(topic: TopicName)
    // The following requests come from the server's own webhook sender.
    /// Records that the back-end has received all events up to a position.
    case advanceWebhook(TopicID, to: Int64)
    /// Records that the back-end rejects the events or cannot be reached.
    case noteWebhookProblem(TopicID, String)
}
