// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushStore

/// The streams of the devices that are connected to this node.
///
/// A device receives a notification before it is written. If the device does not acknowledge it within the grace, it is
/// written. While rows may wait that the device has not received, new notifications are written too, and the rows are
/// read in order.
final class Host {
    let context: NodeContext
    private let shards: ClusterShards
    private(set) var streams: [DeviceID: HostedStream] = [:]
    /// The broadcasts that channels store, on all nodes.
    var stored = StoredBroadcasts()
    var subscribers = Subscribers()
    private var deviceByStream: [ReplyAddress: DeviceID] = [:]
    /// The delivered notifications by the ends of their graces; some are acknowledged.
    private var graces = FIFOQueue<(waiting: WaitingNotification, due: MonotonicTime)>()
    private var lastGrace = MonotonicTime.past
    /// The streams with notifications to deliver, in order.
    private var touched: [HostedStream] = []
    /// Marks a stream, so that what was held back is read and sent.
    private(set) lazy var powerSaving = PowerSaving(context) { [unowned self] stream in
        if isCurrent(stream) { mark(stream) }
    }

    let histories: StreamHistories

    init(_ context: NodeContext, _ shards: ClusterShards) {
        self.context = context
        self.shards = shards
        histories = StreamHistories(context)
    }

    var count: Int { streams.count }
    var devices: [DeviceID] { streams.keys.sorted { $0.rawValue < $1.rawValue } }

    func stream(of device: DeviceID) -> HostedStream? { streams[device] }
    func shard(_ device: DeviceID) -> ShardQueue { shards[device] }
    func hasLease(_ stream: HostedStream) -> Bool { shards.hasLease(of: stream.device) }

    func isCurrent(_ stream: HostedStream) -> Bool { streams[stream.device] === stream }

    // MARK: Streams

    /// Opens the stream of a device, and ends an earlier one.
    func attach(_ device: DeviceID, secretHash: [UInt8], _ address: ReplyAddress) {
        let earlier = streams[device]
        if let earlier { close(earlier, .replaced) }
        let stream = HostedStream(
            device, secretHash: secretHash, address, epoch: context.ids.next(at: context.moment),
            at: context.moment)
        if let earlier, earlier.secretHash == secretHash { stream.history = earlier.history }
        streams[device] = stream
        deviceByStream[address] = device
        register(stream)
    }

    func register(_ stream: HostedStream) {
        if stream.readingNumber > 0 { context.counters.noteRegisteredAgain() }
        stream.state = .attaching
        stream.attachedAt = nil
        stream.needsAccount = true
        stream.isMarked = false
        stream.isReadingRequested = true
        stream.readingNumber += 1
        shard(stream.device).attach(stream)
    }

    /// Takes the result of an attachment; returns the host of an earlier stream, which must learn of this one.
    func attached(_ stream: HostedStream, _ result: ShardResult.Attachment) -> ShardResult.Host? {
        if isCurrent(stream) { take(result, for: stream) }
        // Even if the stream has ended since, its row has replaced that of the earlier host.
        guard case .attached(let earlier?) = result, earlier.isLive, earlier.instance != context.instance else {
            return nil
        }
        return earlier
    }

    private func take(_ result: ShardResult.Attachment, for stream: HostedStream) {
        switch result {
        case .unauthorized:
            if stream.isAnnounced {
                close(stream, .removed)
            } else {
                context.reply(.performed(.failure(.unauthorized), answer: stream.address), to: stream.address)
                close(stream, nil)
            }
        case .replaced: close(stream, .replaced)
        case .elsewhere: close(stream, .shutdown)
        case .attached:
            stream.attachedAt = context.moment
            stream.state = .reading
            context.routes.set(.host(context.instance), of: stream.device)
            if !stream.isAnnounced {
                stream.isAnnounced = true
                context.metrics.attachment.observe(nanoseconds: context.moment.nanoseconds(since: stream.openedAt))
                context.reply(.attached(stream.device, stream: stream.address), to: stream.address)
            }
        }
    }

    /// Closes the stream whose connection is gone.
    func detach(_ address: ReplyAddress) {
        guard let device = deviceByStream[address], let stream = streams[device] else { return }
        close(stream, nil)
    }

    /// Ends the stream of a device if a later one exists.
    func replace(_ device: DeviceID, epoch: Int64) {
        guard let stream = streams[device], stream.epoch < epoch else { return }
        context.counters.noteReplacedStream()
        close(stream, .replaced)
    }

    /// Ends the stream of a device, which must connect to another node; returns whether it had one.
    func sendAway(_ device: DeviceID) -> Bool {
        guard let stream = streams[device] else { return false }
        close(stream, .shutdown)
        return true
    }

    private func close(_ stream: HostedStream, _ end: StreamEnd?) {
        stream.hasEnded = true
        streams[stream.device] = nil
        deviceByStream[stream.address] = nil
        context.routes.forget(stream.device)
        subscribers.set([], of: stream.device)
        for waiting in stream.unwritten { write(waiting) }
        expireNowOrNever(stream)
        histories.close(stream)
        shard(stream.device).depart(.init(device: stream.device, epoch: stream.epoch))
        // A registration whose answer was lost may have replaced a stream on another node, which must learn of this.
        if stream.attachedAt == nil, stream.readingNumber > 1 { shard(stream.device).announce(stream.device) }
        if let end { context.reply(.ended(end, stream: stream.address), to: stream.address) }
    }

