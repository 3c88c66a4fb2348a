// SPDX-License-Identifier: Apache-2.0

import Dispatch
import PushAPI
import PushCore
import PushNet
@testable import PushStore
import TestSupport
import Testing

/// Tests what hosts do with the notifications of connected devices, with a real store.
struct LoopHostTests {
    private let loops: HostedLoops
    private let device: TestDevice
    private let token: DeviceTokenContents

    init() throws {
        loops = try HostedLoops(2)
        (device, token) = try loops.store.registeredDevice()
    }

    private func texts(_ stream: ReplyAddress) -> [String] { loops.delivered(to: stream).map(\.text) }

    private func sequence(_ text: String, _ stream: ReplyAddress) throws -> Int64 {
        try #require(loops.delivered(to: stream).last { $0.text == text }).sequence
    }

    /// Stops the store's thread while the body runs.
    private func withoutStore(_ body: () throws -> Void) rethrows {
        let answer = loops.store.address()
        let barrier = loops.store.collectors[0].stop(at: answer)
        loops.store.store.submit([.perform(.allDevices(.counts), answer: answer)])
        barrier.reached.wait()
        defer { barrier.goOn.signal() }
        try body()
    }

    @Test(arguments: [1, 2])
    func `a hosted device gets a notification and acknowledges it while the store is busy`(provider: Int) throws {
        let stream = try loops.host(device, token, on: 1)
        try withoutStore {
            let answer = loops.send(.to(token, "a"), from: provider)
            for loop in [provider, 1] { loops.turn(loop) }
            #expect(texts(stream) == ["first", "a"] && !loops.isAccepted(answer))
            loops.acknowledge([try sequence("a", stream)], by: device, on: 1)
            for loop in [1, provider] { loops.turn(loop) }
            #expect(loops.isAccepted(answer))
        }
        let counts = try loops.store.counts()
        #expect(counts.accepted == 2 && counts.acknowledged == 2 && counts.pending == 0)
        #expect(counts.outcomes["delivered"] == 2)
        #expect(texts(try loops.attach(device, on: 2)) == [])
    }

    @Test func `a host counts its unwritten notifications and measures an acknowledgement`() throws {
        let stream = try loops.host(device, token, on: 1)
        let metrics = loops.metrics[0]
        var before = DurationHistogram.Snapshot()
        before.add(metrics.acknowledgement)
        _ = loops.send(.to(token, "a"), from: 1)
        loops.turn(1)
        #expect(metrics.unwritten.value == 1)
        loops.moment = loops.moment.advanced(byMilliseconds: 3)
        loops.acknowledge([try sequence("a", stream)], by: device, on: 1)
        loops.turn(1)
        #expect(metrics.unwritten.value == 0)
        var after = DurationHistogram.Snapshot()
        after.add(metrics.acknowledgement)
        // The bucket of 5 ms.
        #expect(after.counts[3] == before.counts[3] + 1)
        #expect(after.sumNanoseconds == before.sumNanoseconds + 3_000_000)
    }

    @Test func `a notification that is not acknowledged within the grace is stored before it is accepted`() throws {
        let stream = try loops.host(device, token, on: 1)
        let answer = loops.send(.to(token, "a"), from: 1)
        try loops.settle()
        #expect(texts(stream) == ["first", "a"] && !loops.isAccepted(answer))
        try loops.endGraces()
        #expect(loops.isAccepted(answer))
        #expect(try loops.store.counts().pending == 1)
        // The next one is stored at once, because the device was slow.
        let next = loops.send(.to(token, "b"), from: 1)
        try loops.settle()
        #expect(loops.isAccepted(next))
        loops.acknowledge([try sequence("a", stream), try sequence("b", stream)], by: device, on: 1)
        try loops.settle()
        let counts = try loops.store.counts()
        #expect(counts.accepted == 3 && counts.acknowledged == 3 && counts.pending == 0 && counts.glitches == 0)
    }

