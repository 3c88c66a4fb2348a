// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushServing
internal import PushStore

/// Stores the daily counts every few seconds and at shutdown; runs on the control loop.
///
/// After a kill, the last seconds are not counted. A sender can then send that many more on the day, but is never
/// refused for notifications that it did not send. Each write contains the whole count, so the next one repairs a write
/// that failed.
final class QuotaWriter {
    private let quotas: Quotas
    private let loop: ServerLoop
    private var noted: [QuotaSubject: QuotaUse] = [:]

    init(_ quotas: Quotas, loop: ServerLoop) {
        self.quotas = quotas
        self.loop = loop
    }

    /// Starts the periodic writes.
    func start() {
        loop.events.schedule(after: Limits.quotaNoteInterval) { [weak self] in
            guard let self else { return }
            if let command = self.command() { self.loop.submit(command) }
            self.start()
        }
    }

    /// Returns the command that stores the changed counts, or nil if nothing changed.
    func command() -> StoreCommand? {
        let uses = quotas.uses
        let changed = uses.filter { noted[$0.subject] != $0 }
        guard !changed.isEmpty else { return nil }
        noted = Dictionary(uses.map { ($0.subject, $0) }) { first, _ in first }
        // The loop has no such connection, so it drops the answer.
        let nobody = ReplyAddress(loop: loop.index, slot: .max - 1, generation: 0, exchange: 0)
        return .perform(.control(.quota(.note(changed))), answer: nobody)
    }
}
