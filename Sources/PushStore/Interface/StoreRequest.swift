// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// Everything that is asked of the store beside notifications and streams; hashes are SHA-256, 32 bytes.
package enum StoreRequest: Sendable {
    // From devices.
    case enrol(NewDevice)
    case register(secretHash: [UInt8], topic: String, environment: Environment = .production)
    /// Subscribes a registered app to a channel of the environment of its registration; answered by `done`, also when
    /// it was. The app gets what is published from now on, not what the channel stores already.
    case subscribe(secretHash: [UInt8], topic: String, channel: ChannelID)
    /// Answered by `done`, also when it was not subscribed.
    case unsubscribe(secretHash: [UInt8], topic: String, channel: ChannelID)
    /// Answered by `subscriptions`.
    case subscriptions(secretHash: [UInt8], topic: String)
    case unregister(secretHash: [UInt8], topic: String)
    case setFilter(secretHash: [UInt8], refusedTopics: [String])
    /// Whether the device saves power, for as long as its stream is open; answered by `done`.
    case setPower(secretHash: [UInt8], isSaving: Bool)
    case acknowledge(secretHash: [UInt8], [DeviceAPI.Acknowledgement])
    case removeSelf(secretHash: [UInt8])
    // From administrators.
    case addApp(
        topic: String, name: String, teamID: String, checks: PayloadChecks = .warn, allowsBroadcasts: Bool = false)
    /// What is nil stays; switching broadcasts off removes the app's channels.
    case changeApp(topic: String, name: String?, checks: PayloadChecks?, allowsBroadcasts: Bool?)
    case apps
    case app(topic: String)
    case removeApp(topic: String)
    case addKey(SigningKey)
    case keys
    case revokeKey(id: String)
    /// A known one is taken again only to revoke it.
    case addCertificate(ProviderCertificate)
    case certificates
    /// By fingerprint.
    case revokeCertificate([UInt8])
    // From administrators and providers; a channel of another app or environment is unknown.
    /// Answered by `done`; `alreadyExists` when the id is taken by any channel.
    case createChannel(ChannelID, topic: String, environment: Environment, policy: MessageStoragePolicy)
    case channel(ChannelID, topic: String, environment: Environment)
    /// Of both environments when nil.
    case channels(topic: String, environment: Environment?)
    /// Removes what it stores and ends its subscriptions; answered by `done`.
    case removeChannel(ChannelID, topic: String, environment: Environment)
    case addEnrolmentCode(hash: [UInt8], expiresUnixSeconds: Int64)
    case devices
    case device(DeviceID)
    case removeDevice(DeviceID)
    /// Lets all registrations of a device expire, as the store does by itself for one that was not seen for long.
    case expireDevice(DeviceID)
    case counts
    /// Begins to copy the database; answered by `done` when the copy has begun, `alreadyExists` while another is made.
    case backup(StoreBackup)
    case quota(QuotaRequest)
    case policy(PolicyRequest)
    /// Answered by `trace` when the search is over, or by `traceOff`.
    case trace(TraceQuery)
    /// Answered by `done`; one that is there goes on where it is.
    case setWebhook(topic: String, url: String, secret: [UInt8])
    /// Answered by `done`, also when there was none.
    case removeWebhook(topic: String)
    // From the server's own webhooks.
    /// The back-end has everything up to a position.
    case advanceWebhook(TopicID, to: Int64)
    /// The back-end does not take what it is told.
    case noteWebhookProblem(TopicID, String)

    /// A device that wants to enrol; id and secret are made by the caller.
    package struct NewDevice: Sendable {
        /// SHA-256 of the enrolment code, which is used up; nil where the server allows open enrolment.
        package var codeHash: [UInt8]?
        /// The device id to give.
        package var device: DeviceID
        /// SHA-256 of the device secret.
        package var secretHash: [UInt8]
        /// What people call the machine.
        package var name: String
        /// For example `linux`.
        package var platform: String

        /// Joins the parts.
        package init(codeHash: [UInt8]?, device: DeviceID, secretHash: [UInt8], name: String, platform: String) {
            self.codeHash = codeHash
            self.device = device
            self.secretHash = secretHash
            self.name = name
            self.platform = platform
        }
    }
}

/// Good answers to a `StoreRequest`.
package enum StoreAnswer: Sendable {
    case done
    case registered(DeviceTokenContents)
    case app(AdminAPI.App)
    case apps([AdminAPI.App])
    case keys([AdminAPI.Key])
    case device(AdminAPI.Device)
    case devices([AdminAPI.Device])
    case counts(AdminAPI.Counts)
    case subscriptions([ChannelID])
    case certificates([ProviderCertificate])
    case channel(AdminAPI.Channel)
    case channels([AdminAPI.Channel])
    case quotas([QuotaSubject: QuotaLimits], [QuotaUse])
    case policy([PolicyRule], version: Int64)
    case trace(TraceFindings)
}

/// Why a `StoreRequest` was not done.
package enum StoreRefusal: Error, Equatable, Sendable {
    /// No device has this secret.
    case unauthorized
    /// The enrolment code is unknown, used or too old.
    case badEnrolmentCode
    case unknownTopic
    case unknownDevice
    case unknownKey
    /// No app or key is of this team.
    case unknownTeam
    case unknownCertificate
    /// There is no such channel, or it is of another app or environment.
    case unknownChannel
    /// The app may not have channels.
    case broadcastsNotAllowed
    case alreadyExists
    /// Nothing is set there.
    case unknownPolicy
    /// The trace is switched off.
    case traceOff
    /// A bound of `Limits` was reached.
    case tooMany
    /// The disk refused; nothing was changed. The text is for the log and for administrators.
    case unavailable(String)
}
