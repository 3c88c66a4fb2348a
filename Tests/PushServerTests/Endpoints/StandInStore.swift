// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushNet
import PushStore
import Synchronization

@testable import PushServing

/// Records the commands of a loop and answers them as the test says.
final class StandInStore: HostingStore {
    private struct State {
        var batches: [[StoreCommand]] = []
        var answer: (@Sendable (StoreCommand) -> StoreReply?)?
    }

    private let state = Mutex(State())
    private let mailbox: Mailbox<LoopMessage>

    init(_ mailbox: Mailbox<LoopMessage>) { self.mailbox = mailbox }

    /// Replaces the answer to later commands; nil leaves a command unanswered.
    func answer(_ answer: @escaping @Sendable (StoreCommand) -> StoreReply?) {
        state.withLock { $0.answer = answer }
    }

    /// Returns the commands since the last call, one batch for each turn of the loop that had some.
    func takeBatches() -> [[StoreCommand]] {
        state.withLock { state in
            defer { state.batches = [] }
            return state.batches
        }
    }

    /// Returns the notifications since the last call.
    func takeNotifications() -> [Notification] {
        takeBatches().joined().compactMap { command in
            guard case .accept(let notification, _) = command else { return nil }
            return notification
        }
    }

    func submit(_ commands: inout [StoreCommand]) {
        // Tests do not expect the command with which each loop reports its directory.
        let batch = commands.filter { if case .usesDirectory = $0 { false } else { true } }
        commands = []
        guard !batch.isEmpty else { return }
        let answer = state.withLock { state in
            state.batches.append(batch)
            return state.answer ?? Self.accept
        }
        let replies = batch.compactMap(answer)
        if !replies.isEmpty { mailbox.post(.replies(replies)) }
    }

    func stop() {}

    func makeHost(loop: UInt32, metrics: HostMetrics, deliver: @escaping (StoreReply) -> Void) -> LoopHost {
        LoopHost(passingOnTo: self, deliver: deliver)
    }

    /// Accepts notifications and broadcasts, and knows no device and no channel.
    @Sendable private static func accept(_ command: StoreCommand) -> StoreReply? {
        switch command {
        case .accept(_, let answer), .publish(_, let answer): .accepted(answer: answer)
        case .perform(_, let answer): .performed(.failure(.unauthorized), answer: answer)
        case .attach, .acknowledge, .detach, .usesDirectory, .host: nil
        }
    }
}
