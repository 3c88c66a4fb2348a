// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushStore

/// What the store promises, as plainly as it can be said: arrays in memory, one command after the other.
struct StoreModel {
    struct Waiting {
        /// Its place among everything that was ever stored.
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

        /// Why a generation is refused; nil for the one that is live.
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
        /// The last broadcast, if it is kept.
        var stored: (ordinal: Int, text: String, expiresMilliseconds: Int64)?
        /// For each subscriber the ordinal up to which it has nothing to do with what is stored.
        var subscribers: [DeviceID: Int] = [:]
    }

    struct Stream {
        var address: ReplyAddress
        /// Texts that were sent and are neither acknowledged nor gone, in order.
        var unacknowledged: [String] = []
        /// Those of them that were now or never, and for this device alone.
        var nowOrNever: Set<String> = []
        /// Everything that was sent, for what must not come twice.
        var sent: Set<String> = []
    }

    struct Place: Hashable {
        var device: DeviceID
        var topic: TopicID
    }

    let pendingPerTopicCountMax: Int
    var now: Int64
    var waiting: [DeviceID: [Waiting]] = [:]
    var registrations: [Place: Registration] = [:]
    var refused: [DeviceID: Set<TopicID>] = [:]
    var streams: [DeviceID: Stream] = [:]
    var channels: [ChannelID: Channel] = [:]
    var lastOrdinal = 0
    var counts = AdminAPI.Counts()

    init(pendingPerTopicCountMax: Int, now: Int64) {
        self.pendingPerTopicCountMax = pendingPerTopicCountMax
        self.now = now
        for outcome in DeviceAPI.Outcome.allCases { counts.outcomes[outcome.rawValue] = 0 }
    }

    // MARK: Notifications

    mutating func accept(_ notification: Notification) -> Acceptance {
        let token = notification.address
        let place = Place(device: token.device, topic: token.topic)
        let registration = registrations[place] ?? Registration()
        if let refusal = registration.refusal(of: token.generation, now: now) { return refusal }
        counts.accepted += 1
        if refused[token.device, default: []].contains(token.topic) {
            counts.dropped += 1
        } else if let expiration = notification.expirationUnixSeconds, expiration * 1000 < now, expiration != 0 {
            counts.expired += 1
        } else {
            store(notification, at: place)
        }
        return .accepted
    }

    private mutating func store(_ notification: Notification, at place: Place) {
        let collapseID = notification.collapseID.map { String(decoding: $0, as: UTF8.self) }
        if let collapseID, let older = first(at: place, where: { $0.collapseID == collapseID }) {
            remove(older, from: place.device)
            counts.collapsed += 1
        }
        let here = waiting[place.device, default: []].filter { $0.token.topic == place.topic }
        if here.count >= pendingPerTopicCountMax {
            if let expired = here.first(where: { $0.hasExpiration && $0.expiresMilliseconds < now }) {
                remove(expired.text, from: place.device)
                counts.expired += 1
            } else {
                remove(here[0].text, from: place.device)
                counts.dropped += 1
            }
        }
        let latest = now + Limits.retentionSecondsMax * 1000
        lastOrdinal += 1
        waiting[place.device, default: []].append(
            Waiting(
                ordinal: lastOrdinal, text: String(decoding: notification.payload, as: UTF8.self),
                token: notification.address,
                collapseID: collapseID, hasExpiration: notification.expirationUnixSeconds != nil,
                expiresMilliseconds: min(latest, notification.expirationUnixSeconds.map { $0 * 1000 } ?? latest)))
        counts.pending += 1
    }

    /// One that is now or never, alone in its batch; true when it is delivered.
    mutating func acceptNow(_ token: DeviceTokenContents, _ text: String) -> (Acceptance, isDelivered: Bool) {
        let registration = registrations[Place(device: token.device, topic: token.topic)] ?? Registration()
        if let refusal = registration.refusal(of: token.generation, now: now) { return (refusal, false) }
        counts.accepted += 1
        guard !refused[token.device, default: []].contains(token.topic) else {
            counts.dropped += 1
            return (.accepted, false)
        }
        let hasRoom = hasRoom(token.device)
        if hasRoom {
            streams[token.device]?.unacknowledged.append(text)
            streams[token.device]?.nowOrNever.insert(text)
            counts.pending += 1
        } else {
            counts.expired += 1
        }
        return (.accepted, hasRoom)
    }

    mutating func acknowledge(_ device: DeviceID, _ text: String?, _ outcome: DeviceAPI.Outcome) {
        // A number that no notification has says nothing.
        guard let text else { return }
        counts.outcomes[outcome.rawValue, default: 0] += 1
        guard waiting[device, default: []].contains(where: { $0.text == text }) else {
            if let never = streams[device]?.nowOrNever.remove(text) {
                counts.acknowledged += 1
                return remove(never, from: device)
            }
            if !isStoredBroadcast(text) { streams[device]?.unacknowledged.removeAll { $0 == text } }
            return settleBroadcast(text, device)
        }
        remove(text, from: device)
        counts.acknowledged += 1
    }

