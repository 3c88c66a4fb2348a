// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushCore
@testable import PushStore
import TestSupport

/// Receives the store's replies for one loop, on the store's thread, and lets a test wait for them.
// Safety: `condition` guards `replies` and `barrier`.
final class Collector: StoreReplyReceiver, @unchecked Sendable {
    /// Whether a `LoopHost` takes the replies.
    let hasHost: Bool
    private let condition = NSCondition()
    private var replies: [StoreReply] = []
    private var barrier: Barrier?

    init(hasHost: Bool = false) { self.hasHost = hasHost }

    /// A point at which the store's thread stops until a test signals `goOn`.
    struct Barrier {
        var answer: ReplyAddress
        let reached = DispatchSemaphore(value: 0)
        let goOn = DispatchSemaphore(value: 0)
    }

    /// Stops the store's thread when it delivers a given answer.
    func stop(at answer: ReplyAddress) -> Barrier {
        let barrier = Barrier(answer: answer)
        condition.withLock { self.barrier = barrier }
        return barrier
    }

    func receive(_ replies: [StoreReply]) {
        if let barrier = condition.withLock({ barrier }), replies.contains(where: { $0.answers(barrier.answer) }) {
            barrier.reached.signal()
            barrier.goOn.wait()
        }
        condition.lock()
        defer { condition.unlock() }
        self.replies.append(contentsOf: replies)
        condition.broadcast()
    }

    /// Waits until the replies satisfy a condition, then removes and returns all replies.
    func take(_ what: String, until isEnough: ([StoreReply]) -> Bool) throws -> [StoreReply] {
        condition.lock()
        defer { condition.unlock() }
        let deadline = Date(timeIntervalSinceNow: Double(30 * Patience.factor))
        while !isEnough(replies) {
            guard condition.wait(until: deadline) else {
                throw MissingReply(what: "\(what), among \(replies)")
            }
        }
        defer { replies = [] }
        return replies
    }

    /// Returns whether a reply has arrived that was not taken.
    func has(_ isWanted: (StoreReply) -> Bool) -> Bool { condition.withLock { replies.contains(where: isWanted) } }

    /// The devices whose queues the store has recalled in replies that were not taken.
    var recalledDevices: [DeviceID] {
        condition.withLock {
            replies.compactMap { if case .host(.recalled(let device)) = $0 { device } else { nil } }
        }
    }

    /// Removes and returns all replies.
    func takeAll() -> [StoreReply] {
        condition.lock()
        defer { condition.unlock() }
        defer { replies = [] }
        return replies
    }
}

/// A wall clock that a test sets.
// Safety: `lock` guards `milliseconds`.
final class TestClock: @unchecked Sendable {
    private let lock = NSLock()
    private var milliseconds: Int64

    init(milliseconds: Int64) { self.milliseconds = milliseconds }

    var now: Int64 {
        get { lock.withLock { milliseconds } }
        set { lock.withLock { milliseconds = newValue } }
    }
}

/// Records the values that the store reports, in order.
// Safety: `lock` guards `values`.
final class Told<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var values: [Value] = []

    var all: [Value] { lock.withLock { values } }

    func add(_ value: Value) { lock.withLock { values.append(value) } }
}
