// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore

/// A simple model of the store's guarantees: arrays in memory, one command after the other.
struct StoreModel {
    struct Waiting {
        /// The position in the order of everything that was ever stored.
        var ordinal: Int
        var text: String
        var token: DeviceTokenContents
        var collapseID: String?
        var hasExpiration: Bool
        var expiresMilliseconds: Int64
    }

    struct Registration {
        var generation: UInt32 = 0
        var isLive = false
        var environment = Environment.production
        var endedMilliseconds: Int64?
        var hasExpired = false

        /// Returns the refusal of a generation; nil for the live one.
        func refusal(of generation: UInt32, now: Int64) -> Acceptance? {
            if isLive, generation == self.generation { return nil }
            let lastEnded = isLive ? self.generation - 1 : self.generation
            let reason = hasExpired && generation == lastEnded ? RejectionReason.expiredToken : .unregistered
            return .refused(reason, ended: endedMilliseconds ?? now)
        }
    }

    struct Channel {
        var topic: TopicID
        var policy: MessageStoragePolicy
        /// The last broadcast, if the channel stores it.
        var stored: (ordinal: Int, text: String, expiresMilliseconds: Int64)?
        /// The ordinal up to which each subscriber skips stored broadcasts.
        var subscribers: [DeviceID: Int] = [:]
    }

    struct Stream {
        var address: ReplyAddress
        /// The texts that were sent and are neither acknowledged nor removed, in order.
        var unacknowledged: [String] = []
        /// The now-or-never texts among them, without broadcasts.
        var nowOrNever: Set<String> = []
        /// The unacknowledged copies of now-or-never broadcasts.
        var copies: Set<String> = []
        /// All texts that were sent on this stream, none of which may be sent again.
        var sent: Set<String> = []
        /// The texts to deliver at the end of the batch, in order.
        var outgoing: [String] = []
        /// Whether more texts wait, to be sent at the end of the batch or when the window has capacity.
        var hasBacklog = true

        /// The now-or-never broadcasts that wait because the window is full.
        var delayed: [(ordinal: Int, text: String, channel: ChannelID)] = []

        /// Removes a text that was replaced or removed, or that the device acknowledged.
        mutating func forget(_ text: String?, leavesWindow: Bool = true) {
            if leavesWindow { unacknowledged.removeAll { $0 == text } }
            outgoing.removeAll { $0 == text }
        }
    }

    /// The state of one notification on a device that received it.
    struct Delivered {
        var outcomes: Set<DeviceAPI.Outcome> = []
        var isAcknowledged = false
    }

    struct AppOnDevice: Hashable {
        var device: DeviceID
        var topic: TopicID
    }

    let pendingPerTopicCountMax: Int
    let promises: EnginePromises
    var now: Int64
    var waiting: [DeviceID: [Waiting]] = [:]
    var registrations: [AppOnDevice: Registration] = [:]
    var refused: [DeviceID: Set<TopicID>] = [:]
    var streams: [DeviceID: Stream] = [:]
    var channels: [ChannelID: Channel] = [:]
    var lastOrdinal = 0
    var counts = AdminAPI.Counts()
    /// The number of notifications that were accepted before the store was opened.
    var acceptedBefore = 0
    /// The number of notifications that were pending when the store was opened.
    var pendingAtStart = 0
    /// All notifications that were sent to each device.
    var delivered: [DeviceID: [String: Delivered]] = [:]
    /// The devices with an unacknowledged copy of each now-or-never broadcast.
    var copies: [String: Set<DeviceID>] = [:]

    /// Whether engines may give different answers to the last commands.
    var hasUnpromisedAnswer = false
    /// The notifications that were written for each device since its bounds were applied last.
    var writtenCounts: [DeviceID: Int] = [:]

    init(pendingPerTopicCountMax: Int, now: Int64, promises: EnginePromises) {
        self.pendingPerTopicCountMax = pendingPerTopicCountMax
        self.promises = promises
        self.now = now
        for outcome in DeviceAPI.Outcome.allCases { counts.outcomes[outcome.rawValue] = 0 }
    }

