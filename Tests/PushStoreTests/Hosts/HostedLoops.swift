// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushNet
@testable import PushStore
import Synchronization

/// A real store with the hosts of some loops, whose turns a test runs one by one in its own thread.
///
/// Loop 0 belongs to the administrator and has no host. The store has a thread of its own, or is stepwise. If it is
/// stepwise, the test also runs the turns of the store, so a seed that chooses all turns gives the same history each
/// time.
final class HostedLoops {
    /// A reply that a loop received, in the order of all loops.
    struct Received {
        var loop: Int
        var reply: StoreReply
    }

    /// The received replies, shared with the hosts' closures.
    private final class Inbox {
        var replies: [Received] = []
    }

    /// The time of a stepwise store.
    private final class Clock: Sendable {
        let nanoseconds = Atomic<Int64>(HostedLoops.start.nanoseconds)
    }

    let store: TestStore
    /// The time of the next turn of any loop, and of a stepwise store.
    var moment = HostedLoops.start {
        didSet { clock.nanoseconds.store(moment.nanoseconds, ordering: .relaxed) }
    }
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000)
    private let clock = Clock()
    private let inbox = Inbox()
    private let hosts: [LoopHost]
    /// The numbers of the hosts.
    let metrics: [HostMetrics]

    init(
        _ count: Int, isStepwise: Bool = false, _ adjust: (inout SQLiteStore.Configuration) -> Void = { _ in }
    ) throws {
        store = try TestStore(hostCount: count, isStepwise: isStepwise) { [clock] configuration in
            if isStepwise {
                configuration.turnTime = {
                    MonotonicTime(nanoseconds: clock.nanoseconds.load(ordering: .relaxed))
                }
            }
            adjust(&configuration)
        }
        metrics = (1...count).map { _ in HostMetrics() }
        hosts = (1...count).map { [store, inbox, metrics] loop in
            store.store.makeHost(loop: UInt32(loop), metrics: metrics[loop - 1]) {
                inbox.replies.append(Received(loop: loop, reply: $0))
            }
        }
    }

    var loops: Range<Int> { 1..<hosts.count + 1 }

    /// The replies since the beginning.
    var received: [Received] { inbox.replies }

    func address(_ loop: Int) -> ReplyAddress { store.address(loop: UInt32(loop)) }

    func submit(_ command: StoreCommand, on loop: Int) { hosts[loop - 1].submit(command, at: moment) }

    /// Runs a turn of a loop: takes its replies, and sends what it has gathered.
    func turn(_ loop: Int) {
        for reply in store.collectors[loop].takeAll() {
            hosts[loop - 1].receive(reply.withFastDevice, at: moment)
        }
        hosts[loop - 1].endTurn(at: moment)
        hosts[loop - 1].send(at: moment)
    }

    /// Waits until the store has executed everything that was sent.
    func wait() throws { _ = try store.run([]) }

    /// Runs turns until no message is on its way; notifications may stay unwritten.
    func settle() throws {
        for _ in 0..<6 {
            for loop in loops { turn(loop) }
            try wait()
        }
        for loop in loops { turn(loop) }
    }

    /// Lets the graces of all notifications end.
    func endGraces() throws {
        moment = moment.advanced(byMilliseconds: 1000)
        try settle()
    }

    // MARK: Devices and notifications

    /// Opens a stream of a device on a loop.
    func attach(_ device: TestDevice, on loop: Int) throws -> ReplyAddress {
        let stream = address(loop)
        submit(.attach(device.credential, stream: stream), on: loop)
        try settle()
        return stream
    }

    /// Sends a notification from a loop; returns the address of its answer.
    func send(_ notification: Notification, from loop: Int) -> ReplyAddress {
        let answer = address(loop)
        submit(.accept(notification, answer: answer), on: loop)
        return answer
    }

    /// Acknowledges notifications on the loop of the device's stream.
    func acknowledge(_ sequences: [Int64], by device: TestDevice, on loop: Int) {
        let list = sequences.map { DeviceAPI.Acknowledgement(id: $0, outcome: .delivered) }
        submit(.acknowledge(list, by: device.id), on: loop)
    }

    func delivered(to stream: ReplyAddress) -> [PendingNotification] {
        received.map(\.reply).delivered(to: stream)
    }

    /// Returns the answers at an address.
    func answers(at address: ReplyAddress) -> [StoreReply] {
        received.map(\.reply).filter { $0.answers(address) }
    }

    func isAccepted(_ address: ReplyAddress) -> Bool {
        answers(at: address).contains { if case .accepted = $0 { true } else { false } }
    }

    /// Opens a stream and acknowledges a first notification, so that the host gets the queue.
    func host(_ device: TestDevice, _ token: DeviceTokenContents, on loop: Int) throws -> ReplyAddress {
        let stream = try attach(device, on: loop)
        _ = send(.to(token, "first"), from: loop)
        try settle()
        acknowledge(delivered(to: stream).map(\.sequence), by: device, on: loop)
        try settle()
        return stream
    }
}

extension StoreReply {
    /// The reply with a device that acknowledged quickly, because the store measures real time.
    fileprivate var withFastDevice: StoreReply {
        guard case .host(.handed(var queue)) = self else { return self }
        queue.acknowledgementMilliseconds = 0
        return .host(.handed(queue))
    }
}
