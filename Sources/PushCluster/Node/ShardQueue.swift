// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// Gathers what a node asks of a shard, and sends it as one batch while no other batch is under way.
///
/// ```
/// write, look, attach, read, delete ─▶ next batch ─previous one answered─▶ under way ─▶ results, in order
///            ▲────────────────────── the connection was lost ◀────────────────┘
/// ```
final class ShardQueue {
    /// The reason for looking up a host.
    enum Look {
        /// Finds the host for a notification.
        case route(WaitingNotification)
        /// Finds the host that must hear of a row, after its commit.
        case written(WaitingNotification)
        /// Verifies that a stream on this node is still the device's.
        case stream(HostedStream)
    }

    /// A batch and what each of its elements is for.
    struct Gathered {
        fileprivate(set) var batch = ShardBatch()
        /// The notifications of each row; with a collapse ID, one row may stand for several.
        fileprivate(set) var writes: [[WaitingNotification]] = []
        fileprivate(set) var attachments: [HostedStream] = []
        fileprivate(set) var readings: [HostedStream] = []
        fileprivate(set) var looks: [[Look]] = []
        /// The notifications that are answered after devices are in `changes`.
        fileprivate(set) var changes: [WaitingNotification] = []
        fileprivate(set) var heartbeatSentAt: MonotonicTime?
        fileprivate var writeIndex: [RowIdentity: Int] = [:]
        fileprivate var lookIndex: [DeviceID: Int] = [:]
        fileprivate var attachmentIndex: [DeviceID: Int] = [:]
        /// The places of streams, which `readings` keeps alive.
        fileprivate var readingIndex: [ObjectIdentifier: Int] = [:]
        /// The time from which the batch gathers.
        fileprivate var since: MonotonicTime?
    }

    /// The primary key of the table `pending`.
    fileprivate struct RowIdentity: Hashable {
        var device: DeviceID
        var key: RowKey
    }

    let shard: Int
    private let context: NodeContext
    private var next = Gathered()
    private var underWay: (number: Int64, gathered: Gathered)?
    private var lastNumber: Int64 = 0
    private var lastHeartbeat: MonotonicTime?
    /// Whether the next heartbeat must not wait, because other nodes wait for what it tells.
    private var isHeartbeatUrgent = false
    private(set) var lease: Lease
    /// The shard's time in microseconds up to which this node has heard of all devices in `changes`.
    private var heardAt: Int64 = 0
    /// Whether notifications wait until other nodes have heard of devices in `changes`.
    var awaitsHearing = false
    /// Whether the connection to the shard is open.
    private(set) var isConnected = false

    init(_ shard: Int, _ context: NodeContext) {
        self.shard = shard
        self.context = context
        lease = Lease(durationMilliseconds: context.configuration.leaseMilliseconds)
    }

    var hasLease: Bool { lease.isValid(at: context.moment) }

    // MARK: Gathering

    /// Writes a notification, and looks up the host of its device after the commit.
    func write(_ waiting: WaitingNotification) {
        addRow(of: waiting)
        look(.written(waiting), waiting.device)
    }

    private func addRow(of waiting: WaitingNotification) {
        waiting.mayHaveRow = true
        let notification = waiting.pending.notification
        let row = ShardBatch.Write(
            key: waiting.key, pending: waiting.pending,
            expiresAt: notification.expiry(now: context.now, retentionSeconds: Limits.retentionSecondsMax))
        let identity = RowIdentity(device: waiting.device, key: waiting.key)
        if let place = next.writeIndex[identity] {
            next.writes[place].append(waiting)
            // The later one of two with the same collapse ID replaces the other.
            if next.batch.writes[place].pending.sequence < waiting.pending.sequence { next.batch.writes[place] = row }
        } else {
            next.writeIndex[identity] = next.writes.count
            next.writes.append([waiting])
            next.batch.writes.append(row)
        }
        noteGathering()
    }

    /// Removes the notifications that their senders write themselves, because the batch had to wait too long.
    private func removeLateWrites() {
        let notifications = next.writes.joined()
        guard notifications.contains(where: context.isLate) else { return }
        (next.writes, next.writeIndex, next.batch.writes) = ([], [:], [])
        for waiting in notifications {
            if context.isLate(waiting) {
                context.step(waiting, .finish(.unavailable))
            } else {
                addRow(of: waiting)
            }
        }
    }

    /// Looks up the host of a device.
    func look(_ look: Look, _ device: DeviceID) {
        if let place = next.lookIndex[device] {
            next.looks[place].append(look)
        } else {
            next.lookIndex[device] = next.looks.count
            next.looks.append([look])
            next.batch.looks.append(device)
        }
        noteGathering()
    }