    // MARK: Notifications

    mutating func accept(_ notification: Notification) -> Acceptance {
        let token = notification.address
        let app = AppOnDevice(device: token.device, topic: token.topic)
        let registration = registrations[app] ?? Registration()
        let isExpired = notification.isExpired(now: Timestamp(unixMilliseconds: now))
        if isChecked(token.device, needsStorage: !isExpired),
            let refusal = registration.refusal(of: token.generation, now: now)
        {
            return refusal
        }
        counts.accepted += 1
        if refused[token.device, default: []].contains(token.topic) {
            counts.dropped += 1
        } else if isExpired {
            counts.expired += 1
        } else {
            store(notification, at: app)
        }
        return .accepted
    }

    /// Returns whether the registration of a notification is checked.
    private mutating func isChecked(_ device: DeviceID, needsStorage: Bool) -> Bool {
        guard !needsStorage, streams[device] == nil else { return true }
        hasUnpromisedAnswer = true
        return promises.checksUnwritten
    }

    private mutating func store(_ notification: Notification, at app: AppOnDevice) {
        let collapseID = notification.collapseID.map { String(decoding: $0, as: UTF8.self) }
        if let collapseID, let older = first(at: app, where: { $0.collapseID == collapseID }) {
            remove(older, from: app.device, leavesWindow: promises.replacementsLeaveWindow)
            counts.collapsed += 1
        }
        // Notifications in flight to the connected device neither count nor are dropped.
        let inFlight = streams[app.device]?.unacknowledged ?? []
        let here = waiting[app.device, default: []].filter {
            $0.token.topic == app.topic && !inFlight.contains($0.text)
        }
        if promises.rowsUntilBound == 1, streams[app.device] == nil, here.count >= pendingPerTopicCountMax {
            if let expired = here.first(where: { $0.hasExpiration && $0.expiresMilliseconds < now }) {
                remove(expired.text, from: app.device)
                counts.expired += 1
            } else {
                remove(here[0].text, from: app.device)
                counts.dropped += 1
            }
        }
        let latest = now + Limits.retentionSecondsMax * 1000
        let text = String(decoding: notification.payload, as: UTF8.self)
        lastOrdinal += 1
        waiting[app.device, default: []].append(
            Waiting(
                ordinal: lastOrdinal, text: text, token: notification.address, collapseID: collapseID,
                hasExpiration: notification.expiration != nil,
                expiresMilliseconds: min(latest, notification.expiration?.unixMilliseconds ?? latest)))
        counts.pending += 1
        noteWritten(app.device)
        offer(text, to: app.device)
    }

    /// Applies the bounds to a disconnected device after a number of writes.
    private mutating func noteWritten(_ device: DeviceID) {
        guard promises.rowsUntilBound > 1 else { return }
        writtenCounts[device, default: 0] += 1
        guard writtenCounts[device] == promises.rowsUntilBound else { return }
        writtenCounts[device] = nil
        guard streams[device] == nil else { return }
        for topic in Set(waiting[device, default: []].map(\.token.topic)) {
            let here = waiting[device, default: []].filter {
                $0.token.topic == topic && $0.expiresMilliseconds >= now
            }
            for oldest in here.dropLast(pendingPerTopicCountMax) { remove(oldest.text, from: device) }
        }
    }

    /// Sends a newly stored text immediately, if the window has capacity and nothing waits before it.
    mutating func offer(_ text: String, to device: DeviceID) {
        guard streams[device]?.hasBacklog == false, hasRoom(device) else {
            streams[device]?.hasBacklog = true
            return
        }
        streams[device]?.sent.insert(text)
        streams[device]?.unacknowledged.append(text)
        streams[device]?.outgoing.append(text)
    }

    /// Records that a text is sent to a device.
    mutating func noteSent(_ text: String, to device: DeviceID) {
        delivered[device, default: [:]][text, default: Delivered()].isAcknowledged = false
    }

