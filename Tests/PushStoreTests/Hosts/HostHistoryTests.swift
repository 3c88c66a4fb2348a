// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushNet
@testable import PushStore
import TestSupport
import Testing

/// Runs random histories of several loops and the store in one thread.
///
/// A seed chooses the order of their turns.
struct HostHistoryTests {
    @Test(.tags(.slow), arguments: 0..<Patience.caseCount)
    func `nothing is lost, repeated, out of order, or delivered after its registration ended`(seed: Int) throws {
        var history = try HostHistory(seed: UInt64(seed))
        for step in 0..<300 {
            let problem = try history.step()
            try #require(problem == nil, "seed \(seed), step \(step): \(problem ?? "")")
        }
        let problem = try history.end()
        try #require(problem == nil, "seed \(seed), at the end: \(problem ?? "")")
    }

    @Test(.tags(.slow)) func `a seed gives the same history each time`() throws {
        let histories = try (0..<2).map { _ in
            var history = try HostHistory(seed: 7)
            for _ in 0..<300 { _ = try history.step() }
            _ = try history.end()
            return history.deliveries
        }
        #expect(histories[0].count > 100 && histories[0] == histories[1])
    }
}

/// A random history: devices that connect, acknowledge, move and unregister while providers send from all loops.
struct HostHistory {
    private struct Sent {
        var device: TestDevice
        var topic: TopicID
        var generation: UInt32
        var answer: ReplyAddress
        var isNowOrNever: Bool
        var collapseID: String?
    }

    struct Stream {
        var address: ReplyAddress
        var loop: Int
        var device: TestDevice
        /// The texts that the device had acknowledged, in a turn that was over, when it opened the stream.
        var acknowledged: Set<String>
        /// The number of deliveries that the end of the history has acknowledged.
        var drainedCount = 0
    }