    @Test func `devices that acknowledge slowly under load get a longer grace`() throws {
        let stream = try loops.host(device, token, on: 1)
        func send(_ text: String) throws -> ReplyAddress {
            let answer = loops.send(.to(token, text), from: 1)
            try loops.settle()
            return answer
        }
        _ = try send("slow")
        loops.moment = loops.moment.advanced(byMilliseconds: 10)
        try loops.settle()
        loops.acknowledge([try sequence("slow", stream)], by: device, on: 1)
        for number in 0..<WriterLimits.busyCount - 1 {
            #expect(loops.isAccepted(try send("\(number)")), "it is stored at once")
        }
        let answer = try send("busy")
        #expect(!loops.isAccepted(answer), "it waits for its acknowledgement")
        loops.acknowledge([try sequence("busy", stream)], by: device, on: 1)
        try loops.settle()
        #expect(loops.isAccepted(answer))
    }

    @Test func `a stream on another loop gets what is not acknowledged, in order, and only once`() throws {
        let first = try loops.host(device, token, on: 1)
        let answers = ["a", "b", "c"].map { loops.send(.to(token, $0), from: 1) }
        loops.turn(1)
        loops.acknowledge([try sequence("b", first)], by: device, on: 1)
        loops.turn(1)
        let second = try loops.attach(device, on: 2)
        #expect(texts(second) == ["a", "c"])
        #expect(answers.allSatisfy(loops.isAccepted))
        // The earlier stream gets nothing more.
        _ = loops.send(.to(token, "d"), from: 1)
        try loops.settle()
        #expect(texts(second) == ["a", "c", "d"] && texts(first) == ["first", "a", "b", "c"])
    }

    @Test func `a stream that ends leaves what is not acknowledged to the next one`() throws {
        let first = try loops.host(device, token, on: 1)
        let answers = ["a", "b"].map { loops.send(.to(token, $0), from: 2) }
        loops.turn(2)
        loops.turn(1)
        loops.submit(.detach(stream: first), on: 1)
        let late = loops.send(.to(token, "c"), from: 2)
        try loops.settle()
        #expect((answers + [late]).allSatisfy(loops.isAccepted))
        #expect(try loops.store.counts().devicesConnected == 0)
        let second = try loops.attach(device, on: 2)
        #expect(texts(second) == ["a", "b", "c"])
    }

    @Test func `nothing is delivered after an unregistration was answered`() throws {
        let stream = try loops.host(device, token, on: 1)
        let answer = loops.address(2)
        let request = StoreRequest.device(.unregister(topic: "com.example.App"), by: device.credential)
        loops.submit(.perform(request, answer: answer), on: 2)
        loops.turn(2)
        try loops.wait()
        // The host still has the queue, so the request is not answered.
        let before = loops.send(.to(token, "before"), from: 1)
        loops.turn(2)
        #expect(loops.answers(at: answer).isEmpty)
        loops.turn(1)
        try loops.settle()
        #expect(loops.answers(at: answer).count == 1 && loops.isAccepted(before))
        let after = loops.send(.to(token, "after"), from: 1)
        try loops.settle()
        #expect(texts(stream) == ["first", "before"])
        guard case .refused(.unregistered, _, _)? = loops.answers(at: after).first else {
            Issue.record("\(loops.answers(at: after))")
            return
        }
        let counts = try loops.store.counts()
        #expect(counts.accepted == 2 && counts.unregistered == 1 && counts.pending == 0)
    }

    @Test func `a host refuses the tokens of ended registrations and of other apps`() throws {
        _ = try loops.host(device, token, on: 1)
        let old = DeviceTokenContents(device: device.id, topic: token.topic, generation: token.generation - 1)
        let other = DeviceTokenContents(device: device.id, topic: TopicID(rawValue: 99), generation: 1)
        for contents in [old, other] {
            let answer = loops.send(.to(contents, "x"), from: 1)
            loops.turn(1)
            guard case .refused(.unregistered, _, _)? = loops.answers(at: answer).first else {
                Issue.record("\(loops.answers(at: answer))")
                return
            }
        }
    }

    @Test func `a notification that a host cannot decide about goes to the store, and the queue comes back`() throws {
        let stream = try loops.host(device, token, on: 1)
        // One with the same collapse ID replaces what is in flight.
        _ = loops.send(.to(token, "a", collapseID: "x"), from: 1)
        _ = loops.send(.to(token, "b", collapseID: "x"), from: 1)
        try loops.settle()
        #expect(texts(stream) == ["first", "a", "b"])
        loops.acknowledge([try sequence("b", stream)], by: device, on: 1)
        try loops.settle()
        let counts = try loops.store.counts()
        #expect(counts.accepted == 3 && counts.collapsed == 1 && counts.acknowledged == 2)
        withoutStore {
            _ = loops.send(.to(token, "direct"), from: 1)
            loops.turn(1)
            #expect(texts(stream).last == "direct")
        }
    }