    /// Models a now-or-never notification, alone in its batch; returns whether it is delivered.
    mutating func acceptNow(_ token: DeviceTokenContents, _ text: String) -> (Acceptance, isDelivered: Bool) {
        let registration = registrations[AppOnDevice(device: token.device, topic: token.topic)] ?? Registration()
        if isChecked(token.device, needsStorage: false),
            let refusal = registration.refusal(of: token.generation, now: now)
        {
            return (refusal, false)
        }
        counts.accepted += 1
        guard !refused[token.device, default: []].contains(token.topic) else {
            counts.dropped += 1
            return (.accepted, false)
        }
        let hasRoom = hasRoom(token.device)
        if hasRoom {
            streams[token.device]?.unacknowledged.append(text)
            streams[token.device]?.nowOrNever.insert(text)
            noteSent(text, to: token.device)
            counts.pending += 1
        } else {
            counts.expired += 1
        }
        return (.accepted, hasRoom)
    }

    mutating func acknowledge(_ device: DeviceID, _ text: String?, _ outcome: DeviceAPI.Outcome) {
        // An acknowledgement of a number that was not sent to this device counts as a glitch.
        guard let text, var sent = delivered[device]?[text] else { return counts.glitches += 1 }
        let isSettled = settle(text, device, sent)
        let isFirstTime = sent.outcomes.insert(outcome).inserted
        sent.isAcknowledged = true
        delivered[device]?[text] = sent
        if isFirstTime { counts.outcomes[outcome.rawValue, default: 0] += 1 }
        if !isFirstTime, !isSettled { counts.glitches += 1 }
    }

    /// Completes a notification that waits for an acknowledgement; returns false when none waits.
    private mutating func settle(_ text: String, _ device: DeviceID, _ sent: Delivered) -> Bool {
        if waiting[device, default: []].contains(where: { $0.text == text }) {
            remove(text, from: device)
            counts.acknowledged += 1
            return true
        }
        guard !sent.isAcknowledged else { return false }
        if let never = streams[device]?.nowOrNever.remove(text) {
            remove(never, from: device)
            counts.acknowledged += 1
            return true
        }
        if streams[device]?.copies.remove(text) != nil {
            streams[device]?.forget(text)
            if copies.removeValue(forKey: text) != nil {
                counts.acknowledged += 1
                counts.pending -= 1
            }
            return true
        }
        streams[device]?.forget(text)
        return settleBroadcast(text, device)
    }

    // MARK: Devices

    mutating func register(
        _ device: DeviceID, _ topic: TopicID, in environment: Environment = .production
    ) -> DeviceTokenContents {
        let app = AppOnDevice(device: device, topic: topic)
        if registrations[app]?.environment != environment { end(app, asExpired: false) }
        var registration = registrations[app] ?? Registration()
        if !registration.isLive {
            registration.generation += 1
            registration.isLive = true
            counts.registrations += 1
        }
        registration.environment = environment
        registrations[app] = registration
        return DeviceTokenContents(device: device, topic: topic, generation: registration.generation)
    }

    mutating func unregister(_ device: DeviceID, _ topic: TopicID) {
        end(AppOnDevice(device: device, topic: topic), asExpired: false)
    }

    mutating func expire(_ device: DeviceID) {
        for app in registrations.keys where app.device == device { end(app, asExpired: true) }
    }

    private mutating func end(_ app: AppOnDevice, asExpired: Bool) {
        guard registrations[app]?.isLive == true else { return }
        registrations[app]?.isLive = false
        registrations[app]?.endedMilliseconds = now
        registrations[app]?.hasExpired = asExpired
        counts.registrations -= 1
        counts.unregistered += removeAll(at: app)
        for (id, channel) in channels where channel.topic == app.topic { unsubscribe(app.device, from: id) }
    }

    mutating func setFilter(_ device: DeviceID, _ topics: Set<TopicID>) {
        for topic in topics.union(refused[device, default: []]) { skipBroadcasts(of: topic, device) }
        refused[device] = topics
        for topic in topics { counts.dropped += removeAll(at: AppOnDevice(device: device, topic: topic)) }
    }

