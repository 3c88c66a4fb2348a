// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// Decides which commands need queues that hosts hold, recalls these, and hands quiet queues over.
final class HandoverGate {
    let dispatcher: Dispatcher
    let handovers = Handovers()
    private let sharing: HostSharing
    private let isOn: Bool
    private var records: [HostJournal.Record] = []

    init(_ dispatcher: Dispatcher, _ sharing: HostSharing) {
        self.dispatcher = dispatcher
        self.sharing = sharing
        isOn = dispatcher.configuration.durability != .relaxed
    }

    // MARK: Commands

    /// Returns whether a command can be executed now; otherwise it was passed to a host, or is executed later.
    func admits(_ command: StoreCommand) -> Bool {
        guard !handovers.isEmpty else { return true }
        if case .accept(let notification, let answer) = command,
            let host = handovers.host(of: notification.address.device)
        {
            dispatcher.deliveryState.replies.add(.offered(notification, answer: answer), toHostOf: host)
            return false
        }
        if case .publish(_, let answer) = command, dispatcher.deliveryState.hostedSubscribers.isBehind {
            dispatcher.deliveryState.replies.shed(answer)
            return false
        }
        let (dispatcher, needed, isWide) = (dispatcher, devices(for: command), isWide(command))
        if case .perform(_, let answer) = command, needed.contains(where: handovers.isBusy),
            !handovers.hasRoom(for: needed, isWide: isWide)
        {
            dispatcher.deliveryState.replies.refuse(.busy, answer)
            return false
        }
        return !handovers.park(command, until: needed, isWide: isWide) { device, host in
            dispatcher.deliveryState.replies.add(.recalled(device), toHostOf: host)
        }
    }

    /// Returns whether a command needs no queue that a host holds.
    func isFree(_ command: StoreCommand) -> Bool {
        if handovers.isEmpty { return true }
        if case .publish = command { return !dispatcher.deliveryState.hostedSubscribers.isBehind }
        return !devices(for: command).contains(where: handovers.isBusy)
    }

    /// Removes and returns the commands that wait for queues, which are refused because the disk has failed.
    func removeParked() -> [StoreCommand] { handovers.removeParked() }

    /// Removes and returns the commands whose queues are back, in order.
    func takeReady() -> [StoreCommand] { handovers.takeReady() }

    /// Recalls all queues; returns whether all are here.
    func recallAll() -> Bool {
        let dispatcher = dispatcher
        for device in handovers.all {
            handovers.recall(device) { host in
                dispatcher.deliveryState.replies.add(.recalled(device), toHostOf: host)
            }
        }
        return handovers.isEmpty
    }

    /// Returns the devices whose queues a command needs.
    private func devices(for command: StoreCommand) -> [DeviceID] {
        switch command {
        case .accept(let notification, _): [notification.address.device]
        case .attach(let credential, _, _): device(with: credential)
        case .detach(let stream): dispatcher.deliveryState.streams.queue(at: stream).map { [$0.device] } ?? []
        case .perform(let request, _): devices(for: request)
        // A host passes on only acknowledgements that the store must process, and it delivers broadcasts itself.
        case .acknowledge, .publish, .usesDirectory, .host: []
        }
    }

    private func devices(for request: StoreRequest) -> [DeviceID] {
        switch request {
        case .device(.identify, _), .device(.subscriptions, _), .device(.policy, _), .device(.confirmAuthorities, _):
            []
        case .device(_, let credential): device(with: credential)
        case .administer(let device, .remove), .administer(let device, .expire): [device]
        case .control(.removeChannel(let channel, let topic, let environment)):
            subscribers(of: channel, topic, environment)
        case .control(.removeApp), .control(.changeApp): handovers.all
        case .enrol, .administer, .allDevices, .control, .backup, .cluster: []
        }
    }

    /// Returns whether a command also concerns devices whose queues are handed over while it waits.
    private func isWide(_ command: StoreCommand) -> Bool {
        switch command {
        case .perform(.control(.removeApp), _), .perform(.control(.changeApp), _),
            .perform(.control(.removeChannel), _):
            true
        default: false
        }
    }

    /// Returns the hosted subscribers of an app's channel; none if the app has no such channel.
    private func subscribers(of channel: ChannelID, _ topic: TopicName, _ environment: Environment) -> [DeviceID] {
        // After a failed read, the command itself fails.
        guard let row = try? dispatcher.tables.channels.find(channel), row.environment == environment,
            let owner = try? dispatcher.tables.topics.find(topic)?.topic, owner.id == row.topic
        else { return [] }
        return dispatcher.deliveryState.hostedSubscribers.subscribers(of: row.number)
    }

    private func device(with credential: DeviceCredential) -> [DeviceID] {
        // After a failed read, the command itself fails.
        dispatcher.authentication.device(with: credential).map { [$0] } ?? []
    }

    // MARK: Journals

    /// Takes the records of all hosts, before any command whose answer depends on them.
    func takeJournals() {
        for journal in sharing.journals {
            journal.take(&records)
            for record in records {
                // This reads, and so can fail, only if the device's history was evicted after the host had sent this.
                try? take(record)
            }
            records.removeAll(keepingCapacity: records.capacity <= 2 * WriterLimits.journalRecordCountMax)
        }
    }

    // MARK: Handing over

    /// Hands over the queues of the devices that acknowledged in this turn and for which nothing waits.
    func handOver() {
        let quiet = dispatcher.quiet
        forgetQuiet()
        guard isOn, !handovers.hasWideCommand else { return }
        for queue in quiet {
            guard let stream = queue.stream, !handovers.isBusy(queue.device),
                dispatcher.deliveryState.replies.hasHost(stream.address.loop),
                (try? dispatcher.queues.queue(of: queue.device)) === queue,
                dispatcher.deliveryState.handOver(queue, stream)
            else { continue }
            handovers.hand(queue, to: stream.address.loop)
        }
    }

    /// Hands nothing over in this turn.
    func forgetQuiet() {
        if !dispatcher.quiet.isEmpty { dispatcher.quiet.removeAll(keepingCapacity: true) }
    }
}
