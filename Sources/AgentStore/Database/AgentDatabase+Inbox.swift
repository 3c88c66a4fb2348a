// SPDX-License-Identifier: Apache-2.0

package import PushAPI
package import PushCore
package import PushSQL

/// Changes of several tables at once that keep the inbox and the outbox consistent.
extension AgentDatabase {
    /// Returns the payload that applies: the filter's, or else the provider's; nil if it cannot be read.
    ///
    /// Only a filter may name a file of this device. If the provider's payload names one, every
    /// path is ignored, because the filter may have copied it.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - translation: The look-up for the texts of the app.
    /// - Returns: The payload.
    /// - Throws: `SQLError` if the filter's payload cannot be read.
    package func shownPayload(
        of entry: InboxEntry, _ translation: AppTranslation
    ) throws(SQLError) -> Payload? {
        guard let filtered = try filters.row(of: entry.entry)?.payload else {
            return try? Payload(parsing: entry.payload.span, translation: translation)
        }
        let namesFiles = !Payload.hasPicturePath(entry.payload.span)
        return try? Payload(parsing: filtered.span, namesFiles: namesFiles, translation: translation)
    }

    /// Moves an entry to suppressed and queues the report to the server; must be called inside a transaction.
    package func suppress(
        _ entry: EntryID, _ reason: SuppressionReason, from states: Set<InboxEntry.State> = [.waiting]
    ) throws(SQLError) {
        guard try inbox.move(entry, from: states, to: .suppressed, reason: reason.rawValue) else { return }
        let sequence = try inbox.entry(entry)?.sequence ?? 0
        try outbox.append(sequence: sequence, .suppressed, reason: reason.rawValue)
    }

    /// Moves an entry to another state and queues the report to the server; returns false if the entry is in none of
    /// `states`.
    package func finish(
        _ entry: EntryID, from states: Set<InboxEntry.State>, to state: InboxEntry.State, _ outcome: DeviceAPI.Outcome,
        reason: String? = nil
    ) throws(SQLError) -> Bool {
        guard try inbox.move(entry, from: states, to: state) else { return false }
        try outbox.append(sequence: try inbox.entry(entry)?.sequence ?? 0, outcome, reason: reason)
        return true
    }

    /// Removes the entries of an app, or of all apps if the ID is nil; returns their numbers; the caller opens the
    /// transaction.
    package func clearInbox(appID: AppID?) throws(SQLError) -> [EntryID] {
        for number in try inbox.waiting() {
            guard let entry = try inbox.entry(number) else { continue }
            guard appID == nil || entry.appID == appID else { continue }
            try suppress(number, .cleared)
        }
        return try inbox.removeAll(appID: appID)
    }

    /// Removes entries and returns the numbers of those that existed; the caller opens the transaction.
    package func removeInboxEntries(_ numbers: [EntryID]) throws(SQLError) -> [EntryID] {
        var removed: [EntryID] = []
        // The number 0 would select all entries.
        for number in numbers where number > 0 {
            try suppress(number, .cleared)
            if try inbox.remove(number) { removed.append(number) }
        }
        return removed
    }

    /// Returns the names of the registered apps by app ID.
    package func appNames() throws(SQLError) -> [AppID: String] {
        Dictionary(uniqueKeysWithValues: try apps.all().map { ($0.appID, $0.name) })
    }

    /// Deletes entries beyond the limits of age and count, and returns their numbers; must be called inside a
    /// transaction.
    package func trimInbox(now: Timestamp) throws(SQLError) -> [EntryID] {
        let days = Int64(try settings.value(of: .inboxDays, at: .device).text) ?? 0
        let count = Int64(try settings.value(of: .inboxCount, at: .device).text) ?? 0
        // Both settings have a default and are validated when they are set.
        guard days > 0, count > 0 else { return [] }
        let surplus = try inbox.removeSurplus(countMax: count)
        guard try trustsClock(now: now) else { return surplus }
        return surplus + (try inbox.removeOld(ageMaxMilliseconds: days * 24 * 3600 * 1000, now: now))
    }
}
