// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushSQLite
@testable import PushStore
import TestSupport
import Testing

/// A random sequence of operations that is applied to a store and to the model.
struct ModelRun {
    /// The part of the behavior on which the seeds concentrate.
    enum Emphasis {
        /// Enough notifications wait to fill the windows of streams.
        case windows
        /// The bounds of notifications that wait are small.
        case bounds
        /// Few notifications wait, so neither bounds nor windows matter.
        case order
    }

    /// Opens a store with settings.
    typealias Opening = (@escaping (inout StoreConfiguration) -> Void) throws -> any StreamTarget

    /// The time at which each run starts, not before that of PostgreSQL.
    static let startMilliseconds = max(
        TestStore.startMilliseconds, (Timestamp.now.unixMilliseconds / 1000 + 3600) * 1000)

    let store: any StreamTarget
    let devices: [TestDevice]
    let topics: [(name: TopicName, id: TopicID)]
    var model: StoreModel
    var random: SeededGenerator
    var tokens: [DeviceTokenContents] = []
    var textBySequence: [Int64: String] = [:]
    var channels: [TestChannel] = []
    var digest = ModelDigest()
    let emphasis: Emphasis
    /// Whether each command waits for the replies to the one before.
    let isStepwise: Bool
    private var isCrowded: Bool { emphasis == .windows }
    private var nextText = 0
    private var nextChannel: UInt64 = 0

    /// Opens a store whose commands are submitted in batches.
    init(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let isCrowded = seed % 3 == 0
        let countMax = isCrowded ? 1000 : Int.random(in: 1...60, using: &random)
        let (recentMax, cardMax) = seed % 2 == 0 ? (Int.random(in: 0...8, using: &random), 1) : (.max, .max)
        try self.init(random, isCrowded ? .windows : .bounds, countMax, isStepwise: false) { adjust in
            try TestStore {
                adjust(&$0)
                // The bounds are so small that most waiting notifications are archived, and device records are evicted.
                ($0.recentCountMax, $0.deviceQueueCountMax) = (recentMax, cardMax)
            }
        }
    }

    /// Opens a store of any engine whose commands are submitted one by one.
    init(seed: UInt64, _ emphasis: Emphasis, open: Opening) throws {
        var random = SeededGenerator(seed: seed)
        let countMax = emphasis == .bounds ? Int.random(in: 1...8, using: &random) : 1000
        try self.init(random, emphasis, countMax, isStepwise: true, open: open)
    }

