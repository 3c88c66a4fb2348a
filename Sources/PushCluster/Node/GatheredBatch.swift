// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// A batch for a shard while it gathers, and the purpose of each of its elements.
struct GatheredBatch {
    /// The reason for looking up a host.
    enum Look {
        /// Finds the host for a notification.
        case route(WaitingNotification)
        /// Finds the host that must read a row, after the commit of the row.
        case written(WaitingNotification)
        /// Verifies that a stream on this node is still the device's.
        case stream(HostedStream)
        /// Finds the host that must apply a change of the device.
        case changed(DeviceChange)
        /// Finds the host of a device that starts or stops saving power.
        case saving(Bool)

        fileprivate var isObsolete: Bool {
            switch self {
            case .route(let waiting): waiting.isAnswered
            case .written(let waiting): waiting.isObsolete
            case .stream(let stream): stream.hasEnded
            case .changed, .saving: false
            }
        }
    }

    /// The primary key of the table `pending`.
    private struct RowIdentity: Hashable {
        var device: DeviceID
        var key: RowKey
    }

    var batch = ShardBatch()
    /// The notifications of each row; with a collapse ID, one row may stand for several.
    private(set) var writes: [[WaitingNotification]] = []
    private(set) var attachments: [HostedStream] = []
    /// The streams that are read for, with the numbers of their readings.
    private(set) var readings: [(stream: HostedStream, number: Int)] = []
    private(set) var looks: [[Look]] = []
    /// The notifications that are answered after their devices are in `changes`.
    private(set) var announced: [WaitingNotification] = []
    /// The time at which the batch was sent.
    var sentAt = MonotonicTime.past
    /// The time from which the batch gathers; nil while it is empty.
    private(set) var since: MonotonicTime?
    private var byteCount = 0
    private var writeIndex: [RowIdentity: Int] = [:]
    private var lookIndex: [DeviceID: Int] = [:]
    private var changed: Set<DeviceID> = []
    private var attachmentIndex: [DeviceID: Int] = [:]
    /// The places of streams, which `readings` keeps alive.
    private var readingIndex: [ObjectIdentifier: Int] = [:]

    /// Whether no further notification fits.
    var isFullOfWrites: Bool {
        writes.count >= ClusterLimits.rowsPerBatchCountMax || byteCount >= ClusterLimits.batchByteCountMax
    }

    /// Whether no further stream fits.
    var isFullOfStreams: Bool { readings.count >= ClusterLimits.streamsPerBatchCountMax }

    private mutating func begin(_ moment: MonotonicTime) { if since == nil { since = moment } }

    // MARK: Notifications

    /// Adds a notification to write.
    mutating func write(_ waiting: WaitingNotification, now: Timestamp, at moment: MonotonicTime) {
        begin(moment)
        let notification = waiting.pending.notification
        let row = ShardBatch.Write(
            key: waiting.key, pending: waiting.pending, expiresAt: notification.deletionTime(now: now))
        let identity = RowIdentity(device: waiting.device, key: waiting.key)
        if let place = writeIndex[identity] {
            writes[place].append(waiting)
            // The later one of two with the same collapse ID replaces the other.
            if batch.writes[place].pending.sequence < waiting.pending.sequence { batch.writes[place] = row }
        } else {
            writeIndex[identity] = writes.count
            writes.append([waiting])
            batch.writes.append(row)
        }
        byteCount += notification.payload.count
    }

    /// Removes the notifications of a kind, and returns them.
    mutating func removeWrites(
        where isOfKind: (WaitingNotification) -> Bool, now: Timestamp, at moment: MonotonicTime
    ) -> [WaitingNotification] {
        let all = writes.joined()
        let removed = all.filter(isOfKind)
        guard !removed.isEmpty else { return [] }
        let kept = all.filter { !isOfKind($0) }
        (writes, writeIndex, batch.writes, byteCount) = ([], [:], [], 0)
        for waiting in kept { write(waiting, now: now, at: moment) }
        return removed
    }

