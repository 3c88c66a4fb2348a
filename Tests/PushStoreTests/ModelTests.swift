// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushSQLite
import PushStore
import TestSupport
import Testing

@Suite struct ModelTests {
    @Test(.tags(.slow), arguments: 0..<Patience.caseCount)
    func `random commands do what the model does`(seed: Int) throws {
        var run = try ModelRun(seed: UInt64(seed))
        for step in 0..<40 {
            let problem = try run.step()
            try #require(problem == nil, "seed \(seed), step \(step): \(problem ?? "")")
        }
        try #require(try run.end() == ["ok"], "seed \(seed)")
    }
}

/// One random history, lived by the store and by the model.
private struct ModelRun {
    private let store: TestStore
    private let devices: [TestDevice]
    private let topics: [(name: String, id: TopicID)]
    private var model: StoreModel
    private var random: SplitMix64
    private var tokens: [DeviceTokenContents] = []
    private var textBySequence: [Int64: String] = [:]
    private var nextText = 0

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        let countMax = Int.random(in: 1...60, using: &random)
        let store = try TestStore { $0.pendingPerTopicCountMax = countMax }
        self.store = store
        model = StoreModel(pendingPerTopicCountMax: countMax, now: store.clock.now)
        devices = try (1...2).map { try store.enrol($0) }
        let names = ["a", "b"]
        for name in names { try store.addApp(name) }
        var topics: [(name: String, id: TopicID)] = []
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
    }

    /// Lives one step; says what differs.
    mutating func step() throws -> String? {
        switch Int.random(in: 0..<20, using: &random) {
        case 0:
            try store.reopen()
            model.reopen()
        case 1...2:
            let later = Int64([1, 999, 1000, 30_000, 3_000_000_000].randomElement(using: &random) ?? 0)
            store.clock.now += later
            model.now += later
        case 3...4: return try liveNowOrNever()
        default: return try liveBatch()
        }
        return try difference(delivered: [:], expected: model.deliver())
    }

    /// Ends the store and lets SQLite check its file.
    func end() throws -> [String] {
        store.store.stop()
        let connection = try Connection(path: store.path, durability: .full, exclusive: true)
        let check = try connection.prepare("PRAGMA integrity_check")
        var lines: [String] = []
        while try check.step() { lines.append(check.string(0)) }
        let count = try connection.prepare("SELECT count(*) FROM pending")
        _ = try count.step()
        try #require(count.int64(0) == Int64(model.counts.pending))
        return lines
    }

    // MARK: Batches

    private mutating func liveBatch() throws -> String? {
        var commands: [StoreCommand] = []
        var expected: [(ReplyAddress, Acceptance)] = []
        for _ in 0..<Int.random(in: 1...30, using: &random) {
            let answer = store.address()
            let (command, acceptance) = nextCommand(answer)
            commands.append(command)
            if let acceptance { expected.append((answer, acceptance)) }
        }
        let deliveries = model.deliver()
        let replies = try store.run(commands)
        for (answer, acceptance) in expected where Self.acceptance(at: answer, in: replies) != acceptance {
            return "at \(answer): \(replies), but expected \(acceptance)"
        }
        for case .performed(.success(.registered(let token)), _) in replies { tokens.append(token) }
        return try difference(delivered: texts(in: replies), expected: deliveries)
    }

    private mutating func nextCommand(_ answer: ReplyAddress) -> (StoreCommand, Acceptance?) {
        let device = devices.randomElement(using: &random) ?? devices[0]
        let topic = topics.randomElement(using: &random) ?? topics[0]
        switch Int.random(in: 0..<40, using: &random) {
        case 0...1:
            model.attach(device.id, answer)
            return (.attach(secretHash: device.secretHash, stream: answer), nil)
        case 2:
            let stream = model.streams[device.id]?.address ?? answer
            model.detach(device.id)
            return (.detach(stream: stream), nil)
        case 3:
            model.unregister(device.id, topic.id)
            return (.perform(.unregister(secretHash: device.secretHash, topic: topic.name), answer: answer), nil)
        case 4...5:
            _ = model.register(device.id, topic.id)
            return (.perform(.register(secretHash: device.secretHash, topic: topic.name), answer: answer), nil)
        case 6:
            let refused = Bool.random(using: &random) ? [topic] : []
            model.setFilter(device.id, Set(refused.map(\.id)))
            let request = StoreRequest.setFilter(
                secretHash: device.secretHash, refusedTopics: refused.map(\.name))
            return (.perform(request, answer: answer), nil)
        case 7...16: return (.perform(nextAcknowledgement(device), answer: answer), nil)
        default:
            let notification = nextNotification()
            return (.accept(notification, answer: answer), model.accept(notification))
        }
    }

    private mutating func nextAcknowledgement(_ device: TestDevice) -> StoreRequest {
        let sequences = textBySequence.keys.sorted()
        let acknowledgements = (0..<Int.random(in: 0...12, using: &random)).map { _ in
            // Mostly what is near the end, sometimes what never was.
            let known = Int.random(in: 0..<10, using: &random) > 0 ? sequences.suffix(80) : []
            let sequence = known.randomElement(using: &random) ?? Int64.random(in: -9...0)
            let outcome = DeviceAPI.Outcome.allCases.randomElement(using: &random) ?? .shown
            model.acknowledge(device.id, textBySequence[sequence], outcome)
            return DeviceAPI.Acknowledgement(id: sequence, outcome: outcome)
        }
        return .acknowledge(secretHash: device.secretHash, acknowledgements)
    }

    private mutating func nextNotification() -> Notification {
        nextText += 1
        let expirations: [Int64?] = [nil, nil, nil, 1, model.now / 1000, model.now / 1000 + 30]
        return .to(
            nextToken(), "\(nextText)", expiration: expirations.randomElement(using: &random) ?? nil,
            collapseID: [nil, nil, nil, "x", "y"].randomElement(using: &random) ?? nil)
    }

    /// Mostly a live token, sometimes one that ended.
    private mutating func nextToken() -> DeviceTokenContents {
        tokens.suffix(6).randomElement(using: &random) ?? tokens[0]
    }

    private mutating func liveNowOrNever() throws -> String? {
        nextText += 1
        let notification = Notification.to(nextToken(), "\(nextText)", expiration: 0)
        let (expected, isDelivered) = model.acceptNow(notification.address)
        var deliveries = model.deliver()
        if isDelivered, let stream = model.streams[notification.address.device] {
            deliveries[stream.address, default: []].append("\(nextText)")
        }
        let (acceptances, replies) = try store.accept([notification])
        guard acceptances == [expected] else { return "now or never: \(acceptances), expected \(expected)" }
        return try difference(delivered: texts(in: replies), expected: deliveries)
    }

    // MARK: Comparing

    private mutating func texts(in replies: [StoreReply]) -> [ReplyAddress: [String]] {
        var texts: [ReplyAddress: [String]] = [:]
        for case .deliver(let notifications, let stream) in replies {
            for pending in notifications {
                texts[stream, default: []].append(pending.text)
                if pending.sequence > 0 { textBySequence[pending.sequence] = pending.text }
            }
        }
        return texts
    }

    private func difference(
        delivered: [ReplyAddress: [String]], expected: [ReplyAddress: [String]]
    ) throws -> String? {
        if delivered != expected { return "delivered \(delivered), expected \(expected)" }
        let counts = try store.counts()
        let (found, modelled) = ("\(sorted: counts)", "\(sorted: model.counts)")
        return found == modelled ? nil : "counts \(found), expected \(modelled)"
    }

    private static func acceptance(at answer: ReplyAddress, in replies: [StoreReply]) -> Acceptance? {
        for reply in replies {
            if case .accepted(answer) = reply { return .accepted }
            if case .refused(let reason, let ended, answer) = reply { return .refused(reason, ended: ended) }
        }
        return nil
    }
}

/// A generator that a seed determines: SplitMix64.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

extension String.StringInterpolation {
    /// Counts as one line, always in the same order.
    fileprivate mutating func appendInterpolation(sorted counts: AdminAPI.Counts) {
        let outcomes = counts.outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        appendInterpolation(
            """
            apps \(counts.apps) devices \(counts.devices) connected \(counts.devicesConnected) \
            registrations \(counts.registrations) pending \(counts.pending) accepted \(counts.accepted) \
            acknowledged \(counts.acknowledged) collapsed \(counts.collapsed) expired \(counts.expired) \
            dropped \(counts.dropped) unregistered \(counts.unregistered) \(outcomes)
            """)
    }
}
