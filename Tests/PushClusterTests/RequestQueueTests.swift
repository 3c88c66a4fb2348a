// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushNet
import PushStore
import Testing

@testable import PushCluster

struct RequestQueueTests {
    /// A queue that expectations can change.
    private final class Queue {
        var waiting = RequestQueue()

        func append(_ job: RequestWorker.Job) -> Bool { waiting.append(job, at: .now) }
        func next() -> RequestQueue.Turn? { waiting.next() }
    }

    private static let answer = ReplyAddress(loop: 0, slot: 0, generation: 0, exchange: 0)

    private static func request(of device: UInt64) -> RequestWorker.Job {
        let credential = DeviceCredential(
            device: DeviceID(rawValue: device), secretHash: [UInt8](repeating: UInt8(device), count: 32))
        return .perform(.device(.policy, by: credential), answer: answer)
    }

    /// Returns the device of a request; nil for another job.
    private static func device(_ turn: RequestQueue.Turn?) -> UInt64? {
        guard case .perform(.device(_, let credential), _)? = turn?.job else { return nil }
        return credential.device?.rawValue
    }

    private static func isConfirmation(_ turn: RequestQueue.Turn?) -> Bool {
        if case .confirm? = turn?.job { true } else { false }
    }

    @Test func `devices take turns, and at most sixteen requests of a device wait`() {
        let queue = Queue()
        for _ in 0..<Limits.waitingRequestPerDeviceCountMax { #expect(queue.append(Self.request(of: 1))) }
        #expect(!queue.append(Self.request(of: 1)))
        #expect(queue.append(Self.request(of: 2)))
        #expect(queue.append(Self.request(of: 3)))
        let order = (0..<5).map { _ in Self.device(queue.next()) }
        #expect(order == [1, 2, 3, 1, 1])
    }

    @Test func `a long request lets the requests of other devices pass between its steps, and keeps its own order`() {
        let queue = Queue()
        for device: UInt64 in [1, 1, 2] { #expect(queue.append(Self.request(of: device))) }
        let first = queue.next()
        queue.waiting.putBack()
        #expect(Self.device(queue.next()) == 2)
        let second = queue.next()
        #expect(second?.number == first?.number)
        let third = queue.next()
        #expect(Self.device(third) == 1 && third?.number != first?.number)
        #expect(queue.next() == nil && queue.waiting.count == 0)
    }

    @Test func `earlier jobs are confirmed only when all of them are done, and later ones may be done before`() {
        let queue = Queue()
        for device: UInt64 in [1, 1, 2] { #expect(queue.append(Self.request(of: device))) }
        #expect(queue.append(.confirm))
        #expect(queue.append(Self.request(of: 3)))
        #expect(Self.device(queue.next()) == 1)
        queue.waiting.putBack()
        #expect([2, 3, 1].map { $0 as UInt64? } == (0..<3).map { _ in Self.device(queue.next()) })
        #expect(Self.device(queue.next()) == 1)
        #expect(Self.isConfirmation(queue.next()))
        #expect(queue.append(.confirm))
        #expect(Self.isConfirmation(queue.next()) && queue.next() == nil)
    }

    @Test func `a closed queue accepts nothing and keeps what waits`() {
        let queue = Queue()
        #expect(queue.append(Self.request(of: 1)))
        queue.waiting.isClosed = true
        #expect(!queue.append(Self.request(of: 2)) && !queue.append(.confirm))
        #expect(Self.device(queue.next()) == 1)
    }
}