    let loops: HostedLoops
    let devices: [TestDevice]
    private var tokens: [DeviceTokenContents] = []
    /// The tokens of an app that is removed at a random time.
    private var removableTokens: [DeviceTokenContents] = []
    private var removal: ReplyAddress?
    var random: SeededGenerator
    private var sent: [String: Sent] = [:]
    var streams: [Stream] = []
    private var open: [TestDevice: Int] = [:]
    private var acknowledged: [TestDevice: Set<String>] = [:]
    /// The requests to unregister that are not answered yet.
    private var unregistering: [ReplyAddress: DeviceTokenContents] = [:]
    private var registering: Set<ReplyAddress> = []
    /// The tokens whose end was answered.
    private var ended: Set<DeviceTokenContents> = []
    /// The tokens for whose end a request was sent.
    private var ending: Set<DeviceTokenContents> = []
    private var checkedCount = 0
    private var delivered: [TestDevice: Set<String>] = [:]
    private var lastSequence: [ReplyAddress: Int64] = [:]
    var channels = HostHistoryChannels()
    private var answerCount: [ReplyAddress: Int] = [:]
    private static let topics: [TopicName] = ["a", "b"]
    private static let removableTopic: TopicName = "removable"

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        let recentMax = seed % 3 == 0 ? 4 : Int.max
        loops = try HostedLoops(3, isStepwise: true) {
            $0.deliveryHistoryCountMax = 100_000
            $0.recentCountMax = recentMax
            $0.pendingPerTopicCountMax = 100_000
        }
        for topic in Self.topics + [Self.removableTopic] { try loops.store.addApp(topic) }
        let store = loops.store
        devices = try (1...3).map { try store.enrol($0) }
        for device in devices {
            for topic in Self.topics { tokens.append(try store.register(device, topic)) }
            removableTokens.append(try store.register(device, Self.removableTopic))
        }
        try addChannels()
    }

    /// Executes a random step and checks what was received; returns the problem, or nil.
    mutating func step() throws -> String? {
        let loop = Int.random(in: loops.loops, using: &random)
        switch Int.random(in: 0..<23, using: &random) {
        case 20: publish(from: loop)
        case 22: if Int.random(in: 0..<10, using: &random) == 0 { removeApp(on: loop) }
        case 21: if Int.random(in: 0..<4, using: &random) == 0 { subscribe(on: loop) }
        case 0..<7: send(from: loop)
        case 7..<11: acknowledge()
        case 11..<15: loops.turn(loop)
        case 15: loops.store.turn()
        case 16: connect(devices.randomElement(using: &random) ?? devices[0], on: loop)
        case 17: if Int.random(in: 0..<2, using: &random) == 0 { disconnect() }
        case 18: if Int.random(in: 0..<4, using: &random) == 0 { register(on: loop) }
        default: loops.moment = loops.moment.advanced(byMilliseconds: Int64.random(in: 1...20, using: &random))
        }
        return check()
    }

    /// Connects and drains all devices, and checks that everything arrived.
    mutating func end() throws -> String? {
        try loops.endGraces()
        for device in devices { connect(device, on: Int.random(in: loops.loops, using: &random)) }
        var quietCount = 0
        while quietCount < 3 {
            try loops.endGraces()
            if let problem = check() { return problem }
            let acknowledgedCount = acknowledgeNew()
            quietCount = acknowledgedCount == 0 ? quietCount + 1 : 0
        }
        for (text, sent) in sent {
            guard answerCount[sent.answer] == 1 else { return "\(text) has \(answerCount[sent.answer] ?? 0) answers" }
            let token = DeviceTokenContents(
                device: sent.device.id, topic: sent.topic, generation: sent.generation)
            let mayBeMissing = ending.contains(token) || sent.isNowOrNever || sent.collapseID != nil
            let isDelivered = delivered[sent.device]?.contains(text) == true
            if loops.isAccepted(sent.answer), !isDelivered, !mayBeMissing { return "\(text) is lost" }
        }
        if let problem = checkBroadcasts(answerCount, delivered) { return problem }
        let counts = try loops.store.counts()
        let accepted = (sent.values.map(\.answer) + channels.answers).count(where: loops.isAccepted)
        let pending = channels.isAnyStored ? 1 : 0
        let gone = counts.acknowledged + counts.collapsed + counts.expired + counts.dropped + counts.unregistered
        guard counts.accepted == accepted, counts.accepted == gone + counts.pending, counts.pending == pending else {
            return "\(accepted) accepted, but \(counts)"
        }
        return nil
    }

    /// The deliveries or answers at each address, in their order.
    var deliveries: [ReplyAddress: [String]] {
        var texts: [ReplyAddress: [String]] = [:]
        for item in loops.received {
            switch item.reply {
            case .deliver(let notifications, let stream):
                texts[stream, default: []] += notifications.map { "\($0.sequence) \($0.text)" }
            case .broadcast(let broadcast, let streams):
                for stream in streams { texts[stream, default: []].append("\(broadcast.sequence) \(broadcast.text)") }
            case .accepted(let answer): texts[answer, default: []].append("accepted")
            case .refused(let reason, _, let answer): texts[answer, default: []].append(reason.rawValue)
            default: break
            }
        }
        return texts
    }

    // MARK: Steps

    private mutating func send(from loop: Int) {
        let known = Int.random(in: 0..<4, using: &random) == 0 ? removableTokens[...] : tokens.suffix(9)
        guard let token = known.randomElement(using: &random),
            let device = devices.first(where: { $0.id == token.device })
        else { return }
        let text = "\(sent.count)"
        let collapseID = Int.random(in: 0..<8, using: &random) == 0 ? "x" : nil
        let isNowOrNever = Int.random(in: 0..<12, using: &random) == 0
        let answer = loops.send(
            .to(token, text, expiration: isNowOrNever ? 0 : nil, collapseID: collapseID), from: loop)
        sent[text] = Sent(
            device: device, topic: token.topic, generation: token.generation, answer: answer,
            isNowOrNever: isNowOrNever, collapseID: collapseID)
    }

    private mutating func acknowledge() {
        guard let device = devices.randomElement(using: &random), let index = open[device] else { return }
        let stream = streams[index]
        let waiting = loops.delivered(to: stream.address).filter {
            !acknowledged[device, default: []].contains($0.text)
        }
        let chosen = waiting.prefix(Int.random(in: 1...4, using: &random))
        acknowledge(Array(chosen), stream)
    }

    /// Acknowledges what arrived on open streams since the last call; returns its number.
    private mutating func acknowledgeNew() -> Int {
        var count = 0
        for (_, index) in open.sorted(by: { $0.value < $1.value }) {
            let delivered = loops.delivered(to: streams[index].address)
            let new = Array(delivered.dropFirst(streams[index].drainedCount))
            streams[index].drainedCount = delivered.count
            acknowledge(new, streams[index])
            count += new.count
        }
        return count
    }

    private mutating func acknowledge(_ chosen: [PendingNotification], _ stream: Stream) {
        guard !chosen.isEmpty else { return }
        loops.acknowledge(chosen.map(\.sequence), by: stream.device, on: stream.loop)
        // The loop sends what it knows before the device can do anything else.
        loops.turn(stream.loop)
        acknowledged[stream.device, default: []].formUnion(chosen.map(\.text))
    }

    private mutating func connect(_ device: TestDevice, on loop: Int) {
        let address = loops.address(loop)
        loops.submit(.attach(device.credential, stream: address), on: loop)
        open[device] = streams.count
        streams.append(
            Stream(
                address: address, loop: loop, device: device, acknowledged: acknowledged[device, default: []]))
    }

    private mutating func disconnect() {
        let connected = devices.filter { open[$0] != nil }
        guard let device = connected.randomElement(using: &random), let index = open[device] else { return }
        open[device] = nil
        loops.submit(.detach(stream: streams[index].address), on: streams[index].loop)
    }

    private mutating func removeApp(on loop: Int) {
        guard removal == nil else { return }
        let answer = loops.address(loop)
        removal = answer
        ending.formUnion(removableTokens)
        loops.submit(.perform(.control(.removeApp(topic: Self.removableTopic)), answer: answer), on: loop)
    }

    private mutating func register(on loop: Int) {
        guard let token = tokens.suffix(6).randomElement(using: &random), unregistering.isEmpty, registering.isEmpty,
            let device = devices.first(where: { $0.id == token.device }),
            let topic = tokens.firstIndex(where: { $0.topic == token.topic }).map({ Self.topics[$0 % 2] })
        else { return }
        let answer = loops.address(loop)
        if !ended.contains(token), !ending.contains(token) {
            unregistering[answer] = token
            ending.insert(token)
            loops.submit(
                .perform(.device(.unregister(topic: topic), by: device.credential), answer: answer), on: loop)
        } else {
            registering.insert(answer)
            loops.submit(.perform(.device(.register(topic: topic), by: device.credential), answer: answer), on: loop)
        }
    }

    // MARK: Checks

    /// Checks what was received since the last call.
    private mutating func check() -> String? {
        let news = loops.received[checkedCount...]
        checkedCount = loops.received.count
        for item in news {
            switch item.reply {
            case .accepted(let answer), .refused(_, _, let answer): answerCount[answer, default: 0] += 1
            case .deliver(let notifications, let stream):
                for pending in notifications { if let problem = check(pending, stream) { return problem } }
            case .broadcast(let broadcast, let streams):
                for stream in streams { if let problem = check(broadcast, stream) { return problem } }
            case .performed(let result, let answer):
                channels.noteAnswer(answer)
                if answer == removal { ended.formUnion(removableTokens) }
                if let token = unregistering.removeValue(forKey: answer) { ended.insert(token) }
                if registering.remove(answer) != nil, case .success(.registered(let token)) = result {
                    tokens.append(token)
                }
            default: break
            }
        }
        return nil
    }

    private mutating func check(_ pending: PendingNotification, _ address: ReplyAddress) -> String? {
        guard let stream = streams.first(where: { $0.address == address }) else {
            return "\(pending.text) came to an unknown stream"
        }
        if pending.notification.channel != nil {
            delivered[stream.device, default: []].insert(pending.text)
            return channels.check(pending, stream)
        }
        guard let sent = sent[pending.text] else { return "\(pending.text) was not sent" }
        guard pending.sequence > lastSequence[address, default: 0] else { return "\(pending.text) is out of order" }
        lastSequence[address] = pending.sequence
        if stream.acknowledged.contains(pending.text) { return "\(pending.text) came back" }
        let token = DeviceTokenContents(device: sent.device.id, topic: sent.topic, generation: sent.generation)
        if ended.contains(token) { return "\(pending.text) came after its registration ended" }
        delivered[stream.device, default: []].insert(pending.text)
        return nil
    }
}