    // MARK: Notifications

    /// Delivers a notification, or writes it; refuses it if the registration has ended.
    func offer(_ waiting: WaitingNotification) {
        guard let stream = streams[waiting.device] else { return context.step(waiting, .finish(.notHere)) }
        // A node that was stopped may find a push whose sender has written the notification long ago.
        guard !context.isLate(waiting) else { return context.step(waiting, .finish(.unavailable)) }
        let notification = waiting.pending.notification
        if !stream.needsAccount {
            guard let registration = stream.registration(of: notification.address.topic) else {
                return context.step(waiting, .finish(.refused(.unregistered, endedAt: context.now)))
            }
            if let (reason, ended) = registration.rejection(of: notification.address.generation) {
                return context.step(waiting, .finish(.refused(reason, endedAt: ended ?? context.now)))
            }
            if registration.isRefused {
                context.counters.noteDropped()
                context.trace(.dropped, .refusedByDevice, of: waiting)
                return context.step(waiting, .finish(.accepted))
            }
        }
        if notification.isNowOrNever { return offerNow(waiting, stream) }
        if notification.isExpired(now: context.now) {
            context.counters.noteExpired()
            context.trace(.expired, of: waiting)
            return context.step(waiting, .finish(.accepted))
        }
        powerSaving.holdBack(notification, stream)
        guard stream.isOpen, !stream.isMarked, hasLease(stream),
            !stream.contains(notification.uniqueID)
        else {
            // After the commit, the node that wrote the row marks the stream.
            return context.step(waiting, .write)
        }
        deliver(waiting, stream)
    }

    private func deliver(_ waiting: WaitingNotification, _ stream: HostedStream) {
        let earlier = stream.unwritten.filter { $0.key == waiting.key }
        let replaces = waiting.key.isCollapsible && stream.mayHaveRow(waiting.key)
        raise(&waiting.pending, on: stream)
        context.traceAccepted(waiting)
        send(waiting.pending, waiting.key, .unwritten(waiting), on: stream)
        waiting.stream = stream
        stream.measure(waiting.pending.sequence, at: context.moment)
        let milliseconds =
            shard(waiting.device).load.isBusy
            ? context.configuration.busyGraceMilliseconds : context.configuration.graceMilliseconds
        guard !replaces, stream.acknowledges(within: milliseconds) else {
            // The row that it replaces must not come back after it. Both are written, and the later one stays.
            for waiting in earlier { write(waiting) }
            return write(waiting)
        }
        lastGrace = max(lastGrace, context.moment.advanced(byMilliseconds: milliseconds))
        graces.append((waiting, lastGrace))
    }

    func send(
        _ pending: PendingNotification, _ key: RowKey, _ state: HostedStream.Sent.State, on stream: HostedStream
    ) {
        if stream.outgoing.isEmpty { touched.append(stream) }
        stream.send(pending, key, state)
        histories.noteSent(pending, state, on: stream)
    }

    /// Raises the number of a notification that is not above the last one on its stream.
    func raise(_ pending: inout PendingNotification, on stream: HostedStream) {
        guard pending.sequence <= stream.lastID else { return }
        pending.sequence = context.ids.next(at: context.moment, above: stream.lastID)
    }

    private func offerNow(_ waiting: WaitingNotification, _ stream: HostedStream) {
        context.step(waiting, .finish(.accepted))
        guard hasLease(stream), stream.hasSpace, stream.nowOrNever.count < Limits.unacknowledgedCountMax else {
            context.trace(.expired, .windowFull, of: waiting)
            return context.counters.noteExpired()
        }
        raise(&waiting.pending, on: stream)
        context.traceAccepted(waiting)
        stream.waitNowOrNever(waiting.pending)
        guard stream.isOpen, !stream.isMarked else { return waiting.isOrderedByNumber = true }
        sendNowOrNever(stream)
    }

    /// Writes a delivered notification whose acknowledgement did not arrive in time.
    private func write(_ waiting: WaitingNotification) {
        guard !context.isLate(waiting) else {
            waiting.stream?.remove(waiting.pending.sequence)
            return context.step(waiting, .finish(.unavailable))
        }
        _ = waiting.stream?.set(.writing(waiting), of: waiting.pending.sequence)
        context.step(waiting, .write)
    }

    /// Records that a notification of a stream's window is written.
    func written(_ waiting: WaitingNotification) {
        if waiting.isAcknowledged { return shard(waiting.device).delete(waiting.row) }
        _ = waiting.stream?.set(.written, of: waiting.pending.sequence)
    }

    /// Records that a notification of a stream's window was not written because its registration has ended.
    func refused(_ waiting: WaitingNotification) { waiting.stream?.remove(waiting.pending.sequence) }