    private init(
        _ random: SeededGenerator, _ emphasis: Emphasis, _ countMax: Int, isStepwise: Bool, open: Opening
    ) throws {
        (self.random, self.emphasis, self.isStepwise) = (random, emphasis, isStepwise)
        let store = try open {
            $0.pendingPerTopicCountMax = countMax
            // The model remembers every notification that was sent.
            $0.deliveryHistoryCountMax = 100_000
        }
        store.clock.now = Self.startMilliseconds
        self.store = store
        model = StoreModel(pendingPerTopicCountMax: countMax, now: store.clock.now, promises: store.promises)
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
        // Whether PostgreSQL has a row of what is acknowledged at once depends on time, and so does the bound.
        case 5...7 where !isStepwise || emphasis != .bounds: return try liveQuickly()
        default: return try isStepwise ? liveStepwise() : liveBatch(Int.random(in: 1...30, using: &random))
        }
        return try difference(delivered: [:], expected: model.deliver())
    }

    /// Closes the store; returns the problems of its data.
    mutating func end() throws -> [String] {
        model.closeStreams()
        return try store.close(pendingCount: model.counts.pending)
    }

    // MARK: Batches

    /// Executes several commands, each after the replies to the one before.
    private mutating func liveStepwise() throws -> String? {
        for device in devices where isCrowded && model.streams[device.id] == nil {
            if let problem = try execute([attachment(of: device)], [], isLast: false) { return problem }
        }
        let count = Int.random(in: 1...(emphasis == .order ? 8 : 20), using: &random)
        for number in 1...count {
            let answer = store.address()
            let (command, acceptance) = nextCommand(answer)
            let problem = try execute([command], acceptance.map { [(answer, $0)] } ?? [], isLast: number == count)
            if let problem { return "\(command): \(problem)" }
        }
        return nil
    }

    private mutating func addToDigest(_ replies: [StoreReply]) {
        if !model.hasUnpromisedAnswer { digest.add(answers: replies) }
        model.hasUnpromisedAnswer = false
    }

    private mutating func attachment(of device: TestDevice) -> StoreCommand {
        let stream = store.address()
        model.attach(device.id, stream)
        return .attach(device.credential, stream: stream)
    }

    private mutating func liveBatch(_ count: Int) throws -> String? {
        var commands: [StoreCommand] = []
        var expected: [(ReplyAddress, Acceptance)] = []
        for device in devices where isCrowded && model.streams[device.id] == nil {
            commands.append(attachment(of: device))
        }
        for _ in 0..<count {
            let answer = store.address()
            let (command, acceptance) = nextCommand(answer)
            commands.append(command)
            if let acceptance { expected.append((answer, acceptance)) }
        }
        return try execute(commands, expected, isLast: true)
    }

    private mutating func execute(
        _ commands: [StoreCommand], _ expected: [(ReplyAddress, Acceptance)], isLast: Bool
    ) throws -> String? {
        let deliveries = model.deliver()
        let replies = try store.run(commands)
        addToDigest(replies)
        for (answer, acceptance) in expected where try replies.acceptance(at: answer) != acceptance {
            return "at \(answer): \(replies), but expected \(acceptance)"
        }
        for case .performed(.success(.registered(let token)), _) in replies { tokens.append(token) }
        return try difference(delivered: texts(in: replies), expected: deliveries, isCounted: isLast)
    }

    /// Sends notifications and acknowledges some immediately, so that the store need not write them.
    private mutating func liveQuickly() throws -> String? {
        var commands: [StoreCommand] = []
        var expected: [(ReplyAddress, Acceptance)] = []
        for _ in 0..<(isStepwise ? 1 : Int.random(in: 1...8, using: &random)) {
            let (answer, notification) = (store.address(), nextNotification())
            commands.append(.accept(notification, answer: answer))
            expected.append((answer, model.accept(notification)))
        }
        let deliveries = model.deliver()
        let count = deliveries.values.reduce(0) { $0 + $1.count }
        var replies = try store.begin(commands, deliveryCount: count)
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
        addToDigest(replies)
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
            nextAcknowledgement(of: device, isElsewhere: device.credential.device == nil)
        }
        return .device(.acknowledge(acknowledgements), by: device.credential)
    }

    private mutating func nextAcknowledgement(
        of device: TestDevice, isElsewhere: Bool = false
    ) -> DeviceAPI.Acknowledgement {
        let sequences = acknowledgeableSequences(of: device, isElsewhere: isElsewhere)
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

    /// Returns the numbers of what was sent, in the order of acceptance, which is the same on all engines.
    private func acknowledgeableSequences(of device: TestDevice, isElsewhere: Bool) -> [Int64] {
        let stream = model.streams[device.id]
        // A single command must have the same effect on all engines, so what these do not promise is left out.
        let sent = textBySequence.filter { _, text in
            guard isStepwise else { return true }
            let isNowOrNever = stream?.nowOrNever.contains(text) == true || stream?.copies.contains(text) == true
            return model.delivered[device.id]?[text] != nil && !(isElsewhere && isNowOrNever)
        }
        return sent.sorted { (Int($0.value) ?? 0, $0.key) < (Int($1.value) ?? 0, $1.key) }.map(\.key)
    }

    private mutating func nextNotification() -> Notification {
        nextText += 1
        let expirations: [Int64?] = [nil, nil, nil, 1, model.now / 1000, model.now / 1000 + 30]
        return .to(
            nextToken(), "\(nextText)", expiration: expirations.randomElement(using: &random) ?? nil,
            collapseID: isCrowded ? nil : [nil, nil, nil, "x", "y"].randomElement(using: &random) ?? nil,
            accepted: model.now
        ).identified(UInt64(nextText))
    }

    /// Returns a recent token, which is mostly live and sometimes ended.
    private mutating func nextToken() -> DeviceTokenContents {
        tokens.suffix(6).randomElement(using: &random) ?? tokens[0]
    }

    private mutating func liveNowOrNever() throws -> String? {
        nextText += 1
        let notification = Notification.to(nextToken(), "\(nextText)", expiration: 0, accepted: model.now)
            .identified(UInt64(nextText))
        let (expected, isDelivered) = model.acceptNow(notification.address, "\(nextText)")
        var deliveries = model.deliver()
        if isDelivered, let stream = model.streams[notification.address.device] {
            deliveries[stream.address, default: []].append("\(nextText)")
        }
        let (acceptances, replies) = try store.accept([notification])
        addToDigest(replies)
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
        return broadcast(to: channel, expiration: expirations.randomElement(using: &random) ?? 1)
    }

    private func broadcast(to channel: TestChannel, expiration: Int64) -> Broadcast {
        var broadcast = Broadcast.to(channel, "\(nextText)", expiration: expiration, accepted: model.now)
        broadcast.uniqueID = .unique(UInt64(nextText))
        return broadcast
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
        let (acceptances, replies) = try store.publish([broadcast(to: channel, expiration: 0)])
        addToDigest(replies)
        guard acceptances == [expected] else { return "broadcast now: \(acceptances), expected \(expected)" }
        return try difference(delivered: texts(in: replies), expected: deliveries)
    }

    func name(of channel: TestChannel) -> TopicName {
        topics.first { $0.id == channel.topic }?.name ?? topics[0].name
    }
}