    @Test func `a now-or-never notification and an expired one are accepted while the store is busy`() throws {
        let stream = try loops.host(device, token, on: 1)
        try withoutStore {
            let answers = [
                loops.send(.to(token, "now", expiration: 0).identified(1), from: 1),
                loops.send(.to(token, "late", expiration: 1).identified(2), from: 1),
            ]
            loops.turn(1)
            #expect(texts(stream) == ["first", "now"] && answers.allSatisfy(loops.isAccepted))
            loops.acknowledge([try sequence("now", stream)], by: device, on: 1)
            loops.turn(1)
        }
        let counts = try loops.store.counts()
        #expect(counts.accepted == 3 && counts.acknowledged == 2 && counts.expired == 1 && counts.pending == 0)
        #expect(counts.outcomes["delivered"] == 2)
        #expect(try loops.store.steps(1) == ["accepted", "sent", "acknowledged"])
        #expect(try loops.store.steps(2) == ["accepted", "expired"])
    }

    @Test func `a now-or-never notification that is not acknowledged expires with its stream`() throws {
        let stream = try loops.host(device, token, on: 1)
        _ = loops.send(.to(token, "now", expiration: 0), from: 1)
        try loops.settle()
        #expect(try loops.store.counts().pending == 1)
        loops.submit(.detach(stream: stream), on: 1)
        try loops.settle()
        let counts = try loops.store.counts()
        #expect(counts.accepted == 2 && counts.expired == 1 && counts.pending == 0)
        #expect(texts(try loops.attach(device, on: 2)) == [])
    }

    @Test func `a device that always has something in flight is hosted too`() throws {
        let stream = try loops.attach(device, on: 1)
        let answers = ["a", "b", "c"].map { loops.send(.to(token, $0, collapseID: "x" + $0), from: 1) }
        try loops.settle()
        loops.acknowledge([try sequence("a", stream)], by: device, on: 1)
        try loops.settle()
        withoutStore {
            _ = loops.send(.to(token, "d"), from: 1)
            loops.turn(1)
            #expect(texts(stream) == ["a", "b", "c", "d"])
        }
        // One that replaces what the store handed over in flight.
        _ = loops.send(.to(token, "e", collapseID: "xc"), from: 1)
        try loops.settle()
        loops.acknowledge(loops.delivered(to: stream).dropFirst().map(\.sequence), by: device, on: 1)
        try loops.endGraces()
        #expect(texts(stream) == ["a", "b", "c", "d", "e"] && answers.allSatisfy(loops.isAccepted))
        let counts = try loops.store.counts()
        #expect(counts.accepted == 5 && counts.acknowledged == 4 && counts.collapsed == 1 && counts.pending == 0)
    }

    @Test func `a full window keeps the order, and more than a window arrives completely`() throws {
        let stream = try loops.host(device, token, on: 1)
        let count = Limits.unacknowledgedCountMax + 20
        let answers = (0..<count).map { loops.send(.to(token, "\($0)"), from: 1) }
        try loops.settle()
        while let last = loops.delivered(to: stream).last, last.text != "\(count - 1)" {
            loops.acknowledge(loops.delivered(to: stream).map(\.sequence), by: device, on: 1)
            try loops.settle()
        }
        #expect(texts(stream) == ["first"] + (0..<count).map(String.init))
        #expect(answers.allSatisfy(loops.isAccepted))
    }

    @Test func `the trace has all events of a notification that a host delivered`() throws {
        let stream = try loops.host(device, token, on: 1)
        _ = loops.send(.to(token, "a").identified(1), from: 1)
        loops.turn(1)
        loops.acknowledge([try sequence("a", stream)], by: device, on: 1)
        loops.turn(1)
        #expect(try loops.store.steps(1) == ["accepted", "sent", "acknowledged"])
    }
}
