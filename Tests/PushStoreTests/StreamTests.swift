// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import Testing

@Suite struct StreamTests {
    private let store: any StreamTarget
    private let device: TestDevice
    private let token: DeviceTokenContents
    private let window = Limits.unacknowledgedCountMax

    init() throws {
        store = try StoreEngine.openStreams { $0.pendingPerTopicCountMax = 10_000 }
        (device, token) = try store.registeredDevice()
    }

    private func texts(_ range: Range<Int>) -> [String] { range.map(String.init) }

    private func accept(_ range: Range<Int>) throws -> [StoreReply] {
        try store.accept(range.map { .to(token, "\($0)") }).1
    }

    @Test(.bothEngines, .namesEngine)
    func `a stream is confirmed first and then receives all pending notifications, oldest first`() throws {
        _ = try accept(0..<3)
        let (stream, replies) = try store.attach(device)
        guard case .attached(let id, stream) = replies.first else {
            Issue.record("first came \(replies)")
            return
        }
        #expect(id == device.id)
        #expect(replies.delivered(to: stream).map(\.text) == texts(0..<3))
        let sequences = replies.delivered(to: stream).map(\.sequence)
        #expect(sequences == sequences.sorted() && Set(sequences).count == 3 && sequences.allSatisfy { $0 > 0 })
    }

    @Test(.bothEngines, .namesEngine)
    func `an unknown secret opens no stream`() throws {
        let (stream, replies) = try store.attach(TestDevice(number: 99))
        guard case .performed(.failure(.unauthorized), stream) = replies.first else {
            Issue.record("got \(replies)")
            return
        }
        #expect(try store.counts().devicesConnected == 0)
    }

    @Test func `a notification that a device acknowledges immediately is accepted without being written`() throws {
        let store = try #require(store as? TestStore)
        let (stream, _) = try store.attach(device)
        let answer = store.address()
        store.store.submit([.accept(.to(token, "a"), answer: answer)])
        let replies = try store.collectors[0].take("the delivery") { !$0.delivered(to: stream).isEmpty }
        #expect(!replies.contains { $0.answers(answer) })
        let sequence = replies.delivered(to: stream)[0].sequence
        store.store.submit([.acknowledge([.init(id: sequence, outcome: .shown)], by: device.id)])
        _ = try store.collectors[0].take("the answer") { $0.contains { $0.answers(answer) } }
        let counts = try store.counts()
        #expect(counts.accepted == 1 && counts.acknowledged == 1 && counts.pending == 0)
        #expect(try store.waiting(device) == [])
    }

    @Test func `an unacknowledged notification is written before it is accepted`() throws {
        let store = try #require(store as? TestStore)
        let (stream, _) = try store.attach(device)
        let answer = store.address()
        store.store.submit([.accept(.to(token, "a"), answer: answer)])
        _ = try store.collectors[0].take("the answer") { $0.contains { $0.answers(answer) } }
        #expect(try store.counts().pending == 1)
        _ = try store.run([.detach(stream: stream)])
        try store.reopen()
        #expect(try store.waiting(device) == ["a"])
    }

    @Test(.bothEngines, .namesEngine)
    func `a full window sends one more notification for each acknowledgement`() throws {
        let (stream, _) = try store.attach(device)
        let sent = try accept(0..<window + 3).delivered(to: stream)
        #expect(sent.map(\.text) == texts(0..<window))
        let next = try store.acknowledge(device, [sent[1].sequence]).delivered(to: stream)
        #expect(next.map(\.text) == ["\(window)"])
        let rest = try store.acknowledge(device, sent.map(\.sequence)).delivered(to: stream)
        #expect(rest.map(\.text) == ["\(window + 1)", "\(window + 2)"])
    }

    @Test func `a queue longer than the window is delivered window by window, without gaps or repetitions`() throws {
        _ = try accept(0..<window * 3 + 1)
        let (stream, attached) = try store.attach(device)
        var replies = attached
        var texts: [String] = []
        while !replies.delivered(to: stream).isEmpty {
            let delivered = replies.delivered(to: stream)
            #expect(delivered.count <= window)
            texts += delivered.map(\.text)
            replies = try store.acknowledge(device, delivered.map(\.sequence))
        }
        #expect(texts == self.texts(0..<window * 3 + 1))
        #expect(try store.counts().pending == 0)
        #expect(try store.counts().acknowledged == window * 3 + 1)
    }

    @Test func `new notifications stay behind older ones that wait for the window`() throws {
        _ = try accept(0..<window + 1)
        let (stream, replies) = try store.attach(device)
        let first = replies.delivered(to: stream)
        #expect(try accept(window + 1..<window + 2).delivered(to: stream).isEmpty)
        let acknowledgements = first.prefix(3).map { DeviceAPI.Acknowledgement(id: $0.sequence, outcome: .shown) }
        // The acknowledgement and a third notification are in the same batch.
        let batch = try store.run([
            .perform(.device(.acknowledge(acknowledgements), by: device.credential), answer: store.address()),
            .accept(.to(token, "\(window + 2)"), answer: store.address()),
        ])
        #expect(batch.delivered(to: stream).map(\.text) == texts(window..<window + 3))
    }

    @Test(.bothEngines, .namesEngine)
    func `unacknowledged notifications are sent again on the next stream, and only there`() throws {
        _ = try accept(0..<2)
        let (first, _) = try store.attach(device)
        let (second, replies) = try store.attach(device)
        #expect(replies.end(of: first) == .replaced)
        #expect(replies.delivered(to: second).map(\.text) == texts(0..<2))
        let late = try accept(2..<3)
        #expect(late.delivered(to: first).isEmpty)
        #expect(late.delivered(to: second).map(\.text) == ["2"])
        #expect(try store.counts().devicesConnected == 1)
    }

