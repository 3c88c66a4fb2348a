// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushAPI
import PushCore
@testable import PushStore
import TestSupport
import Testing

/// Opens the files of a store that did not close, as after a kill.
@Suite struct TraceRecoveryTests {
    private let directory: TemporaryDirectory
    private let store: TestStore
    private let device: TestDevice
    private let token: DeviceTokenContents

    init() throws {
        directory = try TemporaryDirectory()
        store = try TestStore(in: directory)
        (device, token) = try store.registeredDevice()
    }

    /// Copies the files of the open store; returns the path of the copy.
    private func killed(_ store: TestStore) throws -> String {
        let copy = directory.path(of: "killed.sqlite")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: store.path + suffix, toPath: copy + suffix)
        }
        return copy
    }

    @Test func `the trace has each accepted notification once after a kill and any number of starts`() throws {
        for number in 1...3 as ClosedRange<UInt64> { try store.acceptAlone(.to(token, "a").identified(number)) }
        let path = try killed(store)
        for start in 1...3 {
            let opened = try TestStore(path: path)
            for number in 1...3 as ClosedRange<UInt64> {
                #expect(try opened.steps(number) == ["accepted", "stored"], "start \(start)")
            }
        }
    }

    @Test func `after a kill the events of a notification have its identity and the time of its acceptance`() throws {
        try store.acceptAlone(.to(token, "a").identified(1))
        let opened = try TestStore(path: try killed(store))
        opened.clock.now += 60_000
        let entries = try opened.trace(.notification(.unique(1))).entries
        #expect(entries.map(\.event.at) == [TestStore.start, TestStore.start])
        #expect(entries.allSatisfy { $0.event.device == device.id })
        let origin = try #require(entries.first?.origin)
        #expect(origin.apnsID == .apns(1) && origin.topic == token.topic && origin.generation == token.generation)
    }

    @Test func `a start without the trace leaves the events to a later start with it`() throws {
        try store.acceptAlone(.to(token, "a").identified(1))
        let path = try killed(store)
        _ = try TestStore(path: path) { $0.hasTrace = false }
        #expect(try TestStore(path: path).steps(1) == ["accepted", "stored"])
    }

    @Test func `after a kill an acknowledged notification does not come back behind one that replaced it`() throws {
        let store = try TestStore(in: directory, path: directory.path(of: "waiting.sqlite")) {
            $0.deletionDelayMilliseconds = 3_600_000
        }
        let (device, token) = try store.registeredDevice()
        try store.acceptAlone(.to(token, "old", collapseID: "x"))
        let (stream, replies) = try store.attach(device)
        let old = try #require(replies.delivered(to: stream).first)
        store.store.submit([
            .acknowledge([.init(id: old.sequence, outcome: .delivered)], by: device.id), .detach(stream: stream),
        ])
        try store.acceptAlone(.to(token, "new", collapseID: "x"))
        #expect(try TestStore(path: try killed(store)).waiting(device) == ["new"])
    }

    @Test func `after a kill an acknowledged notification does not come back behind one that a host delivered`() throws
    {
        let loops = try HostedLoops(2, isStepwise: true) { $0.deletionDelayMilliseconds = 3_600_000 }
        // A request would write the deletions.
        func settleWithoutRequest() {
            for _ in 0..<4 {
                loops.turn(1)
                loops.store.turn()
            }
        }
        let (device, token) = try loops.store.registeredDevice()
        for text in ["first", "old"] { _ = loops.send(.to(token, text, collapseID: text), from: 1) }
        try loops.endGraces()
        let stream = try loops.attach(device, on: 1)
        let waiting = loops.delivered(to: stream)
        try #require(waiting.map(\.text) == ["first", "old"])
        // The first acknowledgement hands the queue over with the second notification in flight.
        for pending in waiting {
            loops.acknowledge([pending.sequence], by: device, on: 1)
            settleWithoutRequest()
        }
        _ = loops.send(.to(token, "new", collapseID: "old"), from: 1)
        settleWithoutRequest()
        let new = try #require(loops.delivered(to: stream).last)
        try #require(new.text == "new")
        loops.acknowledge([new.sequence], by: device, on: 1)
        settleWithoutRequest()
        #expect(try TestStore(path: try killed(loops.store)).waiting(device) == [])
    }

    @Test func `a webhook that is set before a kill gets what is accepted after the next start`() throws {
        for number in 1...9 as ClosedRange<UInt64> { try store.acceptAlone(.to(token, "a").identified(number)) }
        // These events are only in memory, and a start does not record them again.
        _ = try store.attach(device)
        try store.succeed(.control(.setWebhook(topic: "com.example.App", url: "https://example.org/a", secret: [1])))
        let opened = try TestStore(path: try killed(store))
        let replies = try opened.collectors[0].take("a directory") { !$0.isEmpty }
        guard case .directory(let directory) = replies.first else { throw MissingReply(what: "a directory") }
        let webhook = try #require(directory.topics.values.compactMap(\.webhook).first)
        try opened.accept(.to(token, "a", expiration: 1).identified(10))
        let told = try opened.trace(.app(topic: "com.example.App"), after: webhook.position, isForWebhook: true)
        #expect(told.entries.compactMap(\.origin?.uniqueID) == [.unique(10)])
    }

    @Test func `a notification that is archived before a kill is in the trace`() throws {
        let archiving = try TestStore(in: directory, path: directory.path(of: "archiving.sqlite")) {
            $0.recentCountMax = 1
        }
        let (_, token) = try archiving.registeredDevice()
        for number in 1...3 as ClosedRange<UInt64> { try archiving.acceptAlone(.to(token, "a").identified(number)) }
        _ = try archiving.succeed(.allDevices(.counts))
        let opened = try TestStore(path: try killed(archiving))
        for number in 1...3 as ClosedRange<UInt64> { #expect(try opened.steps(number) == ["accepted", "stored"]) }
    }
}
