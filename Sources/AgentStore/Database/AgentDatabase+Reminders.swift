// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushSQL

extension AgentDatabase {
    /// Removes the reminders that are due and makes their entries wait for presentation; must be called inside a
    /// transaction.
    ///
    /// - Parameter now: The current time.
    /// - Returns: The entries, in the order of their times.
    /// - Throws: `SQLError` if the database fails.
    package func takeDueReminders(now: Timestamp) throws(SQLError) -> [EntryID] {
        let due = try reminders.all().filter { $0.time <= now }.map(\.entry)
        for entry in due {
            try reminders.set(nil, of: entry)
            // The user asked for this notification: it gets a place of its own beside the newer one.
            if try inbox.isReplaced(entry) { try reminders.detach(entry) }
            try reminders.reopen(entry)
        }
        return due
    }
}
