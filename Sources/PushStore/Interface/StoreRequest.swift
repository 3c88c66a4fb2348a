// SPDX-License-Identifier: Apache-2.0

package import PushAPI
package import PushCore

/// A request to the store other than notifications and streams.
///
/// Hashes are SHA-256, 32 bytes.
package enum StoreRequest: Sendable {
    // The following requests come from devices.
    /// Enrols a device; answered by `enrolled`.
    case enrol(NewDevice)
    /// Identifies the device with a secret; answered by `identified`.
    ///
    /// Needs no transaction.
    case identify(secretHash: [UInt8])
    case register(secretHash: [UInt8], topic: TopicName, environment: Environment = .production)
    /// Subscribes a registered app to a channel in the environment of its registration; answered by `done`, even if it
    /// was subscribed.
    ///
    /// The app receives later broadcasts only, not the one that the channel already stores.
    case subscribe(secretHash: [UInt8], topic: TopicName, channel: ChannelID)
    /// Ends a subscription; answered by `done` even if there was none.
    case unsubscribe(secretHash: [UInt8], topic: TopicName, channel: ChannelID)
    /// Lists the channels that an app subscribes to; answered by `subscriptions`.
    case subscriptions(secretHash: [UInt8], topic: TopicName)
    case unregister(secretHash: [UInt8], topic: TopicName)
    case setFilter(secretHash: [UInt8], refusedTopics: [TopicName])
    /// Sets whether the device saves power while its stream is open; answered by `done`.
    case setPower(secretHash: [UInt8], isSaving: Bool)
    case acknowledge(secretHash: [UInt8], [DeviceAPI.Acknowledgement])
    case removeSelf(secretHash: [UInt8])
    // The following requests come from administrators.
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
    /// Lists the given devices, or all, on which an app is registered, at most `countMax`; answered by `recipients`.
    case recipients(TopicID, devices: [DeviceID]? = nil, countMax: Int)
    /// Lists live devices in the order of enrolment, after a given device, at most `countMax`; answered by `devices`.
    case devices(after: DeviceID? = nil, countMax: Int = .max)
    case device(DeviceID)
    /// Gives a device another name; answered by `done`.
    case renameDevice(DeviceID, String)
    case removeDevice(DeviceID)
    /// Expires all registrations of a device, as the store does automatically for a device that was unseen too long.
    case expireDevice(DeviceID)
    case counts
    /// Lists the devices for which most recent notifications wait, at most `countMax`; answered by `queues`.
    case longestQueues(countMax: Int)
    /// Starts a copy of the database; answered by `done` after the start, or refused with `alreadyExists` during
    /// another copy.
    case backup(StoreBackup)
    case quota(QuotaRequest)
    case policy(PolicyRequest)
    case authority(AuthorityRequest)
    /// Searches the trace; answered by `trace` at the end of the search, or refused with `traceOff`.
    case trace(TraceQuery)
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

    /// A device to enrol.
    ///
    /// The caller generates the ID and the secret.
    package struct NewDevice: Sendable {
        /// The SHA-256 of the enrolment code, which is used up; nil if the server allows open enrolment.
        package var codeHash: [UInt8]?
        /// The SHA-256 of the device's request ID, with which it may repeat the request; nil for none.
        package var requestHash: [UInt8]?
        /// The device ID to assign.
        package var device: DeviceID
        /// The SHA-256 of the device secret.
        package var secretHash: [UInt8]
        /// The machine's name for users.
        package var name: String
        /// The platform, for example `linux`.
        package var platform: String
        /// The SHA-256 of the server's own authority; nil if the server has a configured certificate.
        package var authority: [UInt8]?

        package init(
            codeHash: [UInt8]?, device: DeviceID, secretHash: [UInt8], name: String, platform: String,
            requestHash: [UInt8]? = nil, authority: [UInt8]? = nil
        ) {
            self.codeHash = codeHash
            self.requestHash = requestHash
            self.authority = authority
            self.device = device
            self.secretHash = secretHash
            self.name = name
            self.platform = platform
        }
    }
}

/// An enrolment code that no device has used.
package struct UnusedEnrolmentCode: Equatable, Sendable {
    /// The first four bytes of the code's hash.
    ///
    /// An attacker who knows the ID and can compute 2^60 hashes still has 2^28 candidates for the code, and the server
    /// limits wrong attempts. Two codes with the same ID are revoked together.
    package let id: [UInt8]
    /// The last second in which the code is valid.
    package let expiresAt: Timestamp
}

/// The recent notifications that wait for a device.
package struct QueueLength: Sendable {
    package var device: DeviceID
    package var count: Int
    /// Whether the device's stream is open.
    package var isConnected: Bool
}

/// The answer to a `StoreRequest` that succeeded.
package enum StoreAnswer: Sendable {
    case done
    case identified(DeviceID)
    /// The new device, or the device of the repeated request.
    case enrolled(DeviceID)
    case registered(DeviceTokenContents)
    case app(AdminAPI.App)
    case apps([AdminAPI.App])
    case keys([CredentialAPI.Key])
    case device(AdminAPI.Device)
    /// The devices; `next` is the last one when there may be more.
    case devices([AdminAPI.Device], next: DeviceID?)
    /// The codes that are valid and unused, oldest first.
    case enrolmentCodes([UnusedEnrolmentCode])
    case counts(AdminAPI.Counts)
    case subscriptions([ChannelID])
    case certificates([ProviderCertificate])
    case channel(AdminAPI.Channel)
    case channels([AdminAPI.Channel])
    case quotas([QuotaSubject: QuotaLimits], [QuotaUse])
    case policy([PolicyRule], version: Int64)
    case trust([DeviceTrust])
    case trace(TraceFindings)
    case sendTokens([SendToken])
    case recipients([Recipient], isComplete: Bool)
    case queues([QueueLength])
}

/// The reason why a `StoreRequest` was refused.
package enum StoreRefusal: Error, Equatable, Sendable {
    /// No device has this secret.
    case unauthorized
    /// The enrolment code is unknown, used or expired.
    case badEnrolmentCode
    case unknownTopic
    case unknownDevice
    /// No unused enrolment code has this ID.
    case unknownCode
    case unknownKey
    /// No app or key belongs to this team.
    case unknownTeam
    case unknownCertificate
    /// No send token has this ID.
    case unknownSendToken
    /// The channel does not exist, or it belongs to another app or environment.
    case unknownChannel
    /// The app may not have channels.
    case broadcastsNotAllowed
    case alreadyExists
    /// No policy rule is set at this place.
    case unknownPolicy
    /// The trace is disabled.
    case traceOff
    /// A bound of `Limits` was reached.
    case tooMany
    /// Too many requests are waiting; the store changed nothing.
    case busy
    /// The disk failed or is full; the store changed nothing.
    ///
    /// The text is for the log and for administrators.
    case unavailable(String)
}
