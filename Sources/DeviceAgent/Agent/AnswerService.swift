// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushAPI
internal import PushSQL

/// Stores the user's answers to notifications.
final class AnswerService {
    private let database: AgentDatabase
    private let link: ServerLink
    private let changes: ChangeNotifier
    /// Answers that could not be written because the disk was full.
    private let retry: StorageRetry
    /// The entries of these answers.
    private var unwritten: Set<EntryID> = []

    init(_ context: AgentContext) {
        database = context.database
        link = context.link
        changes = context.changes
        retry = StorageRetry(loop: context.loop)
        retry.onFailure = { [failures = context.failures] in failures.report($0) }
    }

    /// Stores the user's answer.
    ///
    /// With a full disk the answer counts immediately and is written later, so that the user need not click twice.
    ///
    /// - Parameters:
    ///   - number: The number of the inbox entry.
    ///   - state: The new state of the entry.
    ///   - outcome: The outcome for the server.
    /// - Returns: Whether the answer counts; false if the entry was answered before.
    @discardableResult
    func finish(_ number: EntryID, to state: InboxEntry.State, _ outcome: DeviceAPI.Outcome) -> Bool {
        guard !unwritten.contains(number) else { return false }
        do {
            return try write(number, state, outcome)
        } catch {
            unwritten.insert(number)
            retry.failed(error) { [weak self] () throws(SQLError) in
                _ = try self?.write(number, state, outcome)
                self?.unwritten.remove(number)
            }
            // With an I/O error or a corrupt database the agent ends, so the answer must not take effect.
            return error.kind != .inputOutput && error.kind != .damaged
        }
    }

    private func write(
        _ number: EntryID, _ state: InboxEntry.State, _ outcome: DeviceAPI.Outcome
    ) throws(SQLError) -> Bool {
        let isMoved = try database.transaction { () throws(SQLError) in
            try database.finish(number, from: [.waiting, .claimed, .shown], to: state, outcome)
        }
        guard isMoved else { return false }
        link.setNeedsFlush()
        changes.inboxChanged()
        return true
    }
}
