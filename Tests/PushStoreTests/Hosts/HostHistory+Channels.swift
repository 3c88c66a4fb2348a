// SPDX-License-Identifier: Apache-2.0

import PushCore
@testable import PushStore
import TestSupport

/// The channels of a history, and what is known about their subscribers.
struct HostHistoryChannels {
    private struct Subscription: Hashable {
        var device: TestDevice
        var channel: Int
    }

    private struct Published {
        var channel: Int
        var answer: ReplyAddress
        /// The place among all publications and subscriptions.
        var time: Int
    }

    private struct Request {
        var subscription: Subscription
        var begins: Bool
    }

    private struct Place: Hashable {
        var stream: ReplyAddress
        var channel: ChannelID?
    }

    /// A channel that stores nothing, and one that stores the newest broadcast.
    private(set) var all: [TestChannel] = []
    private var published: [String: Published] = [:]
    private var requests: [ReplyAddress: Request] = [:]
    /// The subscriptions that were answered and for whose end no request was sent, with the times of the answers.
    private var begun: [Subscription: Int] = [:]
    /// The subscriptions whose end was answered, after which no request to subscribe was sent.
    private var ended: Set<Subscription> = []
    private var lastSequence: [Place: Int64] = [:]
    private var newestStored: (sequence: Int64, text: String)?
    private var time = 0

    var answers: [ReplyAddress] { published.values.map(\.answer) }
    /// Whether the second channel stores a broadcast.
    private(set) var isAnyStored = false

    mutating func add(_ channels: [TestChannel], subscribers: [TestDevice]) {
        all = channels
        for device in subscribers {
            for channel in all.indices { begun[Subscription(device: device, channel: channel)] = 0 }
        }
    }

    /// Records a publication; returns the broadcast.
    mutating func publish(in channel: Int, answer: ReplyAddress) -> Broadcast {
        time += 1
        let text = "broadcast \(published.count)"
        published[text] = Published(channel: channel, answer: answer, time: time)
        if channel == 1 { isAnyStored = true }
        return channel == 0 ? .to(all[0], text, expiration: 0) : .to(all[1], text)
    }

    /// Records a request to begin or to end a subscription; returns whether it begins.
    mutating func change(_ device: TestDevice, _ channel: Int, answer: ReplyAddress) -> Bool? {
        let subscription = Subscription(device: device, channel: channel)
        guard !requests.values.contains(where: { $0.subscription == subscription }) else { return nil }
        let begins = begun[subscription] == nil
        begun[subscription] = nil
        ended.remove(subscription)
        requests[answer] = Request(subscription: subscription, begins: begins)
        return begins
    }

    mutating func noteAnswer(_ answer: ReplyAddress) {
        guard let request = requests.removeValue(forKey: answer) else { return }
        time += 1
        if request.begins { begun[request.subscription] = time } else { ended.insert(request.subscription) }
    }

    /// Checks a delivered broadcast; returns the problem, or nil.
    mutating func check(_ pending: PendingNotification, _ stream: HostHistory.Stream) -> String? {
        guard let published = published[pending.text] else { return "\(pending.text) was not published" }
        let place = Place(stream: stream.address, channel: pending.notification.channel)
        guard pending.sequence > lastSequence[place, default: 0] else { return "\(pending.text) is out of order" }
        lastSequence[place] = pending.sequence
        if stream.acknowledged.contains(pending.text) { return "\(pending.text) came back" }
        if ended.contains(Subscription(device: stream.device, channel: published.channel)) {
            return "\(pending.text) came after its subscription ended"
        }
        if published.channel == 1, pending.sequence > newestStored?.sequence ?? 0 {
            newestStored = (pending.sequence, pending.text)
        }
        return nil
    }

    /// Returns the devices that must have the newest stored broadcast, and its text.
    func entitled() -> (devices: [TestDevice], text: String)? {
        guard let text = newestStored?.text, let published = published[text] else { return nil }
        return (begun.filter { $0.key.channel == 1 && $0.value < published.time }.map(\.key.device), text)
    }

    func hasOneAnswer(_ counts: [ReplyAddress: Int]) -> Bool { published.values.allSatisfy { counts[$0.answer] == 1 } }
}

extension HostHistory {
    private static let topic: TopicName = "live"

    /// Adds the channels, to which the devices subscribe.
    mutating func addChannels() throws {
        let store = loops.store
        try store.addBroadcastApp(Self.topic)
        var channels: [TestChannel] = []
        for (number, policy) in [MessageStoragePolicy.noMessageStored, .mostRecentMessageStored].enumerated() {
            let id = ChannelID(high: 1, low: UInt64(number) + 1)
            try store.succeed(
                .control(.createChannel(id, topic: Self.topic, environment: .production, policy: policy)))
            for device in devices {
                let token = try store.register(device, Self.topic)
                if channels.count == number { channels.append(TestChannel(id: id, topic: token.topic)) }
                try store.subscribe(device, to: channels[number], Self.topic)
            }
        }
        self.channels.add(channels, subscribers: devices)
    }

    mutating func publish(from loop: Int) {
        let answer = loops.address(loop)
        let broadcast = channels.publish(in: Int.random(in: 0..<2, using: &random), answer: answer)
        loops.submit(.publish(broadcast, answer: answer), on: loop)
    }

    /// Begins or ends a subscription.
    mutating func subscribe(on loop: Int) {
        let (channel, answer) = (Int.random(in: 0..<2, using: &random), loops.address(loop))
        let device = devices.randomElement(using: &random) ?? devices[0]
        guard let begins = channels.change(device, channel, answer: answer) else { return }
        let id = channels.all[channel].id
        let request: DeviceRequest =
            begins ? .subscribe(topic: Self.topic, channel: id) : .unsubscribe(topic: Self.topic, channel: id)
        loops.submit(.perform(.device(request, by: device.credential), answer: answer), on: loop)
    }

    /// Checks that the newest stored broadcast reached its subscribers; returns the problem, or nil.
    func checkBroadcasts(_ answerCounts: [ReplyAddress: Int], _ delivered: [TestDevice: Set<String>]) -> String? {
        guard channels.hasOneAnswer(answerCounts) else { return "a broadcast does not have exactly one answer" }
        guard let (devices, text) = channels.entitled() else { return nil }
        let missing = devices.first { delivered[$0]?.contains(text) != true }
        return missing.map { "\(text) is missing at \($0.id)" }
    }
}
