// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// Accepts broadcasts and stores them.
final class BroadcastExecutor {
    private let channels: ChannelTable
    private let broadcasts: BroadcastTable
    private let transaction: StoreTransaction
    private let numbers: any NotificationNumbers

    init(_ tables: SharedTables, _ transaction: StoreTransaction, _ numbers: any NotificationNumbers) {
        channels = tables.channels
        broadcasts = tables.broadcasts
        self.transaction = transaction
        self.numbers = numbers
    }

    /// Accepts a broadcast: delivers it to the connected subscribers, and stores it if the channel's policy says so.
    ///
    /// A stored broadcast stays until a newer one that is to be stored replaces it. A now-or-never or expired broadcast
    /// does not replace it, because it is not meant for disconnected devices.
    ///
    /// - Parameters:
    ///   - broadcast: The broadcast.
    ///   - answer: The address of the answer.
    /// - Throws: The error that the engine returned.
    func publish(_ broadcast: Broadcast, _ answer: ReplyAddress) throws(SQLError) {
        guard let channel = try channels.find(broadcast.channel), channel.topic == broadcast.topic,
            channel.environment == broadcast.environment
        else { return reject(.channelNotRegistered, answer) }
        let isNowOrNever = broadcast.isNowOrNever
        switch channel.policy {
        case .noMessageStored where !isNowOrNever: reject(.badExpirationDate, answer)
        case .mostRecentMessageStored where !isNowOrNever: try store(broadcast, in: channel, answer)
        case .noMessageStored, .mostRecentMessageStored:
            guard let sequence = numbers.next() else { return reject(.serviceUnavailable, answer) }
            deliverOnly(PendingNotification(broadcast, sequence: sequence), of: channel, answer)
        }
    }

    /// Delivers a broadcast to the connected subscribers without storing it.
    private func deliverOnly(
        _ pending: PendingNotification, of channel: ChannelTable.Row, _ answer: ReplyAddress
    ) {
        transaction.add(.broadcast(.nowOrNever(pending, channel.number, answer: answer)))
    }

    /// Stores a broadcast and replaces the one that its channel stores.
    private func store(
        _ broadcast: Broadcast, in channel: ChannelTable.Row, _ answer: ReplyAddress
    ) throws(SQLError) {
        guard let sequence = numbers.next() else { return reject(.serviceUnavailable, answer) }
        let stored = PendingNotification(broadcast, sequence: sequence)
        guard !stored.notification.isExpired(now: transaction.now) else {
            return transaction.add(.delivery(.acceptedNotStored(stored, .expired, answer: answer)))
        }
        // Another node may have made a higher number at the same time; its broadcast is then the later one.
        if let other = try broadcasts.sequence(of: channel.number), other > sequence {
            return deliverOnly(stored, of: channel, answer)
        }
        transaction.note(try broadcasts.remove(of: channel.number), .collapsed)
        let expiry = stored.notification.broadcastExpiry(now: transaction.now)
        try broadcasts.add(stored, of: channel.number, expiresAt: expiry)
        transaction.add(.broadcast(.stored(stored, channel.number, answer: answer)))
    }

    private func reject(_ reason: RejectionReason, _ answer: ReplyAddress) {
        transaction.add(.reply(.refused(reason, unregisteredAt: nil, answer: answer)))
    }
}