    mutating func attach(_ device: DeviceID, _ address: ReplyAddress) {
        detach(device)
        streams[device] = Stream(address: address)
    }

    mutating func detach(_ device: DeviceID) {
        guard let stream = streams.removeValue(forKey: device) else { return }
        var lost = stream.nowOrNever.count
        for text in stream.copies where copies[text]?.remove(device) != nil && copies[text]?.isEmpty == true {
            copies[text] = nil
            lost += 1
        }
        counts.expired += lost
        counts.pending -= lost
    }

    mutating func closeStreams() { for device in streams.keys { detach(device) } }

    /// Models a restart: closes all streams and resets the counters that start at zero.
    mutating func reopen() {
        closeStreams()
        let before = counts
        acceptedBefore += counts.accepted
        self.counts = StoreModel(pendingPerTopicCountMax: 1, now: 0, promises: promises).counts
        writtenCounts = [:]
        (counts.apps, counts.devices) = (before.apps, before.devices)
        (counts.registrations, counts.pending) = (before.registrations, before.pending)
        pendingAtStart = before.pending
    }

    // MARK: Delivery

    /// Returns the deliveries to each stream at the end of a batch.
    mutating func deliver() -> [ReplyAddress: [String]] {
        var deliveries: [ReplyAddress: [String]] = [:]
        counts.devicesConnected = streams.count
        for (device, var stream) in streams {
            if !stream.outgoing.isEmpty { deliveries[stream.address] = stream.outgoing }
            stream.outgoing = []
            stream.hasBacklog = false
            for next in queue(of: device) where !stream.sent.contains(next.text) {
                guard stream.unacknowledged.count < Limits.unacknowledgedCountMax else {
                    stream.hasBacklog = true
                    break
                }
                stream.sent.insert(next.text)
                guard now <= next.expiresMilliseconds else { continue }
                stream.unacknowledged.append(next.text)
                deliveries[stream.address, default: []].append(next.text)
                if let index = stream.delayed.firstIndex(where: { $0.text == next.text }) {
                    stream.delayed.remove(at: index)
                    stream.copies.insert(next.text)
                }
            }
            streams[device] = stream
            for text in deliveries[stream.address] ?? [] { noteSent(text, to: device) }
        }
        return deliveries
    }

    /// Returns the device's waiting notifications and broadcasts, in the order of their delivery.
    private func queue(of device: DeviceID) -> [(ordinal: Int, text: String, expiresMilliseconds: Int64)] {
        typealias Entry = (ordinal: Int, text: String, expiresMilliseconds: Int64)
        let own: [Entry] = waiting[device, default: []].map { ($0.ordinal, $0.text, $0.expiresMilliseconds) }
        let broadcasts: [Entry] = waitingBroadcasts(for: device) + delayedBroadcasts(for: device)
        guard promises.ordersWaitingBroadcasts else {
            return own.sorted { $0.ordinal < $1.ordinal } + broadcasts.sorted { $0.ordinal < $1.ordinal }
        }
        return (own + broadcasts).sorted { $0.ordinal < $1.ordinal }
    }

    func hasRoom(_ device: DeviceID) -> Bool {
        streams[device].map { $0.unacknowledged.count < Limits.unacknowledgedCountMax } ?? false
    }

    // MARK: Rows

    private func first(at app: AppOnDevice, where matches: (Waiting) -> Bool) -> String? {
        waiting[app.device, default: []].first { $0.token.topic == app.topic && matches($0) }?.text
    }

    private mutating func remove(_ text: String, from device: DeviceID, leavesWindow: Bool = true) {
        waiting[device]?.removeAll { $0.text == text }
        streams[device]?.forget(text, leavesWindow: leavesWindow)
        counts.pending -= 1
    }

    private mutating func removeAll(at app: AppOnDevice) -> Int {
        let texts = waiting[app.device, default: []].filter { $0.token.topic == app.topic }.map(\.text)
        for text in texts { remove(text, from: app.device) }
        return texts.count
    }
}