    @Test(.bothEngines, .namesEngine)
    func `an acknowledged notification is never sent again, not even after a restart`() throws {
        _ = try accept(0..<3)
        let (stream, replies) = try store.attach(device)
        _ = try store.acknowledge(device, [replies.delivered(to: stream)[1].sequence])
        #expect(try store.waiting(device) == ["0", "2"])
        try store.reopen()
        #expect(try store.waiting(device) == ["0", "2"])
    }

    @Test func `a sequence is never assigned again, not even after a restart with an empty table`() throws {
        let (stream, _) = try store.attach(device)
        let first = try accept(0..<1).delivered(to: stream)
        _ = try store.acknowledge(device, first.map(\.sequence))
        try store.reopen()
        let (again, _) = try store.attach(device)
        let second = try accept(1..<2).delivered(to: again)
        #expect(second[0].sequence > first[0].sequence)
        _ = try store.acknowledge(device, first.map(\.sequence))
        #expect(try store.counts().pending == 1)
    }

    @Test func `a repeated or unknown acknowledgement counts as a glitch and has no other effect`() throws {
        let (stream, _) = try store.attach(device)
        let sequence = try accept(0..<1).delivered(to: stream)[0].sequence
        _ = try store.acknowledge(device, [sequence, sequence, 0, -1, .max, .min])
        #expect(try store.counts().acknowledged == 1)
        #expect(try store.counts().outcomes["delivered"] == 1)
        #expect(try store.counts().glitches == 5)
    }

    @Test(.bothEngines, .namesEngine)
    func `a device cannot acknowledge another device's notification`() throws {
        let other = try store.enrol(2)
        let (stream, _) = try store.attach(device)
        let sequence = try accept(0..<1).delivered(to: stream)[0].sequence
        _ = try store.acknowledge(other, [sequence])
        #expect(try store.waiting(device) == ["0"])
    }

    @Test(.bothEngines, .namesEngine)
    func `a detached stream receives nothing, and no notification is lost`() throws {
        let (stream, _) = try store.attach(device)
        _ = try store.run([.detach(stream: stream)])
        #expect(try accept(0..<1).delivered(to: stream).isEmpty)
        #expect(try store.waiting(device) == ["0"])
    }

    @Test(.bothEngines, .namesEngine)
    func `a late detach does not close the stream that replaced the detached one`() throws {
        let (first, _) = try store.attach(device)
        let (second, _) = try store.attach(device)
        _ = try store.run([.detach(stream: first), .detach(stream: store.address())])
        #expect(try accept(0..<1).delivered(to: second).map(\.text) == ["0"])
    }

    @Test func `replacing a sent notification frees its place in the window and sends the newer one`() throws {
        let (stream, _) = try store.attach(device)
        _ = try store.accept([.to(token, "old", collapseID: "x")])
        _ = try accept(1..<window)
        let replies = try store.accept([.to(token, "new", collapseID: "x"), .to(token, "late")]).1
        #expect(replies.delivered(to: stream).map(\.text) == ["new"])
    }

    @Test func `only the newest notification with a collapse ID in one batch is delivered`() throws {
        let (stream, _) = try store.attach(device)
        let replies = try store.accept([
            .to(token, "a", collapseID: "x"), .to(token, "b", collapseID: "x"), .to(token, "c"),
        ]).1
        #expect(replies.delivered(to: stream).map(\.text) == ["b", "c"])
    }

    @Test func `a batch that attaches, accepts and detaches delivers nothing and keeps the notification`() throws {
        let stream = store.address()
        let replies = try store.run([
            .attach(device.credential, stream: stream),
            .accept(.to(token, "a"), answer: store.address()),
            .accept(.to(token, "now", expiration: 0), answer: store.address()),
            .detach(stream: stream),
        ])
        #expect(replies.delivered(to: stream).isEmpty)
        #expect(try store.counts().expired == 1)
        #expect(try store.waiting(device) == ["a"])
    }

    @Test func `a thousand devices that reconnect simultaneously all get their pending notifications`() throws {
        let store = try #require(store as? TestStore)
        let devices = (UInt64(10)..<1010).map(TestDevice.init)
        _ = try store.run(devices.map { .perform(.enrol($0.enrolment()), answer: store.address()) })
        _ = try store.run(
            devices.map { device in
                .perform(
                    .device(.register(topic: "com.example.App"), by: device.credential), answer: store.address())
            })
        let tokens = devices.map { DeviceTokenContents(device: $0.id, topic: token.topic, generation: 1) }
        for _ in 0..<10 { _ = try store.accept(tokens.map { .to($0, "a") }) }
        try store.reopen()
        let streams = tokens.map { _ in store.address() }
        store.store.submit(
            zip(devices, streams).map { .attach($0.credential, stream: $1) })
        var counts: [ReplyAddress: Int] = [:]
        _ = try store.collectors[0].take("10 for each of 1000") { replies in
            counts = [:]
            for case .deliver(let notifications, let stream) in replies {
                counts[stream, default: 0] += notifications.count
            }
            return counts.count == 1000 && counts.values.allSatisfy { $0 == 10 }
        }
        #expect(counts.values.reduce(0, +) == 10_000)
    }
}