    /// Returns whether the current stream of a device has sent a notification.
    func hasSent(_ waiting: WaitingNotification) -> Bool {
        guard let stream = waiting.stream else { return false }
        return isCurrent(stream)
    }

    // MARK: Acknowledgements

    func acknowledge(_ acknowledgements: [DeviceAPI.Acknowledgement], by device: DeviceID) {
        let stream = streams[device]
        for acknowledgement in acknowledgements {
            guard let stream else {
                // An earlier stream may have sent it, and its row may wait.
                context.counters.noteIgnored()
                skipBroadcast(acknowledgement.id, by: device)
                shard(device).acknowledge(.init(device: device, id: acknowledgement.id))
                continue
            }
            guard let sent = takeAcknowledged(acknowledgement.id, on: stream) else {
                acknowledgeLate(acknowledgement, on: stream)
                continue
            }
            histories.count(acknowledgement, of: sent, on: stream)
            complete(sent, of: device)
        }
        guard let stream else { return }
        readOn(stream)
        sendBroadcasts(stream)
    }

    /// Answers the sender of a notification that its device has, or deletes its row.
    func complete(_ sent: HostedStream.Sent, of device: DeviceID) {
        switch sent.state {
        case .unwritten(let waiting): context.step(waiting, .finish(.accepted))
        case .writing(let waiting):
            waiting.isAcknowledged = true
            context.step(waiting, .finish(.accepted))
        case .written: shard(device).delete(RowReference(device: device, key: sent.key, id: sent.id))
        case .broadcast(let channel, isStored: true): noteReceived(sent.id, of: channel, by: device)
        case .nowOrNever, .broadcast: break
        }
    }

    // MARK: Reading

    /// Records that a device may have new rows; returns whether its stream is here, and will read them.
    func mark(_ device: DeviceID) -> Bool {
        guard let stream = streams[device] else { return false }
        stream.isReviewed = false
        mark(stream)
        return true
    }

    func mark(_ stream: HostedStream) {
        stream.isMarked = true
        if case .open = stream.state { stream.state = .reading }
        readOn(stream)
    }

    /// Registers the stream of a device again, and reads its account before anything more is delivered.
    ///
    /// - Parameter device: The device, whose registrations changed, or which was removed.
    /// - Returns: Whether its stream is here.
    func reattach(_ device: DeviceID) -> Bool {
        guard let stream = streams[device] else { return false }
        register(stream)
        return true
    }

    /// Requests the next rows if the stream waits for them.
    func readOn(_ stream: HostedStream) {
        guard case .reading = stream.state, !stream.isReadingRequested, stream.hasSpace, stream.heldBackUntil == nil
        else { return }
        stream.isReadingRequested = true
        stream.isMarked = false
        stream.readingNumber += 1
        shard(stream.device).read(stream)
    }

    /// Delivers the rows that were read for a stream.
    func read(_ stream: HostedStream, number: Int, _ reading: ShardResult.Reading) {
        // Otherwise a later reading finds the rows, and those that were written since.
        guard isCurrent(stream), number == stream.readingNumber else { return }
        stream.isReadingRequested = false
        guard case .reading = stream.state else { return }
        if let account = reading.account {
            stream.take(account)
            stream.needsAccount = false
            takeSubscriptions(of: stream)
            takeHistory(account.history, stream)
        }
        // The stream reads again when a lease begins.
        guard hasLease(stream) else { return stream.isMarked = true }
        if stream.isReviewed { context.counters.noteReviewed(rowCount: reading.rows.count) }
        stream.isReviewed = false
        var isMore = reading.isMore
        for row in reading.rows {
            if row.notification == nil { context.configuration.onDamagedRow(row.id) }
            guard let notification = row.notification, stream.accepts(row, notification, now: context.now) else {
                noteUnwanted(row, stream)
                shard(stream.device).delete(RowReference(device: stream.device, key: row.key, id: row.id))
                continue
            }
            sendNowOrNever(stream, before: row.id)
            guard stream.hasSpace else {
                isMore = true
                break
            }
            send(PendingNotification(sequence: row.id, notification: notification), row.key, .written, on: stream)
        }
        if isMore || stream.isMarked || stream.needsAccount { return readOn(stream) }
        stream.state = .open
        sendNowOrNever(stream)
        sendBroadcasts(stream)
    }

    // MARK: Time

    /// The time of the next grace or delay that ends.
    var nextDue: MonotonicTime? { [graces.first?.due, powerSaving.nextDue].compactMap(\.self).min() }

    /// Writes the notifications whose grace is over, and reads what was held back.
    func expire() {
        while let first = graces.first, first.due <= context.moment {
            _ = graces.popFirst()
            guard let stream = first.waiting.stream, stream.isUnwritten(first.waiting) else { continue }
            stream.noteSlow()
            write(first.waiting)
        }
        powerSaving.expire()
    }

    // MARK: The end of a turn

    /// Delivers what the turn sent.
    func flush() {
        for stream in touched where isCurrent(stream) && !stream.outgoing.isEmpty {
            context.reply(.deliver(stream.outgoing, stream: stream.address), to: stream.address)
            stream.outgoing = []
        }
        touched.removeAll(keepingCapacity: true)
    }
}
