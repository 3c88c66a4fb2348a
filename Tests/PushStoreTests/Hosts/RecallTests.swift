// SPDX-License-Identifier: Apache-2.0

import Dispatch
import PushAPI
import PushCore
@testable import PushStore
import Testing

/// Tests the commands that wait until hosts have returned queues.
struct RecallTests {
    private static let app: TopicName = "com.example.App"
    private let loops: HostedLoops
    private let device: TestDevice
    private let token: DeviceTokenContents

    init() throws {
        loops = try HostedLoops(2, isStepwise: true)
        (device, token) = try loops.store.registeredDevice()
    }

    /// Returns the refusal that a request got; nil without one.
    private func refusal(at answer: ReplyAddress) -> StoreRefusal? {
        guard case .performed(.failure(let refusal), _)? = loops.answers(at: answer).first else { return nil }
        return refusal
    }

    @Test func `any number of notifications can wait for a queue`() throws {
        _ = try loops.host(device, token, on: 1)
        let request = StoreRequest.device(.setPower(isSaving: false), by: device.credential)
        loops.submit(.perform(request, answer: loops.address(2)), on: 2)
        loops.turn(2)
        loops.store.turn()
        // The host has not returned the queue, so the notifications wait for it.
        let answers = (0..<20_000).map { _ in loops.address(2) }
        loops.store.store.submit(answers.map { .accept(.to(token, "a", expiration: 1), answer: $0) })
        loops.store.turn()
        try loops.settle()
        let accepted = loops.received.count { if case .accepted = $0.reply { true } else { false } }
        #expect(accepted == 1 + answers.count)
    }

    @Test func `requests that wait for a queue have a bound`() throws {
        _ = try loops.host(device, token, on: 1)
        let request = StoreRequest.device(.acknowledge([]), by: device.credential)
        let answers = (0...WriterLimits.parkedRequestCountMax).map { _ in loops.address(2) }
        for answer in answers { loops.submit(.perform(request, answer: answer), on: 2) }
        try loops.settle()
        #expect(answers.allSatisfy { loops.answers(at: $0).count == 1 })
        #expect(answers.filter { refusal(at: $0) == .busy } == answers.suffix(1))
    }

    @Test func `no queue is handed over before the removal of an app that waits for another queue`() throws {
        _ = try loops.host(device, token, on: 1)
        let other = try loops.store.enrol(2)
        let otherToken = try loops.store.register(other)
        let stream = try loops.attach(other, on: 2)
        _ = loops.send(.to(otherToken, "first"), from: 2)
        try loops.settle()
        loops.store.store.submit([.perform(.control(.removeApp(topic: Self.app)), answer: loops.address(2))])
        // This acknowledgement would hand the queue to its host while the removal waits.
        loops.acknowledge(loops.delivered(to: stream).map(\.sequence), by: other, on: 2)
        loops.turn(2)
        loops.store.turn()
        loops.turn(2)
        _ = loops.send(.to(otherToken, "during"), from: 2)
        try loops.settle()
        let after = loops.send(.to(otherToken, "after"), from: 2)
        try loops.settle()
        try loops.endGraces()
        #expect(!loops.isAccepted(after) && loops.delivered(to: stream).last?.text != "after")
        loops.submit(.detach(stream: stream), on: 2)
        try loops.settle()
        #expect(loops.delivered(to: try loops.attach(other, on: 2)).isEmpty)
        #expect(try loops.store.counts().pending == 0)
    }

    @Test func `an acknowledgement that is ignored hands no queue over`() throws {
        let stream = try loops.attach(device, on: 1)
        _ = loops.send(.to(token, "a"), from: 1)
        try loops.settle()
        for acknowledged in [[], [99], loops.delivered(to: stream).map(\.sequence)] {
            loops.acknowledge(acknowledged, by: device, on: 1)
            loops.turn(1)
            loops.store.turn()
            let replies = loops.store.collectors[1].takeAll()
            let isHanded = replies.contains { if case .host(.handed) = $0 { true } else { false } }
            #expect(isHanded == (acknowledged.count == 1 && acknowledged != [99]), "\(acknowledged)")
        }
    }

    @Test func `a host passes notifications on while the store takes no records`() throws {
        let stream = try loops.host(device, token, on: 1)
        // No turn of the store runs meanwhile.
        var deliveredCount = loops.delivered(to: stream).count
        var sent = 0
        while sent < 2 * WriterLimits.journalFullRecordCount {
            let before = loops.received.count
            for _ in 0..<32 { _ = loops.send(.to(token, "a"), from: 1) }
            sent += 32
            loops.turn(1)
            let received = loops.received[before...].map(\.reply).delivered(to: stream).map(\.sequence)
            guard received.count == 32 else { break }
            deliveredCount += 32
            loops.acknowledge(received, by: device, on: 1)
            loops.turn(1)
        }
        #expect(deliveredCount >= WriterLimits.journalFullRecordCount)
        #expect(deliveredCount <= WriterLimits.journalFullRecordCount + 64)
        try loops.settle()
        #expect(try loops.store.counts().acknowledged >= UInt64(WriterLimits.journalFullRecordCount))
    }

    @Test func `a full journal wakes the store once until its records are taken`() {
        let journal = HostJournal()
        let record = HostJournal.Record.acknowledgedNow(
            .init(id: 1, outcome: .delivered), token.topic, by: device.id, isBroadcast: false, at: TestStore.start)
        for _ in 1...2 {
            var records = Array(repeating: record, count: WriterLimits.journalRecordCountMax)
            let isWoken = journal.append(&records)
            var more = [record]
            #expect(isWoken && !journal.append(&more))
            var taken: [HostJournal.Record] = []
            journal.take(&taken)
            #expect(taken.count == WriterLimits.journalRecordCountMax + 1)
        }
    }
}