    /// Registers a stream in `hosts`, then reads what waits for its device.
    func attach(_ stream: HostedStream) {
        let attachment = ShardBatch.Attachment(
            device: stream.device, secretHash: stream.secretHash, epoch: stream.epoch)
        if let place = next.attachmentIndex[stream.device] {
            // A statement changes each row once, and only the latest stream of a device matters.
            next.batch.attachments[place] = attachment
            next.attachments[place] = stream
        } else {
            next.attachmentIndex[stream.device] = next.attachments.count
            next.batch.attachments.append(attachment)
            next.attachments.append(stream)
        }
        read(stream)
    }

    /// Reads what waits for a device, without what is in the window of its stream.
    func read(_ stream: HostedStream) {
        let reading = ShardBatch.Reading(
            device: stream.device, known: stream.window.map(\.id), isFull: stream.needsAccount)
        // One reading of a stream is enough, and two would deliver the same rows.
        if let place = next.readingIndex[ObjectIdentifier(stream)] {
            next.batch.readings[place] = reading
        } else {
            next.readingIndex[ObjectIdentifier(stream)] = next.readings.count
            next.batch.readings.append(reading)
            next.readings.append(stream)
        }
        noteGathering()
    }

    /// Removes the host of a device whose stream has ended.
    func depart(_ departure: ShardBatch.Departure) {
        next.batch.departures.append(departure)
        noteGathering()
    }

    func delete(_ row: RowReference) {
        next.batch.deletions.append(row)
        noteGathering()
    }

    func acknowledge(_ acknowledgement: ShardBatch.Acknowledgement) {
        next.batch.acknowledgements.append(acknowledgement)
        noteGathering()
    }

    /// Announces new rows of a device to the heartbeats of all nodes, then answers the notification.
    func announce(_ waiting: WaitingNotification) {
        next.batch.changes.append(waiting.device)
        next.changes.append(waiting)
        noteGathering()
    }

    /// Announces a device to the heartbeats of all nodes.
    func announce(_ device: DeviceID) {
        next.batch.changes.append(device)
        noteGathering()
    }

    private func noteGathering() { if next.since == nil { next.since = context.moment } }

    // MARK: Sending

    /// Sends the next batch if it is due.
    func sendIfDue(to output: any ClusterOutput) {
        guard isConnected, underWay == nil, let due = nextDue, due <= context.moment else { return }
        removeLateWrites()
        if nextHeartbeat <= context.moment {
            lastHeartbeat = context.moment
            let ceiling = context.ids.ceiling(
                at: context.moment, aheadMilliseconds: context.configuration.leaseMilliseconds)
            next.batch.heartbeat = .init(idCeiling: ceiling, heardAt: heardAt)
            next.heartbeatSentAt = context.moment
            isHeartbeatUrgent = false
        }
        lastNumber += 1
        underWay = (lastNumber, next)
        next = Gathered()
        output.send(underWay?.gathered.batch ?? ShardBatch(), number: lastNumber, toShard: shard)
    }

    /// The time at which the next batch can be sent; nil while one is under way, or without a connection.
    var nextDue: MonotonicTime? {
        guard isConnected, underWay == nil else { return nil }
        guard let since = next.since else { return nextHeartbeat }
        let gathering = context.isBusy ? context.configuration.gatheringMilliseconds : 0
        return min(nextHeartbeat, since.advanced(byMilliseconds: gathering))
    }

    // MARK: Results

    /// Takes the result of the batch that is under way; returns nil for any other one.
    func take(_ number: Int64) -> Gathered? {
        guard let (current, gathered) = underWay, current == number else { return nil }
        underWay = nil
        return gathered
    }

    /// Ignores what the batch that is under way finds for streams, because it may be outdated, and sends a heartbeat
    /// with the batch that registers them again.
    func leaseEnded() {
        underWay?.gathered.attachments = []
        underWay?.gathered.readings = []
        isHeartbeatUrgent = true
    }

    /// Takes the answer to a heartbeat: renews the lease.
    func heard(_ heartbeat: ShardResult.Heartbeat, sentAt moment: MonotonicTime) {
        lease.renew(sentAt: moment)
        // A node may wait until this one has heard of what it inserted since the last heartbeat.
        if heartbeat.isUrgent { isHeartbeatUrgent = true }
        heardAt = max(heardAt, heartbeat.time)
    }

    /// The time at which the next heartbeat is due.
    private var nextHeartbeat: MonotonicTime {
        guard let lastHeartbeat, !isHeartbeatUrgent else { return .past }
        let (normal, hearing) = (context.configuration.heartbeatMilliseconds, context.configuration.hearingMilliseconds)
        return lastHeartbeat.advanced(byMilliseconds: awaitsHearing ? hearing : normal)
    }

    func connected() {
        isConnected = true
        lastHeartbeat = nil
    }

    /// Records that the connection is lost; returns the batch whose answer is lost too.
    func disconnected() -> Gathered? {
        isConnected = false
        defer { underWay = nil }
        return underWay?.gathered
    }
}
