// SPDX-License-Identifier: Apache-2.0

package import PushAPI
package import PushCore

/// A request to the store other than notifications and streams.
///
/// Its parts differ in where their answers come from when several databases share the devices. Hashes are SHA-256,
/// 32 bytes.
package enum StoreRequest: Sendable {
    /// Enrols a device; answered by `enrolled`.
    ///
    /// Concerns the enrolment code, which is control data, and then the device.
    case enrol(NewDevice)
    /// Performs the request of a device that has a credential; answered by the device's database.
    case device(DeviceRequest, by: DeviceCredential)
    /// Performs an administrator's request about a device; answered by the device's database.
    case administer(DeviceID, DeviceAdministration)
    /// Asks about all devices; answered by every database.
    case allDevices(AllDevicesRequest)
    /// Reads or changes control data: apps, credentials, channels, policies, quotas and webhooks.
    case control(ControlRequest)
    /// Starts a copy of the database; answered by `done` after the start, or refused with `alreadyExists` during
    /// another copy.
    case backup(StoreBackup)
    /// Asks about the nodes of a cluster, or changes them.
    case cluster(ClusterRequest)

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
        /// Whether no other device may be enrolled.
        ///
        /// Otherwise, a repeated request concerns the device of the first one.
        package var keepsDevice = false
        /// Returns the SHA-256 of the secret of a device with an ID: the assigned one, or the one of the request that
        /// this one repeats.
        package var secretHash: @Sendable (DeviceID) -> [UInt8]
        /// The machine's name for users.
        package var name: String
        /// The platform, for example `linux`.
        package var platform: String
        /// The SHA-256 of the server's own authority; nil if the server has a configured certificate.
        package var authority: [UInt8]?

        package init(
            codeHash: [UInt8]?, device: DeviceID, secretHash: @escaping @Sendable (DeviceID) -> [UInt8], name: String,
            platform: String, requestHash: [UInt8]? = nil, authority: [UInt8]? = nil
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
    case cluster(ClusterAPI.Status)
    case clusterKeys(ClusterAPI.Keys)
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
    /// No node of the cluster has this name.
    case unknownNode
    /// The node runs, so it cannot be removed.
    case nodeIsLive
    /// The cluster has no shard with this number.
    case unknownShard
    /// A node of the cluster has no connection to the shard.
    case shardNotEverywhere
    /// Slots move already.
    case slotsAreMoving
    /// Another node has ended the move, perhaps after this one did not send heartbeats.
    case moveEnded
    /// A node of an earlier version needs the former tables.
    case oldNode
    /// The node takes no devices, which must connect to another one.
    case draining
    /// The store has no nodes, because it is not in PostgreSQL.
    case noCluster
    /// The keys of the cluster cannot be changed now; the text is for the administrator.
    case keysUnchanged(String)
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
    /// The database did not confirm the request, so the store may have changed something.
    ///
    /// The text is for the log and for administrators.
    case unconfirmed(String)
}
