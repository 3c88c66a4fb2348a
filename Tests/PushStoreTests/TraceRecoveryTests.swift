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

    @Test func `a notification that is archived before a kill is in the trace`() throws {
        let archiving = try TestStore(in: directory, path: directory.path(of: "archiving.sqlite")) {
            $0.recentCountMax = 1
        }
        let (_, token) = try archiving.registeredDevice()
        for number in 1...3 as ClosedRange<UInt64> { try archiving.acceptAlone(.to(token, "a").identified(number)) }
        _ = try archiving.succeed(.counts)
        let opened = try TestStore(path: try killed(archiving))
        for number in 1...3 as ClosedRange<UInt64> { #expect(try opened.steps(number) == ["accepted", "stored"]) }
    }
}
