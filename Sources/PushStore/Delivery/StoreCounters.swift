// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore

/// Counters in memory, so that a count does not need to scan a large table.
struct StoreCounters {
    /// The counters, without connected devices and outcomes.
    private(set) var counts = AdminAPI.Counts()
    private var outcomes: [DeviceAPI.Outcome: Int] = [:]
    /// Whether an outcome was counted since the outcomes were last published.
    private var hasNewOutcomes = false
    private var pendingByTopic: TopicCounts
    private var registrationsByTopic: [TopicID: Int]
    private var subscriptionsByChannel: [ChannelNumber: Int]

    /// Starts with the counts of the database file.
    init(
        apps: Int, devices: Int, registrationsByTopic: [TopicID: Int], pendingByTopic: [TopicID: Int],
        subscriptionsByChannel: [ChannelNumber: Int]
    ) {
        self.subscriptionsByChannel = subscriptionsByChannel
        self.registrationsByTopic = registrationsByTopic
        self.pendingByTopic = TopicCounts(pendingByTopic)
        counts.apps = apps
        counts.devices = devices
        counts.registrations = registrationsByTopic.values.reduce(0, +)
        counts.pending = pendingByTopic.values.reduce(0, +)
    }

    /// Returns the counters for an administrator.
    func counts(devicesConnected: Int) -> AdminAPI.Counts {
        var counts = counts
        counts.devicesConnected = devicesConnected
        for outcome in DeviceAPI.Outcome.allCases { counts.outcomes[outcome.rawValue] = outcomes[outcome] ?? 0 }
        return counts
    }

    /// Writes the counters to the metrics.
    mutating func publish(to metrics: StoreMetrics) {
        metrics.set(.apps, to: counts.apps)
        metrics.set(.devices, to: counts.devices)
        metrics.set(.registrations, to: counts.registrations)
        metrics.set(.pending, to: counts.pending)
        metrics.set(.accepted, to: counts.accepted)
        metrics.set(.acknowledged, to: counts.acknowledged)
        metrics.set(.collapsed, to: counts.collapsed)
        metrics.set(.expired, to: counts.expired)
        metrics.set(.dropped, to: counts.dropped)
        metrics.set(.unregistered, to: counts.unregistered)
        metrics.set(.ignoredAcknowledgements, to: counts.glitches)
        guard hasNewOutcomes else { return }
        hasNewOutcomes = false
        metrics.setOutcomes(outcomes)
    }

    /// Returns the administrator's view of an app.
    func app(_ row: TopicTable.Row) -> AdminAPI.App {
        AdminAPI.App(
            row, registrationCount: registrationsByTopic[row.topic.id] ?? 0, pendingCount: pendingByTopic[row.topic.id])
    }

    /// Returns the administrator's view of a channel.
    func channel(_ channel: AdminAPI.Channel, _ number: ChannelNumber) -> AdminAPI.Channel {
        var channel = channel
        channel.subscriptionCount = subscriptionsByChannel[number] ?? 0
        return channel
    }

    mutating func addApps(_ change: Int) { counts.apps += change }

    mutating func addDevices(_ change: Int) { counts.devices += change }

    mutating func addRegistrations(_ change: Int, of topic: TopicID) {
        counts.registrations += change
        registrationsByTopic[topic, default: 0] += change
    }

    /// Removes the count of an app's registrations after all of them ended.
    mutating func endRegistrations(of topic: TopicID) {
        counts.registrations -= registrationsByTopic.removeValue(forKey: topic) ?? 0
    }

    mutating func addSubscriptions(_ change: Int, to channel: ChannelNumber) {
        subscriptionsByChannel[channel, default: 0] += change
    }

    /// Removes the count of a channel's subscriptions after the channel was removed.
    mutating func endSubscriptions(to channel: ChannelNumber) { subscriptionsByChannel[channel] = nil }

    mutating func addAccepted() { counts.accepted += 1 }

    mutating func addPending(of topic: TopicID) {
        counts.pending += 1
        pendingByTopic[topic] += 1
    }

    /// Counts the removal of a pending notification.
    mutating func removePending(of topic: TopicID, _ reason: RemovalReason) {
        counts.pending -= 1
        pendingByTopic[topic] -= 1
        addGone(reason)
    }

    /// Counts the removal of notifications that were never counted as pending.
    mutating func addGone(_ reason: RemovalReason, count: Int = 1) {
        switch reason {
        case .acknowledged: counts.acknowledged += count
        case .collapsed: counts.collapsed += count
        case .expired: counts.expired += count
        case .dropped: counts.dropped += count
        case .unregistered: counts.unregistered += count
        }
    }

    mutating func add(_ outcome: DeviceAPI.Outcome) {
        outcomes[outcome, default: 0] += 1
        hasNewOutcomes = true
    }

    mutating func addGlitches(_ count: Int) { counts.glitches += count }
}

/// A counter for each topic, initially 0.
///
/// Topic numbers start at 1, so an array index replaces hashing.
private struct TopicCounts {
    private var counts: [Int] = []

    init(_ known: [TopicID: Int]) {
        for (topic, count) in known { self[topic] = count }
    }

    subscript(topic: TopicID) -> Int {
        get { counts.indices.contains(Int(topic.rawValue)) ? counts[Int(topic.rawValue)] : 0 }
        set {
            let missing = Int(topic.rawValue) + 1 - counts.count
            if missing > 0 { counts += repeatElement(0, count: missing) }
            counts[Int(topic.rawValue)] = newValue
        }
    }
}

extension AdminAPI.App {
    /// Returns the administrator's view of an app.
    init(_ row: TopicTable.Row, registrationCount: Int, pendingCount: Int) {
        self.init(
            topic: row.topic.name, name: row.displayName, teamID: row.topic.teamID,
            registrationCount: registrationCount, pendingCount: pendingCount, checks: row.topic.checks,
            broadcasts: row.topic.allowsBroadcasts, webhook: row.topic.webhook.map(TraceAPI.Webhook.init))
    }
}

extension TraceAPI.Webhook {
    /// Returns the administrator's view of a webhook, without the secret.
    fileprivate init(_ webhook: Webhook) {
        self.init(url: webhook.url, failingSince: webhook.failingSince, problem: webhook.problem)
    }
}
