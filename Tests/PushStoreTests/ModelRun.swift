// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushSQLite
@testable import PushStore
import TestSupport
import Testing

/// A random sequence of operations that is applied to the store and to the model.
struct ModelRun {
    let store: TestStore
    let devices: [TestDevice]
    let topics: [(name: TopicName, id: TopicID)]
    var model: StoreModel
    var random: SeededGenerator
    var tokens: [DeviceTokenContents] = []
    var textBySequence: [Int64: String] = [:]
    var channels: [TestChannel] = []
    /// Whether enough notifications wait to fill the windows.
    private let isCrowded: Bool
    private var nextText = 0
    private var nextChannel: UInt64 = 0

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        isCrowded = seed % 3 == 0
        let countMax = isCrowded ? 1000 : Int.random(in: 1...60, using: &random)
        let (recentMax, cardMax) = seed % 2 == 0 ? (Int.random(in: 0...8, using: &random), 1) : (.max, .max)
        let store = try TestStore {
            $0.pendingPerTopicCountMax = countMax
            // The bounds are so small that most waiting notifications are archived, and device records are evicted.
            ($0.recentCountMax, $0.deviceQueueCountMax) = (recentMax, cardMax)
            // The model remembers every notification that was sent.
            $0.deliveryHistoryCountMax = 100_000
        }
        self.store = store
        model = StoreModel(pendingPerTopicCountMax: countMax, now: store.clock.now)
        devices = try (1...2).map { try store.enrol($0) }
        let names: [TopicName] = ["a", "b"]
        for name in names { try store.addBroadcastApp(name) }
        var topics: [(name: TopicName, id: TopicID)] = []
        for name in names {
            for device in devices {
                let token = try store.register(device, name)
                topics.append((name, token.topic))
                _ = model.register(device.id, token.topic)
                tokens.append(token)
            }
        }
        self.topics = [topics[0], topics[devices.count]]
        (model.counts.apps, model.counts.devices) = (names.count, devices.count)
        _ = try store.run((0..<3).map { _ in nextCreation(store.address()) })
        if isCrowded { try subscribeAll() }
    }

    private mutating func subscribeAll() throws {
        for device in devices {
            for channel in channels {
                try store.subscribe(device, to: channel, name(of: channel))
                model.subscribe(device.id, to: channel.id)
            }
        }
    }

    /// Executes a step; returns the difference between the store and the model, or nil.
    mutating func step() throws -> String? {
        switch Int.random(in: 0..<20, using: &random) {
        case 0 where !isCrowded:
            try store.reopen()
            model.reopen()
        case 1...2:
            let later = Int64([1, 999, 1000, 30_000, 3_000_000_000].randomElement(using: &random) ?? 0)
            store.clock.now += later
            model.now += later
        case 3: return try liveNowOrNever()
        case 4: return try liveBroadcastNow()
        case 5...7: return try liveQuickly()
        default: return try liveBatch()
        }
        return try difference(delivered: [:], expected: model.deliver())
    }

    /// Closes the store and checks its file with SQLite; returns the results.
    mutating func end() throws -> [String] {
        store.store.stop()
        let connection = try Connection(path: store.path, durability: .full, exclusive: true)
        let check = try connection.prepare("PRAGMA integrity_check")
        var lines: [String] = []
        while try check.step() { lines.append(check.string(0)) }
        let count = try connection.prepare(
            "SELECT (SELECT count(*) FROM pending) + (SELECT count(*) FROM broadcasts)")
        _ = try count.step()
        model.closeStreams()
        try #require(count.int64(0) == Int64(model.counts.pending))
        return lines
    }

    // MARK: Batches

    private mutating func liveBatch() throws -> String? {
        var commands: [StoreCommand] = []
        var expected: [(ReplyAddress, Acceptance)] = []
        for device in devices where isCrowded && model.streams[device.id] == nil {
            let stream = store.address()
            model.attach(device.id, stream)
            commands.append(.attach(device.credential, stream: stream))
        }
        for _ in 0..<Int.random(in: 1...30, using: &random) {
            let answer = store.address()
            let (command, acceptance) = nextCommand(answer)
            commands.append(command)
            if let acceptance { expected.append((answer, acceptance)) }
        }
        let deliveries = model.deliver()
        let replies = try store.run(commands)
        for (answer, acceptance) in expected where try replies.acceptance(at: answer) != acceptance {
            return "at \(answer): \(replies), but expected \(acceptance)"
        }
        for case .performed(.success(.registered(let token)), _) in replies { tokens.append(token) }
        return try difference(delivered: texts(in: replies), expected: deliveries)
    }

    /// Sends notifications and acknowledges some immediately, so that the store need not write them.
    private mutating func liveQuickly() throws -> String? {
        var commands: [StoreCommand] = []
        var expected: [(ReplyAddress, Acceptance)] = []
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            let (answer, notification) = (store.address(), nextNotification())
            commands.append(.accept(notification, answer: answer))
            expected.append((answer, model.accept(notification)))
        }
        let deliveries = model.deliver()
        store.store.submit(commands)
        let count = deliveries.values.reduce(0) { $0 + $1.count }
        var replies = try store.collectors[0].take("\(count) deliveries") { replies in
            replies.deliveredCount >= count
        }
        let problem = try difference(delivered: texts(in: replies), expected: deliveries, isCounted: false)
        if let problem { return problem }
        var acknowledgements: [StoreCommand] = []
        for device in devices where Bool.random(using: &random) {
            let list = (1...Int.random(in: 1...4, using: &random)).map { _ in nextAcknowledgement(of: device) }
            acknowledgements.append(.acknowledge(list, by: device.id))
        }
        let later = model.deliver()
        let rest = try store.run(acknowledgements)
        replies += rest
        for (answer, acceptance) in expected where try replies.acceptance(at: answer) != acceptance {
            return "quickly, at \(answer): \(replies), but expected \(acceptance)"
        }
        return try difference(delivered: texts(in: rest), expected: later)
    }

    private mutating func nextCommand(_ answer: ReplyAddress) -> (StoreCommand, Acceptance?) {
        switch Int.random(in: (isCrowded ? 9 : 0)..<100, using: &random) {
        case 0..<10: return (nextOfDevice(answer), nil)
        case 10..<25: return (.perform(nextAcknowledgement(nextDevice()), answer: answer), nil)
        case 25..<35: return (nextOfChannel(answer), nil)
        case 35..<45:
            let broadcast = nextBroadcast()
            return (.publish(broadcast, answer: answer), model.publish(broadcast))
        default:
            let notification = nextNotification()
            return (.accept(notification, answer: answer), model.accept(notification))
        }
    }

    /// Returns a random command about a device's stream or its registrations.
    private mutating func nextOfDevice(_ answer: ReplyAddress) -> StoreCommand {
        let (device, topic) = (nextDevice(), topics.randomElement(using: &random) ?? topics[0])
        switch Int.random(in: 0..<10, using: &random) {
        case 0...1:
            model.attach(device.id, answer)
            return .attach(device.credential, stream: answer)
        case 2:
            let stream = model.streams[device.id]?.address ?? answer
            model.detach(device.id)
            return .detach(stream: stream)
        case 3:
            model.unregister(device.id, topic.id)
            return .perform(.device(.unregister(topic: topic.name), by: device.credential), answer: answer)
        case 4...7:
            let environment = Int.random(in: 0..<8, using: &random) == 0 ? Environment.development : .production
            _ = model.register(device.id, topic.id, in: environment)
            return .perform(
                .device(.register(topic: topic.name, environment: environment), by: device.credential), answer: answer)
        case 8 where Int.random(in: 0..<3, using: &random) == 0:
            model.expire(device.id)
            return .perform(.administer(device.id, .expire), answer: answer)
        default:
            let refused = Bool.random(using: &random) ? [topic] : []
            model.setFilter(device.id, Set(refused.map(\.id)))
            let request = StoreRequest.device(.setFilter(refusedTopics: refused.map(\.name)), by: device.credential)
            return .perform(request, answer: answer)
        }
    }

    private mutating func nextDevice() -> TestDevice { devices.randomElement(using: &random) ?? devices[0] }

    private mutating func nextAcknowledgement(_ device: TestDevice) -> StoreRequest {
        let acknowledgements = (0..<Int.random(in: 0...(isCrowded ? 3 : 12), using: &random)).map { _ in
            nextAcknowledgement(of: device)
        }
        return .device(.acknowledge(acknowledgements), by: device.credential)
    }

    private mutating func nextAcknowledgement(of device: TestDevice) -> DeviceAPI.Acknowledgement {
        let sequences = textBySequence.keys.sorted()
        // Mostly choose a recent number, sometimes one that was never assigned.
        let known = Int.random(in: 0..<10, using: &random) > 0 ? sequences.suffix(80) : []
        let broadcasts = sequences.filter { sequence in
            model.channels.values.contains { $0.stored?.text == textBySequence[sequence] }
        }
        let chosen = Int.random(in: 0..<4, using: &random) > 0 ? broadcasts : Array(known)
        let sequence = chosen.randomElement(using: &random) ?? Int64.random(in: -9...0)
        let outcome = DeviceAPI.Outcome.allCases.randomElement(using: &random) ?? .shown
        model.acknowledge(device.id, textBySequence[sequence], outcome)
        return DeviceAPI.Acknowledgement(id: sequence, outcome: outcome)
    }

    private mutating func nextNotification() -> Notification {
        nextText += 1
        let expirations: [Int64?] = [nil, nil, nil, 1, model.now / 1000, model.now / 1000 + 30]
        return .to(
            nextToken(), "\(nextText)", expiration: expirations.randomElement(using: &random) ?? nil,
            collapseID: isCrowded ? nil : [nil, nil, nil, "x", "y"].randomElement(using: &random) ?? nil,
            accepted: model.now)
    }

    /// Returns a recent token, which is mostly live and sometimes ended.
    private mutating func nextToken() -> DeviceTokenContents {
        tokens.suffix(6).randomElement(using: &random) ?? tokens[0]
    }

    private mutating func liveNowOrNever() throws -> String? {
        nextText += 1
        let notification = Notification.to(nextToken(), "\(nextText)", expiration: 0, accepted: model.now)
        let (expected, isDelivered) = model.acceptNow(notification.address, "\(nextText)")
        var deliveries = model.deliver()
        if isDelivered, let stream = model.streams[notification.address.device] {
            deliveries[stream.address, default: []].append("\(nextText)")
        }
        let (acceptances, replies) = try store.accept([notification])
        guard acceptances == [expected] else { return "now or never: \(acceptances), expected \(expected)" }
        return try difference(delivered: texts(in: replies), expected: deliveries)
    }

    // MARK: Channels

    /// Returns a random command of a device or a provider about channels.
    private mutating func nextOfChannel(_ answer: ReplyAddress) -> StoreCommand {
        let (device, channel) = (nextDevice(), channels.suffix(4).randomElement(using: &random) ?? channels[0])
        let topic = name(of: channel)
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return nextCreation(answer)
        case 1:
            model.remove(channel.id)
            let request = StoreRequest.control(.removeChannel(channel.id, topic: topic, environment: .production))
            return .perform(request, answer: answer)
        case 2...3:
            model.unsubscribe(device.id, from: channel.id)
            let request = StoreRequest.device(.unsubscribe(topic: topic, channel: channel.id), by: device.credential)
            return .perform(request, answer: answer)
        default:
            model.subscribe(device.id, to: channel.id)
            let request = StoreRequest.device(.subscribe(topic: topic, channel: channel.id), by: device.credential)
            return .perform(request, answer: answer)
        }
    }

    private mutating func nextCreation(_ answer: ReplyAddress) -> StoreCommand {
        nextChannel += 1
        let topic = topics.randomElement(using: &random) ?? topics[0]
        let policy = nextChannel % 4 == 0 ? MessageStoragePolicy.noMessageStored : .mostRecentMessageStored
        let channel = TestChannel(id: ChannelID(high: nextChannel << 60, low: nextChannel), topic: topic.id)
        channels.append(channel)
        model.create(channel.id, topic.id, policy)
        let request = ControlRequest.createChannel(
            channel.id, topic: topic.name, environment: .production, policy: policy)
        return .perform(.control(request), answer: answer)
    }

    private mutating func nextBroadcast() -> Broadcast {
        nextText += 1
        let channel = channels.suffix(4).randomElement(using: &random) ?? channels[0]
        let expirations = [1, model.now / 1000, model.now / 1000 + 30, model.now / 1000 + 90_000]
        return .to(channel, "\(nextText)", expiration: expirations.randomElement(using: &random) ?? 1)
    }

    private mutating func liveBroadcastNow() throws -> String? {
        nextText += 1
        let channel = channels.suffix(4).randomElement(using: &random) ?? channels[0]
        let (expected, listeners) = model.publishNow("\(nextText)", to: channel.id)
        var deliveries = model.deliver()
        for device in listeners {
            guard let stream = model.streams[device] else { continue }
            deliveries[stream.address, default: []].append("\(nextText)")
        }
        let (acceptances, replies) = try store.publish([.to(channel, "\(nextText)", expiration: 0)])
        guard acceptances == [expected] else { return "broadcast now: \(acceptances), expected \(expected)" }
        return try difference(delivered: texts(in: replies), expected: deliveries)
    }

    private func name(of channel: TestChannel) -> TopicName {
        topics.first { $0.id == channel.topic }?.name ?? topics[0].name
    }

    // MARK: Comparison

    private mutating func texts(in replies: [StoreReply]) -> [ReplyAddress: [String]] {
        var texts: [ReplyAddress: [String]] = [:]
        for case .deliver(let notifications, let stream) in replies {
            for pending in notifications {
                texts[stream, default: []].append(pending.text)
                textBySequence[pending.sequence] = pending.text
            }
        }
        return texts
    }

    private func difference(
        delivered: [ReplyAddress: [String]], expected: [ReplyAddress: [String]], isCounted: Bool = true
    ) throws -> String? {
        if delivered != expected { return "delivered \(delivered), expected \(expected)" }
        guard isCounted else { return nil }
        let counts = try store.counts()
        let (found, modelled) = ("\(sorted: counts)", "\(sorted: model.counts)")
        guard found == modelled else { return "counts \(found), expected \(modelled)" }
        let gone = counts.acknowledged + counts.collapsed + counts.expired + counts.dropped + counts.unregistered
        guard model.pendingAtStart + counts.accepted == counts.pending + gone else {
            return "the counts do not add up: \(found), and \(model.pendingAtStart) were pending at the start"
        }
        for topic in topics {
            let found = try store.channels(topic.name).map { "\($0.channelID) \($0.subscriptionCount)" }
            let modelled = channels.compactMap { channel in
                model.channels[channel.id].flatMap { $0.topic == topic.id ? $0.subscribers.count : nil }
                    .map { "\(channel.id.text) \($0)" }
            }
            if found != modelled { return "channels \(found), expected \(modelled)" }
        }
        return nil
    }
}

extension [StoreReply] {
    /// The number of notifications that were delivered to all streams.
    fileprivate var deliveredCount: Int {
        reduce(0) { count, reply in
            if case .deliver(let notifications, _) = reply { count + notifications.count } else { count }
        }
    }
}

extension String.StringInterpolation {
    /// Appends counts as one line, always in the same order.
    fileprivate mutating func appendInterpolation(sorted counts: AdminAPI.Counts) {
        let outcomes = counts.outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        appendInterpolation(
            """
            apps \(counts.apps) devices \(counts.devices) connected \(counts.devicesConnected) \
            registrations \(counts.registrations) pending \(counts.pending) accepted \(counts.accepted) \
            acknowledged \(counts.acknowledged) collapsed \(counts.collapsed) expired \(counts.expired) \
            dropped \(counts.dropped) unregistered \(counts.unregistered) \(outcomes) glitches \(counts.glitches)
            """)
    }
}
