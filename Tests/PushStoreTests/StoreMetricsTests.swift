// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushNet
@testable import PushStore
import Testing

/// Checks the numbers that the store's thread writes for other threads.
@Suite struct StoreMetricsTests {
    @Test func `the counts are those of the store, after each turn`() throws {
        let store = try TestStore(isStepwise: true)
        let metrics = store.store.metrics
        let (device, token) = try store.registeredDevice()
        try store.accept(.to(token, "a").identified(1))
        #expect(metrics[.apps] == 1 && metrics[.devices] == 1 && metrics[.registrations] == 1)
        #expect(metrics[.accepted] == 1 && metrics[.pending] == 1 && metrics[.devicesConnected] == 0)
        #expect(metrics[.traceEnd] > 0)
        let (stream, replies) = try store.attach(device)
        #expect(metrics[.devicesConnected] == 1)
        let sequence = try #require(replies.delivered(to: stream).first).sequence
        try store.report(device, [.init(id: sequence, outcome: .shown), .init(id: sequence, outcome: .shown)])
        #expect(metrics[.acknowledged] == 1 && metrics[.pending] == 0 && metrics[.ignoredAcknowledgements] == 1)
        #expect(DeviceAPI.Outcome.allCases.filter { metrics.count(of: $0) > 0 } == [.shown])
        #expect(metrics[.unwritten] == 0 && metrics[.waitingRequests] == 0 && metrics.waitingCommands.value == 0)
    }

    @Test func `transactions and acknowledgements are measured`() throws {
        let store = try TestStore(isStepwise: true)
        let (device, token) = try store.registeredDevice()
        var commits = DurationHistogram.Snapshot()
        commits.add(store.store.metrics.commit)
        #expect(commits.counts.reduce(0, +) >= 3 && commits.sumNanoseconds > 0)
        let (stream, _) = try store.attach(device)
        let replies = try store.accept([.to(token, "a").identified(1)]).1
        let sequence = try #require(replies.delivered(to: stream).first).sequence
        _ = try store.acknowledge(device, [sequence])
        var acknowledgements = DurationHistogram.Snapshot()
        acknowledgements.add(store.store.metrics.acknowledgement)
        #expect(acknowledgements.counts.reduce(0, +) == 1)
    }

    @Test func `the time of a turn counts as busy while the turn lasts and after it`() {
        let metrics = StoreMetrics()
        func time(_ nanoseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: nanoseconds) }
        #expect(metrics.turnNanoseconds(now: time(10)) == 0 && metrics.busyNanoseconds(now: time(10)) == 0)
        metrics.beginTurn(at: time(10))
        #expect(metrics.turnNanoseconds(now: time(15)) == 5 && metrics.busyNanoseconds(now: time(15)) == 5)
        metrics.endTurn(at: time(20))
        #expect(metrics.turnNanoseconds(now: time(30)) == 0 && metrics.busyNanoseconds(now: time(30)) == 10)
    }

    @Test func `commands that wait for the store are counted`() {
        let queue = CommandQueue()
        var commands = [StoreCommand.host(.wake), .host(.wake)]
        queue.append(&commands)
        #expect(queue.waitingCount.value == 2)
        commands = [.host(.wake)]
        queue.append(&commands)
        #expect(queue.waitingCount.value == 3)
        var taken = CommandQueue.Taken()
        queue.take(until: .past, into: &taken)
        #expect(queue.waitingCount.value == 0 && taken.commands.count == 3)
    }
}
