// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushStore

/// The statements that a node sends to a shard together.
///
/// The shard executes the parts in the order of the properties, each in a transaction of its own. A part therefore sees
/// what the parts before it changed. Attachments and deletions are committed without waiting for a standby.
package struct ShardBatch: Sendable {
    /// A stream that opens, or that is registered again.
    package struct Attachment: Sendable {
        package var device: DeviceID
        /// The SHA-256 of the device's secret.
        package var secretHash: [UInt8]
        package var epoch: Int64
    }

    /// The end of a stream.
    package struct Departure: Sendable {
        package var device: DeviceID
        package var epoch: Int64
    }

    /// The reading of a device's waiting notifications, in order of their numbers.
    package struct Reading: Sendable {
        package var device: DeviceID
        /// The numbers in the stream's window, which are left out.
        package var known: [Int64]
        /// Whether registrations and subscriptions are read too.
        package var isFull: Bool
    }

    /// The number of a notification that a device acknowledged elsewhere than on the stream that delivered it.
    package struct Acknowledgement: Sendable {
        package var device: DeviceID
        package var id: Int64
    }

    /// The number up to which a device needs no stored broadcasts of a channel, because it has acknowledged them.
    package struct Skip: Sendable {
        package var device: DeviceID
        package var channel: ChannelNumber
        package var number: Int64
    }

    /// A notification to write.
    package struct Write: Sendable {
        package var key: RowKey
        package var pending: PendingNotification
        /// The time at which the row expires; nil if the provider set no expiration.
        package var expiresAt: Timestamp?
    }

    /// Keeps the node's row in `nodes` alive, and asks for what changed.
    package struct Heartbeat: Sendable {
        /// A number above all that the node has made.
        package var idCeiling: Int64
        /// The first transaction whose rows in `changes` are asked for.
        ///
        /// The node has heard of the rows of all earlier ones.
        package var leastTransaction: Int64 = 0
        /// The least number of the stored broadcasts that are asked for.
        package var leastBroadcast: Int64
        /// Whether the node has sent all its devices away.
        package var isDrained = false
    }

    /// Comes first, so that the node counts as live before it reads: a writer that looks earlier need not tell it.
    package var heartbeat: Heartbeat?
    package var departures: [Departure] = []
    /// The rows that devices acknowledged on their streams.
    package var deletions: [RowReference] = []
    /// Acknowledgements of rows whose keys are not known.
    package var acknowledgements: [Acknowledgement] = []
    package var skips: [Skip] = []
    package var attachments: [Attachment] = []
    package var readings: [Reading] = []
    /// The notifications to write, one row a key; a row with a higher number stays as it is.
    package var writes: [Write] = []
    /// Whether the rows that `writes` replace are reported.
    package var reportsReplaced = false
    /// The devices that other nodes find with their next heartbeats.
    package var changes: [DeviceID] = []
    /// The devices whose hosts are looked up, after everything else.
    package var looks: [DeviceID] = []

    /// Whether the batch has nothing to execute.
    package var isEmpty: Bool {
        departures.isEmpty && deletions.isEmpty && acknowledgements.isEmpty && skips.isEmpty && attachments.isEmpty
            && readings.isEmpty && writes.isEmpty && changes.isEmpty && heartbeat == nil && looks.isEmpty
    }
}
