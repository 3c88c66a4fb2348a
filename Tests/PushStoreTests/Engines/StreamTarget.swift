// SPDX-License-Identifier: Apache-2.0

import PushCore
@testable import PushStore

/// A whole store of either engine, with streams, notifications and broadcasts.
protocol StreamTarget: RequestTarget {
    var promises: EnginePromises { get }

    /// Returns an address that was not used before.
    func address() -> ReplyAddress

    /// Submits commands and waits for all their replies, and for what these let the store deliver.
    func run(_ commands: [StoreCommand]) throws -> [StoreReply]

    /// Submits commands, and waits until a number of notifications is delivered; the next `run` waits for the answers.
    func begin(_ commands: [StoreCommand], deliveryCount: Int) throws -> [StoreReply]

    /// Closes the store; returns the problems of its data.
    func close(pendingCount: Int) throws -> [String]
}

extension StreamTarget {
    func perform(_ request: StoreRequest) throws -> Result<StoreAnswer, StoreRefusal> {
        let answer = address()
        for case .performed(let result, answer) in try run([.perform(request, answer: answer)]) { return result }
        throw MissingReply(what: "\(request)")
    }
}

extension [StoreReply] {
    /// The number of notifications that were delivered to all streams.
    var deliveredCount: Int {
        reduce(0) { count, reply in
            if case .deliver(let notifications, _) = reply { count + notifications.count } else { count }
        }
    }
}
