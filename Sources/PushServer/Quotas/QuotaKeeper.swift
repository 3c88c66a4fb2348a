// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// Has the store write down what was used of days, every few seconds and at the end; lives on the control loop.
///
/// After a kill the last seconds are not counted: a sender may send as many more that day, and is never refused for what
/// it did not send. What is written is the whole count, so one that the store could not write is mended by the next.
final class QuotaKeeper {
    private let quotas: Quotas
    private let loop: ServerLoop
    private var noted: [QuotaSubject: QuotaUse] = [:]

    init(_ quotas: Quotas, loop: ServerLoop) {
        self.quotas = quotas
        self.loop = loop
    }

    /// Begins.
    func start() {
        loop.events.schedule(after: Limits.quotaNoteInterval) { [weak self] in
            guard let self else { return }
            if let command = self.command() { self.loop.submit(command) }
            self.start()
        }
    }

    /// What is to be written down; nil for nothing.
    func command() -> StoreCommand? {
        let uses = quotas.uses
        let changed = uses.filter { noted[$0.subject] != $0 }
        guard !changed.isEmpty else { return nil }
        noted = Dictionary(uses.map { ($0.subject, $0) }) { first, _ in first }
        // The loop has no such connection: it drops the answer.
        let nobody = ReplyAddress(loop: loop.index, slot: .max - 1, generation: 0, exchange: 0)
        return .perform(.quota(.note(changed)), answer: nobody)
    }
}
