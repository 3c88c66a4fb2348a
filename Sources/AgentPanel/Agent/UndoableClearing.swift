// SPDX-License-Identifier: Apache-2.0

/// Clears single notifications after a delay in which the user can undo it.
///
/// A cleared notification is hidden at once, and removed when its message disappears. If the panel is killed before
/// that, the notification stays.
final class UndoableClearing {
    /// The entries that are hidden: those that can be restored, and those that are being removed.
    private(set) var hidden: Set<Int64> = []
    /// The hidden entries that the agent's last count still includes.
    private(set) var counted: Set<Int64> = []
    /// The entry that can be restored.
    private var pending: Int64?
    private let remove: ([Int64]) -> Void
    private let onChange: () -> Void

    /// Creates an idle object.
    ///
    /// - Parameters:
    ///   - remove: Removes entries from the inbox.
    ///   - onChange: Called after each change of `hidden`.
    init(remove: @escaping ([Int64]) -> Void, onChange: @escaping () -> Void) {
        self.remove = remove
        self.onChange = onChange
    }

    /// Hides an entry; an earlier one can no longer be restored.
    func clear(_ entry: Int64) {
        commit()
        pending = entry
        hidden.insert(entry)
        counted.insert(entry)
        onChange()
    }

    /// Shows an entry again if it can still be restored.
    func undo(_ entry: Int64) {
        guard pending == entry else { return }
        pending = nil
        hidden.remove(entry)
        counted.remove(entry)
        onChange()
    }

    /// Takes note of a new count of the agent, which no longer includes the removed entries.
    func noteCount() { counted = Set([pending].compactMap(\.self)) }

    /// Removes an entry if it is the one that can be restored.
    func commit(_ entry: Int64) {
        if pending == entry { commit() }
    }

    /// Removes the entry that can be restored, if any.
    func commit() {
        guard let entry = pending else { return }
        pending = nil
        remove([entry])
    }
}
