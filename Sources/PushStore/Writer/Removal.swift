// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// The removal of many rows in steps of about `WriterLimits.rowsChangedPerStepCountMax`.
///
/// Each step searches for remaining rows, so no state is kept between steps. The last step removes the object that the
/// rows belong to. After a crash between two steps, the object still exists without some of its rows, and no answer was
/// sent.
final class Removal: LongWork {
    private let answer: ReplyAddress
    private let remove: () throws(SQLiteError) -> Result<Bool, StoreRefusal>

    /// Describes a removal.
    ///
    /// - Parameters:
    ///   - answer: The address that receives `done` or a refusal.
    ///   - remove: Removes some rows; returns whether no row is left.
    init(_ answer: ReplyAddress, _ remove: @escaping () throws(SQLiteError) -> Result<Bool, StoreRefusal>) {
        self.answer = answer
        self.remove = remove
    }

    func step(_ executor: Executor) throws(SQLiteError) -> Bool {
        switch try remove() {
        case .success(false): return false
        case .success(true): executor.events.append(.success(.done, to: answer))
        case .failure(let refusal): executor.events.append(.reply(.performed(.failure(refusal), answer: answer)))
        }
        return true
    }

    func restart() {}
}

extension Executor {
    // MARK: Channels

    /// Removes some subscriptions of a channel, and the channel with the last of them.
    ///
    /// - Parameter row: The channel.
    /// - Returns: Whether the channel is removed.
    /// - Throws: The error that SQLite returned.
    func removeSome(of row: ChannelTable.Row) throws(SQLiteError) -> Bool {
        let countMax = WriterLimits.rowsChangedPerStepCountMax
        let ended = try subscriptions.removeSome(of: row.number, countMax: countMax)
        note(ended)
        guard ended.count < countMax else { return false }
        note(try broadcasts.remove(of: row.number), .unregistered)
        try channels.remove(row.number)
        events.append(.stream(.silenceChannel(row.id, on: nil)))
        events.append(.holding(.channelRemoved(row.number)))
        return true
    }

    /// Removes some rows of an app's channels, of both environments; returns true when no channel is left.
    func removeSomeChannels(of topic: TopicID) throws(SQLiteError) -> Bool {
        for row in try channels.page(of: topic, after: .min, countMax: 1).rows {
            _ = try removeSome(of: row)
            return false
        }
        // A page leaves out damaged rows, so remove what is left without reading it.
        try removeChannels(of: topic)
        return true
    }

    // MARK: Registrations

    /// Ends some registrations of an app; returns true when none is left.
    func endSomeRegistrations(of topic: TopicID) throws(SQLiteError) -> Bool {
        var rowCount = 0
        for device in try registrations.someDevices(of: topic, countMax: WriterLimits.rowsChangedPerStepCountMax / 4) {
            rowCount += try end(device, topic)
            if rowCount >= WriterLimits.rowsChangedPerStepCountMax { return false }
        }
        return rowCount == 0
    }

    /// Ends some registrations of a device; returns true when none is left.
    func endSomeRegistrations(of device: DeviceID, asExpired: Bool) throws(SQLiteError) -> Bool {
        let countMax = WriterLimits.rowsChangedPerStepCountMax
        for topic in try registrations.someTopics(of: device, countMax: 1) {
            let ended = try subscriptions.removeSome(of: device, topic: topic, countMax: countMax)
            note(ended)
            if ended.count < countMax { _ = try end(device, topic, asExpired: asExpired) }
            return false
        }
        return true
    }
}