    // MARK: Devices

    mutating func register(
        _ device: DeviceID, _ topic: TopicID, in environment: Environment = .production
    ) -> DeviceTokenContents {
        let place = Place(device: device, topic: topic)
        if registrations[place]?.environment != environment { end(place, asExpired: false) }
        var registration = registrations[place] ?? Registration()
        if !registration.isLive {
            registration.generation += 1
            registration.isLive = true
            counts.registrations += 1
        }
        registration.environment = environment
        registrations[place] = registration
        return DeviceTokenContents(device: device, topic: topic, generation: registration.generation)
    }

    mutating func unregister(_ device: DeviceID, _ topic: TopicID) {
        end(Place(device: device, topic: topic), asExpired: false)
    }

    mutating func expire(_ device: DeviceID) {
        for place in registrations.keys where place.device == device { end(place, asExpired: true) }
    }

    private mutating func end(_ place: Place, asExpired: Bool) {
        guard registrations[place]?.isLive == true else { return }
        registrations[place]?.isLive = false
        registrations[place]?.endedMilliseconds = now
        registrations[place]?.hasExpired = asExpired
        counts.registrations -= 1
        counts.unregistered += removeAll(at: place)
        for (id, channel) in channels where channel.topic == place.topic { unsubscribe(place.device, from: id) }
    }

    mutating func setFilter(_ device: DeviceID, _ topics: Set<TopicID>) {
        for topic in topics.union(refused[device, default: []]) { skipBroadcasts(of: topic, device) }
        refused[device] = topics
        for topic in topics { counts.dropped += removeAll(at: Place(device: device, topic: topic)) }
    }

    mutating func attach(_ device: DeviceID, _ address: ReplyAddress) {
        detach(device)
        streams[device] = Stream(address: address)
    }

    mutating func detach(_ device: DeviceID) {
        let lost = streams.removeValue(forKey: device)?.nowOrNever.count ?? 0
        counts.expired += lost
        counts.pending -= lost
    }

    mutating func closeStreams() { for device in streams.keys { detach(device) } }

    /// A new start: streams are gone, and what counts since the start begins again.
    mutating func reopen() {
        closeStreams()
        let before = counts
        self.counts = StoreModel(pendingPerTopicCountMax: 1, now: 0).counts
        (counts.apps, counts.devices) = (before.apps, before.devices)
        (counts.registrations, counts.pending) = (before.registrations, before.pending)
    }

    // MARK: Delivery

    /// What each stream is given at the end of a batch.
    mutating func deliver() -> [ReplyAddress: [String]] {
        var deliveries: [ReplyAddress: [String]] = [:]
        counts.devicesConnected = streams.count
        for (device, var stream) in streams {
            for next in queue(of: device) where !stream.sent.contains(next.text) {
                guard stream.unacknowledged.count < Limits.unacknowledgedCountMax else { break }
                stream.sent.insert(next.text)
                guard now <= next.expiresMilliseconds else { continue }
                stream.unacknowledged.append(next.text)
                deliveries[stream.address, default: []].append(next.text)
            }
            streams[device] = stream
        }
        return deliveries
    }

    /// What waits for a device, its own and broadcasts, in the order in which it was stored.
    private func queue(of device: DeviceID) -> [(ordinal: Int, text: String, expiresMilliseconds: Int64)] {
        let own = waiting[device, default: []].map { ($0.ordinal, $0.text, $0.expiresMilliseconds) }
        let all: [(ordinal: Int, text: String, expiresMilliseconds: Int64)] = own + waitingBroadcasts(for: device)
        return all.sorted { $0.ordinal < $1.ordinal }
    }

    func hasRoom(_ device: DeviceID) -> Bool {
        streams[device].map { $0.unacknowledged.count < Limits.unacknowledgedCountMax } ?? false
    }

    // MARK: Rows

    private func first(at place: Place, where matches: (Waiting) -> Bool) -> String? {
        waiting[place.device, default: []].first { $0.token.topic == place.topic && matches($0) }?.text
    }

    private mutating func remove(_ text: String, from device: DeviceID) {
        waiting[device]?.removeAll { $0.text == text }
        streams[device]?.unacknowledged.removeAll { $0 == text }
        counts.pending -= 1
    }

    private mutating func removeAll(at place: Place) -> Int {
        let texts = waiting[place.device, default: []].filter { $0.token.topic == place.topic }.map(\.text)
        for text in texts { remove(text, from: place.device) }
        return texts.count
    }
}
