// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
package import PushNet

/// Delivers notifications to the connected devices of one loop, without the store.
///
/// ```
/// loop ──command──▶ host ──not for a hosted device──────────────▶ store
///                    │  └──for a device of another loop──────────▶ its host
///                    └──▶ device's stream ──acknowledged──▶ 200, and the journal
///                              └──not within the grace──▶ store
/// ```
/// The store hands over the queue of a connected device that acknowledges, when nothing waits for it and at most half
/// of its window is in flight. From then on, the host decides alone about the device's notifications. If something
/// else happens to the device, the store takes the queue back first. So a queue always has one owner.
///
/// Only the loop's thread uses a host.
package final class LoopHost {
    private let loop: UInt32
    private let sharing: HostSharing
    private let metrics: HostMetrics
    private let deliver: (StoreReply) -> Void
    private var reader: HostTable.Reader
    private var devices: [DeviceID: HostedDevice] = [:]
    private var deviceByStream: [ReplyAddress: DeviceID] = [:]
    private var subscribers: [ChannelNumber: [DeviceID: HostedDevice]] = [:]
    /// The number of the last broadcast that was delivered to the subscribers.
    private var broadcastNumber = 0
    /// The notifications that are delivered and not stored, by the ends of their graces; some are acknowledged.
    private var unwritten = FIFOQueue<(device: HostedDevice, sequence: Int64, due: MonotonicTime)>()
    private var unwrittenCount = 0
    /// The times at which notifications were passed to the store, for the last 16 milliseconds.
    private var passed = FIFOQueue<MonotonicTime>()
    private var lastDue = MonotonicTime.past
    private var records: [HostJournal.Record] = []
    private var journalDue: MonotonicTime?
    /// Whether the journal was full at the last turn with records.
    private var isJournalFull = false
    // Sent at the end of the turn.
    private var commands: [StoreCommand] = []
    private var touched: [HostedDevice] = []
    private var own: [StoreReply] = []
    private var others: [[StoreReply]]

    /// Creates the host of a loop.
    ///
    /// - Parameters:
    ///   - loop: The index of the loop among the store's receivers.
    ///   - sharing: The state that all hosts and the store share.
    ///   - metrics: The numbers of this host.
    ///   - deliver: Receives the replies for this loop.
    init(
        loop: UInt32, _ sharing: HostSharing, metrics: HostMetrics, deliver: @escaping (StoreReply) -> Void
    ) {
        self.loop = loop
        self.sharing = sharing
        self.metrics = metrics
        self.deliver = deliver
        reader = HostTable.Reader(sharing.table)
        others = Array(repeating: [], count: sharing.receivers.count)
    }

    /// Creates a host that hosts no device, for a store that hands over no queues.
    package convenience init(passingOnTo store: any NotificationStore, deliver: @escaping (StoreReply) -> Void) {
        let sharing = HostSharing(Sequences(stored: 0), receivers: [], now: { .now }) { store.submit(&$0) }
        self.init(loop: 0, sharing, metrics: HostMetrics(), deliver: deliver)
    }

    // MARK: From the loop

    /// Executes a command, or keeps it for the store until the end of the turn.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - moment: The monotonic time of the turn.
    package func submit(_ command: StoreCommand, at moment: MonotonicTime) {
        switch command {
        case .accept(let notification, let answer):
            let device = notification.address.device
            if let hosted = devices[device] {
                accept(notification, answer, hosted, at: moment)
            } else if let host = reader.host(of: device), host != loop {
                others[Int(host)].append(.host(.offered(notification, answer: answer)))
            } else {
                commands.append(command)
            }
        case .acknowledge(let acknowledgements, let device):
            if let hosted = devices[device] {
                acknowledge(acknowledgements, hosted, at: moment)
            } else {
                commands.append(command)
            }
        case .detach(let stream):
            if let device = deviceByStream[stream] { returnQueue(device) }
            commands.append(command)
        case .attach, .publish, .perform, .usesDirectory, .host: commands.append(command)
        }
    }

    // MARK: From the store and from other hosts

    /// Handles a message for hosts; delivers any other reply.
    package func receive(_ reply: StoreReply, at moment: MonotonicTime) {
        guard case .host(let message) = reply else { return deliver(reply) }
        switch message {
        case .handed(let queue): take(queue)
        case .offered(let notification, let answer):
            if let hosted = devices[notification.address.device] {
                accept(notification, answer, hosted, at: moment)
            } else {
                commands.append(.accept(notification, answer: answer))
            }
        case .broadcast(let broadcast): deliver(broadcast)
        case .relayed(let result, let answer, let via):
            if let next = via.first {
                others[Int(next)].append(.host(.relayed(result, answer: answer, via: via.dropFirst())))
            } else {
                self.reply(.performed(.success(result), answer: answer), to: answer)
            }
        case .recalled(let device): returnQueue(device)
        }
    }

    // MARK: Notifications

    /// Refuses a notification or delivers it; returns the queue if the store must decide.
    private func accept(
        _ notification: Notification, _ answer: ReplyAddress, _ hosted: HostedDevice, at moment: MonotonicTime
    ) {
        let address = notification.address
        guard let registration = hosted.registration(of: address.topic) else {
            return reply(.refused(.unregistered, unregisteredAt: sharing.now(), answer: answer), to: answer)
        }
        if let (reason, ended) = registration.rejection(of: address.generation) {
            return reply(.refused(reason, unregisteredAt: ended ?? sharing.now(), answer: answer), to: answer)
        }
        let collapse = CollapseHash(notification.collapseID)
        let isDeliverable = hosted.hasSpace && !hosted.mayReplace(address.topic, collapse)
        guard notification.isNowOrNever || isDeliverable, !isJournalFull, let sequence = sharing.sequences.next() else {
            returnQueue(hosted.device)
            return commands.append(.accept(notification, answer: answer))
        }
        let pending = PendingNotification(sequence: sequence, notification: notification)
        guard !registration.isRefused else { return end(pending, .dropped, .refusedByDevice, answer) }
        guard !notification.isNowOrNever else { return sendNow(pending, hosted, answer) }
        guard !notification.isExpired(now: notification.acceptedAt) else {
            return end(pending, .expired, .none, answer)
        }
        touch(hosted)
        hosted.send(pending, collapse, answer: answer, at: moment)
        let grace = graceMilliseconds(at: moment)
        guard hosted.queue.acknowledgementMilliseconds <= grace else {
            pass(sequence, of: hosted, at: moment)
            return
        }
        lastDue = max(moment.advanced(byMilliseconds: grace), lastDue)
        unwritten.append((hosted, sequence, lastDue))
        unwrittenCount += 1
    }

    /// Returns the time in which an acknowledgement must arrive, so that a notification is not stored.
    ///
    /// Stored notifications count too. Otherwise, devices that are slow because of the load would remain slow: none of
    /// their notifications would be unwritten, so the short grace would apply, and they would be stored again.
    private func graceMilliseconds(at moment: MonotonicTime) -> Int64 {
        while let first = passed.first, moment >= first.advanced(byMilliseconds: WriterLimits.busyMilliseconds) {
            _ = passed.popFirst()
        }
        let isBusy = unwrittenCount + passed.count >= WriterLimits.busyCount
        return isBusy ? WriterLimits.busyGraceMilliseconds : WriterLimits.graceMilliseconds
    }

    private func sendNow(_ pending: PendingNotification, _ hosted: HostedDevice, _ answer: ReplyAddress) {
        guard hosted.hasSpace else { return end(pending, .expired, .windowFull, answer) }
        touch(hosted)
        hosted.sendNow(pending)
        reply(.accepted(answer: answer), to: answer)
        records.append(.sentNow(pending))
    }

    /// Accepts a notification that is not sent.
    private func end(
        _ pending: PendingNotification, _ reason: RemovalReason, _ detail: TraceDetail, _ answer: ReplyAddress
    ) {
        reply(.accepted(answer: answer), to: answer)
        records.append(.notSent(pending, reason, detail))
    }

    /// Delivers a broadcast to the subscribers; if it is stored, returns the queues that have no space for it.
    private func deliver(_ broadcast: HostBroadcast) {
        var (streams, taken): ([ReplyAddress], [DeviceID]) = ([], [])
        for hosted in (subscribers[broadcast.channel] ?? [:]).values {
            guard hosted.hasSpace else {
                // The number that goes with the queue tells the store that the device has missed this broadcast.
                if broadcast.isStored { returnQueue(hosted.device) }
                continue
            }
            deliverOutgoing(of: hosted)
            hosted.noteSent(broadcast)
            streams.append(hosted.queue.stream)
            taken.append(hosted.device)
        }
        broadcastNumber = broadcast.number
        if !streams.isEmpty { own.append(.broadcast(broadcast.pending, streams: streams)) }
        records.append(.broadcast(broadcast, to: taken, at: sharing.now()))
        // This is a command and not a record, because the store reads records first, and it must read this after the
        // queues that were returned before.
        commands.append(.host(.delivered(broadcast: broadcast.number, host: loop)))
    }

    private func acknowledge(
        _ acknowledgements: [DeviceAPI.Acknowledgement], _ hosted: HostedDevice, at moment: MonotonicTime
    ) {
        var rest: [DeviceAPI.Acknowledgement] = []
        let now = sharing.now()
        for acknowledgement in acknowledgements {
            let sequence = acknowledgement.id
            guard let entry = hosted.acknowledge(sequence, at: moment, measuredBy: metrics.acknowledgement)
            else {
                rest.append(acknowledgement)
                continue
            }
            switch entry.state {
            case .unwritten(let notification, let answer):
                unwrittenCount -= 1
                reply(.accepted(answer: answer), to: answer)
                let pending = PendingNotification(sequence: sequence, notification: notification)
                records.append(.delivered(pending, acknowledgement, at: now))
            case .nowOrNever, .broadcast(isStored: false):
                let isBroadcast = if case .broadcast = entry.state { true } else { false }
                records.append(
                    .acknowledgedNow(
                        acknowledgement, entry.topic, by: hosted.device, isBroadcast: isBroadcast, at: now))
            case .stored, .broadcast(isStored: true): rest.append(acknowledgement)
            }
        }
        if !rest.isEmpty { commands.append(.acknowledge(rest, by: hosted.device)) }
    }

    /// Passes a notification to the store; returns false if it is acknowledged or stored already.
    @discardableResult
    private func pass(_ sequence: Int64, of hosted: HostedDevice, at moment: MonotonicTime) -> Bool {
        guard let (pending, answer) = hosted.store(sequence) else { return false }
        passed.append(moment)
        commands.append(.host(.store(pending, answer: answer)))
        return true
    }

    private func touch(_ hosted: HostedDevice) {
        if hosted.outgoing.isEmpty { touched.append(hosted) }
    }

    // MARK: Queues

    private func take(_ queue: HeldQueue) {
        let hosted = HostedDevice(queue)
        devices[queue.device] = hosted
        deviceByStream[queue.stream] = queue.device
        for subscription in queue.subscriptions {
            subscribers[subscription.channel, default: [:]][queue.device] = hosted
        }
        sharing.table.insert(loop, of: queue.device)
    }

    private func returnQueue(_ device: DeviceID) {
        guard let hosted = devices.removeValue(forKey: device) else { return }
        deviceByStream[hosted.queue.stream] = nil
        sharing.table.remove(device, hostedBy: loop)
        for subscription in hosted.queue.subscriptions {
            subscribers[subscription.channel]?[device] = nil
            if subscribers[subscription.channel]?.isEmpty == true { subscribers[subscription.channel] = nil }
        }
        deliverOutgoing(of: hosted)
        for entry in hosted.queue.inFlight {
            if case .unwritten = entry.state { unwrittenCount -= 1 }
        }
        let queue = hosted.queue
        // The store now decides about the unwritten notifications, so `storeLate` must skip their entries.
        hosted.forgetInFlight()
        commands.append(.host(.returned(queue, broadcast: broadcastNumber)))
    }

    private func reply(_ reply: StoreReply, to address: ReplyAddress) {
        guard address.loop != loop else { return own.append(reply) }
        if others.indices.contains(Int(address.loop)) { others[Int(address.loop)].append(reply) }
    }

    private func deliverOutgoing(of hosted: HostedDevice) {
        guard !hosted.outgoing.isEmpty else { return }
        own.append(.deliver(hosted.outgoing, stream: hosted.queue.stream))
        hosted.outgoing.removeAll(keepingCapacity: true)
    }

    // MARK: The end of a turn

    /// The time at which `endTurn` must be called again; nil if nothing waits.
    package var nextDue: MonotonicTime? {
        guard let due = unwritten.first?.due else { return journalDue }
        return journalDue.map { min($0, due) } ?? due
    }

    /// Delivers and sends what this turn has gathered, and what is due.
    ///
    /// - Parameter moment: The monotonic time of the turn.
    package func endTurn(at moment: MonotonicTime) {
        storeLate(at: moment)
        for hosted in touched { deliverOutgoing(of: hosted) }
        touched.removeAll(keepingCapacity: true)
        var next = 0
        while next < own.count {
            deliver(own[next])
            next += 1
        }
        own.removeAll(keepingCapacity: true)
        send(at: moment)
    }

    /// Sends the records, the commands and the messages to other loops that were gathered.
    ///
    /// - Parameter moment: The monotonic time of the turn.
    package func send(at moment: MonotonicTime) {
        metrics.unwritten.set(Int64(unwrittenCount))
        // The store must read the records before the commands that follow them.
        writeJournal(at: moment)
        for index in others.indices where !others[index].isEmpty {
            sharing.receivers[index].receive(others[index])
            others[index].removeAll(keepingCapacity: true)
        }
        if !commands.isEmpty { sharing.submit(&commands) }
    }

    /// Passes to the store the notifications that were not acknowledged within the grace.
    private func storeLate(at moment: MonotonicTime) {
        while let first = unwritten.first, first.due <= moment {
            _ = unwritten.popFirst()
            guard pass(first.sequence, of: first.device, at: moment) else { continue }
            unwrittenCount -= 1
            first.device.noteSlow()
        }
    }

    private func writeJournal(at moment: MonotonicTime) {
        if let due = journalDue, due <= moment {
            journalDue = nil
            commands.append(.host(.wake))
        }
        guard !records.isEmpty || isJournalFull else { return }
        let journal = sharing.journals[Int(loop)]
        if journal.append(&records) {
            commands.append(.host(.wake))
        } else if journalDue == nil {
            journalDue = moment.advanced(byMilliseconds: WriterLimits.journalDelayMilliseconds)
        }
        isJournalFull = journal.isFull
    }
}