    /// Removes entries that are no longer needed, because senders have been answered or streams have ended.
    mutating func removeObsolete(now: Timestamp, at moment: MonotonicTime) {
        _ = removeWrites(where: \.isObsolete, now: now, at: moment)
        removeEndedStreams(at: moment)
        let former = zip(batch.looks, looks)
        (looks, lookIndex, batch.looks) = ([], [:], [])
        for (device, group) in former {
            for look in group where !look.isObsolete { self.look(look, device, at: moment) }
        }
        if batch.isEmpty { since = nil }
    }

    /// Adds a device to `changes`, and the notification that is answered then.
    mutating func announce(_ device: DeviceID, for waiting: WaitingNotification?, at moment: MonotonicTime) {
        begin(moment)
        if changed.insert(device).inserted { batch.changes.append(device) }
        if let waiting { announced.append(waiting) }
    }

    mutating func delete(_ row: RowReference, at moment: MonotonicTime) {
        begin(moment)
        batch.deletions.append(row)
    }

    mutating func acknowledge(_ acknowledgement: ShardBatch.Acknowledgement, at moment: MonotonicTime) {
        begin(moment)
        batch.acknowledgements.append(acknowledgement)
    }

    mutating func skip(_ skip: ShardBatch.Skip, at moment: MonotonicTime) {
        begin(moment)
        batch.skips.append(skip)
    }

    // MARK: Hosts

    /// Looks up the host of a device.
    mutating func look(_ look: Look, _ device: DeviceID, at moment: MonotonicTime) {
        begin(moment)
        if let place = lookIndex[device] {
            looks[place].append(look)
        } else {
            lookIndex[device] = looks.count
            looks.append([look])
            batch.looks.append(device)
        }
    }

    /// Registers a stream in `hosts`.
    mutating func attach(_ stream: HostedStream, at moment: MonotonicTime) {
        begin(moment)
        let attachment = ShardBatch.Attachment(
            device: stream.device, secretHash: stream.secretHash, epoch: stream.epoch)
        if let place = attachmentIndex[stream.device] {
            // A statement changes each row once, and only the latest stream of a device matters.
            batch.attachments[place] = attachment
            attachments[place] = stream
        } else {
            attachmentIndex[stream.device] = attachments.count
            batch.attachments.append(attachment)
            attachments.append(stream)
        }
    }

    /// Reads the waiting rows of a device, without those in the window of its stream.
    mutating func read(_ stream: HostedStream, at moment: MonotonicTime) {
        begin(moment)
        let reading = ShardBatch.Reading(
            device: stream.device, known: stream.window.map(\.id), isFull: stream.needsAccount)
        // One reading of a stream is enough, and two would deliver the same rows.
        if let place = readingIndex[ObjectIdentifier(stream)] {
            batch.readings[place] = reading
            readings[place].number = stream.readingNumber
        } else {
            readingIndex[ObjectIdentifier(stream)] = readings.count
            batch.readings.append(reading)
            readings.append((stream, stream.readingNumber))
        }
    }

    /// Removes the streams that ended before they were registered.
    mutating func removeEndedStreams(at moment: MonotonicTime) {
        guard attachments.contains(where: \.hasEnded) || readings.contains(where: \.stream.hasEnded) else { return }
        let (attached, read) = (attachments, readings)
        (attachments, attachmentIndex, batch.attachments) = ([], [:], [])
        (readings, readingIndex, batch.readings) = ([], [:], [])
        for stream in attached where !stream.hasEnded { attach(stream, at: moment) }
        for (stream, _) in read where !stream.hasEnded { self.read(stream, at: moment) }
    }

    /// Removes the host of a device whose stream has ended.
    mutating func depart(_ departure: ShardBatch.Departure, at moment: MonotonicTime) {
        begin(moment)
        batch.departures.append(departure)
    }

    /// Forgets the streams, so that the results for them are ignored.
    mutating func forgetStreams() { (attachments, readings) = ([], []) }

    mutating func beat(_ heartbeat: ShardBatch.Heartbeat) { batch.heartbeat = heartbeat }
}
